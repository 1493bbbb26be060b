package proxytest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/citation"
	"vitrine/proxy/auth"
	"vitrine/rules"
)

// Token signs a session token for a user.
func Token(t testing.TB, user string, secret []byte) string {
	t.Helper()
	tok, err := auth.MintToken(user, secret, auth.SessionOptions{}, Published, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Parse parses documents written in a test.
func Parse(t testing.TB, texts ...string) []bson.Raw {
	t.Helper()
	docs := make([]bson.Raw, len(texts))
	for i, text := range texts {
		if err := bson.UnmarshalExtJSON([]byte(text), false, &docs[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return docs
}

// The content of Index.
const (
	KnownProfile = `{"total_citations":"1.234","citations_per_year":{"2023":"7"},"publications":[` +
		`{"title":"A \u003cb\u003e \u0026 c","link":"u-x6o8","authors":"A Ahn","venue":"Soil 1","citations":"7","year":"2023"},` +
		`{"title":"B","link":"qjMa","authors":"B Bee","venue":"","citations":0,"year":0}]}`
	EmptyProfile  = `{"total_citations":null,"citations_per_year":[],"publications":[]}`
	KnownDocument = `{"title":"A","doi":"","Autoren":["A Ahn","B Bee"],"Band":"3"}`
)

// Index is a citation index with one profile and one document.
type Index struct {
	Asked []string
}

// Profile returns the profile of the known user.
func (x *Index) Profile(_ context.Context, user string) (citation.Answer, error) {
	x.Asked = append(x.Asked, user)
	switch user {
	case "Known":
		return citation.Answer{Age: time.Hour, Text: []byte(KnownProfile)}, nil
	case "Empty":
		return citation.Answer{Age: time.Hour, Stale: true, Text: []byte(EmptyProfile)}, nil
	case "Blocked":
		return citation.Answer{}, fmt.Errorf("page: %w", citation.ErrBlocked)
	case "Slow":
		return citation.Answer{}, fmt.Errorf("wait: %w", context.DeadlineExceeded)
	case "Broken":
		return citation.Answer{}, errors.New("a secret of the house")
	}
	return citation.Answer{}, fmt.Errorf("citation index: %w", rules.ErrNotFound)
}

// Document returns the known document.
func (x *Index) Document(_ context.Context, user, doc string) (citation.Answer, error) {
	x.Asked = append(x.Asked, user+":"+doc)
	if doc == "" {
		return citation.Answer{}, rules.Wrongf("doc", "", "want 1 to 64 characters")
	}
	return citation.Answer{Text: []byte(KnownDocument)}, nil
}

// Knows reports whether a user is the known one.
func (x *Index) Knows(user string) bool { return user == "Known" }

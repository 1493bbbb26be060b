package proxytest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/auth"
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

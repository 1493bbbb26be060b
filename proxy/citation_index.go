package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/citation"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/rules"
)

// Citations reads an external citation index, and keeps what it has read;
// *citation.Client does.
type Citations interface {
	Profile(ctx context.Context, user string) (citation.Profile, error)
	Document(ctx context.Context, user, doc string) (citation.Document, error)
	// Knows reports whether an answer about a user is kept.
	Knows(user string) bool
	// Age is how long ago the answer was fetched, and whether it is past its time.
	Age(user, doc string) (age time.Duration, stale bool)
}

// mostStrangers is how many users that the index does not have a client may ask for in a
// minute. Each costs a request, which are few.
const mostStrangers = 5

// citationIndex answers GET /api/citation-index with a profile, or a document of
// it where doc is given. It is no resource: nothing of it comes from a view, no
// key is asked for, and its answers are objects outside of any envelope, or empty
// without a user. Errors are the envelopes of all errors: 400 for what cannot be
// an identifier, 404 for what the index does not have or where none is
// configured, 503 while it fails.
func (s *Server) citationIndex(c *fiber.Ctx) error {
	asked := query.Read(c.Context().QueryArgs().All())
	if err := asked.CheckLanguage(); err != nil {
		return err
	}
	user, err := asked.Text("user")
	if err != nil {
		return err
	}
	doc, err := asked.Text("doc")
	if err != nil {
		return err
	}
	withDoc := asked.Has("doc")
	set := s.settingsOf(c)
	return set.response.External(c, asked.Ignored(), func(ctx context.Context) (text []byte, age time.Duration, stale bool, err error) {
		if user == "" {
			return nil, 0, false, nil
		}
		client, citations := set.auth.Client(c), set.env.citations
		if l := s.strangers.Look(client, s.now()); l.Wait > 0 && citations != nil && !citations.Knows(user) {
			return nil, 0, false, &auth.LimitError{Msg: "Too many users that the citation index does not have. Retry-After says when the next is looked for.", Wait: l.Wait}
		}
		text, err = set.env.cited(ctx, user, doc, withDoc)
		if errors.Is(err, rules.ErrNotFound) {
			s.strangers.Take(client, s.now())
		}
		if err != nil {
			return nil, 0, false, err
		}
		age, stale = citations.Age(user, doc)
		return text, age, stale, nil
	})
}

// cited asks the index for a profile or for a document.
func (e *env) cited(ctx context.Context, user, doc string, document bool) ([]byte, error) {
	if e.citations == nil {
		return nil, &rules.Error{Kind: rules.ErrNotFound, Reason: "No citation index is configured here."}
	}
	var found any
	var err error
	if document {
		found, err = e.citations.Document(ctx, user, doc)
	} else {
		found, err = e.citations.Profile(ctx, user)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

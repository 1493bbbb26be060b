package api

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"vitrine/cache/citation"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/rules"
)

// Strangers limits unknown users of the citation index, which allows few requests: five a minute for each client.
// Known users cost nothing, since their profiles are cached. All Envs share it, so that a reload does not refill
// it.
func Strangers() *auth.Limiter { return auth.NewLimiter("unknown-users", 5, 5, time.Minute) }

// CitationIndex reads the parameters of GET /api/citation-index and returns a function that reads a profile, or with
// doc a document. It is no Handler, because the answer comes from no view and has no envelope. Without a user it is
// empty; unknown users, too many of them by a client, and a missing index are errors.
func (e *Env) CitationIndex(p query.Params, client netip.Prefix) (func(context.Context) (citation.Answer, error),
	error) {
	p.CheckLanguage()
	user, doc, document := p.Text("user"), p.Text("doc"), p.Has("doc")
	return func(ctx context.Context) (found citation.Answer, err error) {
		index := e.o.Citations
		if user == "" {
			return found, nil
		}
		if index == nil {
			return found, &rules.Error{Kind: rules.ErrNotFound, Reason: "No citation index is configured here."}
		}
		// Look takes no token, because only the index knows whether the user exists; Take below does, once it has
		// said no. So the requests of a client that run at the same time may exceed the limit by their number.
		if l := e.shared.Strangers.Look(client, e.shared.Now()); l.Wait > 0 && !index.Knows(user) {
			return found, e.shared.Strangers.Refusal(l,
				"Too many users that the citation index does not have. Retry-After says when the next is looked for.")
		}
		if document {
			found, err = index.Document(ctx, user, doc)
		} else {
			found, err = index.Profile(ctx, user)
		}
		if errors.Is(err, rules.ErrNotFound) {
			e.shared.Strangers.Take(client, e.shared.Now())
		}
		return found, err
		// A wrong parameter is an error at once, before the index is asked.
	}, p.Err()
}

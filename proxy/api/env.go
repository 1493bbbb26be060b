package api

import (
	"context"
	"time"

	"vitrine/cache/citation"
	"vitrine/configs"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/label"
)

// Env is what handlers share: the rules of one generation of settings. It is safe for concurrent use. It has no
// views: a handler reads them by Request.Planning, and the Build of its plan gets its snapshots.
type Env struct {
	o       Options // with defaults
	shared  Shared
	query   query.Reader
	persons *personLookup
	titles  titles

	publications *filter.Filter // selects the rows of /api/html
	topics       *filter.Filter // selects the rows of /portfolio/spectrum
}

// Options configures an Env.
type Options struct {
	configs.Resources
	Access    *access.Policy // if nil, callers have no permissions and no record is hidden
	Hidden    *access.Fields // the fields that are removed from rows (view.Options.Strip); nil if there are none
	Records   Records        // finds persons that the views do not have; if nil, they are unknown
	Citations Citations      // if nil, there is no citation index

	Labels label.Sets     // if nil, codes are shown unchanged
	Zone   *time.Location // the zone in which days and years begin; default UTC
}

// Shared is what every Env of a server shares. All fields are required.
type Shared struct {
	Strangers *auth.Limiter // limits requests for unknown users of the citation index, see Strangers
	Now       func() time.Time
	Timeout   time.Duration  // limits look-ups for a plan
	Filter    filter.Options // limits of filters
}

// Citations reads an external citation index and caches its answers, as *citation.Client does.
type Citations interface {
	Profile(ctx context.Context, user string) (citation.Answer, error)
	Document(ctx context.Context, user, doc string) (citation.Answer, error)
	// Knows reports whether the profile of a user is cached.
	Knows(user string) bool
}

// Request is an admitted request, copied out of Fiber's buffers.
type Request struct {
	auth.Caller
	Params   query.Params
	Planning *response.Planning
	ID       string // the last part of the path as sent, with escapes; empty if the route has none
	whole    bool   // the caller may see hidden fields
}

// Handler turns a request into a plan for its answer, or an error. Without a session the plan depends only on the
// parameters and on what its Caching names. Routes checks Request.Params.Err; a handler checks it only before a
// look-up.
type Handler func(ctx context.Context, r Request) (response.Plan, error)

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
// views: a handler reads them by Request.Planning, and the Build of its plan gets its snapshots. A reload makes a
// new Env; requests that run keep the old one to their end, so that one answer never mixes two settings.
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
	// Resources are the sections of the configuration that this package reads as they are: the language, the start
	// year, the fields that mark an affiliated author, the portfolio and the compatibility switches.
	configs.Resources
	Access    *access.Policy // if nil, callers have no permissions and no record is hidden
	Hidden    *access.Fields // the fields that are removed from rows (view.Options.Strip); nil if there are none
	Records   Records        // finds persons that the views do not have; if nil, they are unknown
	Citations Citations      // if nil, there is no citation index

	// Departments are the units that /api/html names; nil if it names all.
	Departments []string

	Labels label.Sets     // if nil, codes are shown unchanged
	Zone   *time.Location // the zone in which days and years begin; default UTC
}

// Shared is what every Env of a server shares. All fields are required.
type Shared struct {
	// A limiter, a clock and limits that a reload must not reset or change.
	Strangers *auth.Limiter // limits requests for unknown users of the citation index, see Strangers
	Now       func() time.Time
	Timeout   time.Duration  // limits look-ups for a plan
	Filter    filter.Options // limits of filters
}

// Citations reads an external citation index and caches its answers, as *citation.Client does.
type Citations interface {
	// Profile returns the publications and figures of a user. The error is rules.ErrNotFound if the index does not
	// know the user.
	Profile(ctx context.Context, user string) (citation.Answer, error)
	// Document returns one document of a user, with the same errors. doc is the index's own name for it, and may be
	// empty.
	Document(ctx context.Context, user, doc string) (citation.Answer, error)
	// Knows reports whether the profile of a user is cached.
	Knows(user string) bool
}

// Request is an admitted request, copied out of Fiber's buffers.
type Request struct {
	// Caller says who asks and what they may see. The server has checked key and session before.
	auth.Caller
	// Params records the first error and every name that a handler reads, so a handler reads each parameter that it
	// knows, whether it needs it or not.
	Params query.Params
	// Planning gives the snapshots and the time that the plan is made from.
	Planning *response.Planning
	ID       string // the last part of the path as sent, with escapes; empty if the route has none
	whole    bool   // the caller may see hidden fields
}

// Handler turns a request into a plan for its answer, or an error. Without a session the plan depends only on the
// parameters and on what its Caching names. Routes checks Request.Params.Err; a handler checks it only before a
// look-up. It runs before the cache is asked, so what takes long is in the plan's Build. The one exception is the
// look-up of a person whom the view does not have.
type Handler func(ctx context.Context, r Request) (response.Plan, error)

package api

import (
	"context"
	"time"

	"vitrine/cache/citation"
	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/label"
)

// Env is what handlers share: the rules of one generation of settings, and the views. It is
// safe for concurrent use.
type Env struct {
	o       Options // with defaults
	query   query.Reader
	persons *personLookup
	titles  titles

	publications *filter.Filter // the rows of /api/html
	topics       *filter.Filter // the rows of /portfolio/spectrum
}

// Options configures an Env. Views and Now are needed.
type Options struct {
	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter    filter.Options // limits of filters
	Access    *access.Policy // if nil, nothing is granted and no record hidden
	Hidden    *access.Fields // the fields that rows lack (view.Options.Strip); nil: none
	Records   Records        // for persons that the views do not have; nil: they are unknown
	Citations Citations      // if nil, there is no citation index
	Strangers *auth.Limiter  // of unknown users of the citation index, see Strangers

	Language string     // of labels, unless a request names another; default en
	Labels   label.Sets // if nil, codes are shown as they are
	Now      func() time.Time
	Zone     *time.Location // of the beginning of days and years; default UTC
	Timeout  time.Duration  // of look-ups for a plan; negative: none

	StartYear       int      // the first year of /api/html
	Affiliated      []string // the fields of an author that mark affiliation; default affiliated and aoi
	FormattedSingle bool     // formatted on projects answers only the table
	SpectrumOff     bool     // the list of /portfolio/spectrum is empty
}

// Citations reads an external citation index and caches its answers. *citation.Client
// implements it.
type Citations interface {
	Profile(ctx context.Context, user string) (citation.Answer, error)
	Document(ctx context.Context, user, doc string) (citation.Answer, error)
	// Knows reports whether the profile of a user is cached.
	Knows(user string) bool
}

// Request is an admitted request, copied out of Fiber's buffers.
type Request struct {
	auth.Caller
	Params query.Params
	ID     string // the last part of the path as sent, with escapes; empty if the route has none
	whole  bool   // the caller sees hidden fields
}

// Handler turns a request into a plan for its answer, or an error. Without a session the
// plan depends only on the parameters, unless Plan.Once is set. Routes checks
// Request.Params.Err; a handler does so only before it looks something up.
type Handler func(ctx context.Context, r Request) (response.Plan, error)

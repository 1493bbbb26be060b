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

// Env is what the handlers plan answers with: the rules of one generation of settings,
// and the views. It is safe for concurrent use.
type Env struct {
	o       Options // with their defaults
	query   query.Reader
	persons *personLookup
	titles  titles

	publications *filter.Filter // what /api/html shows
	topics       *filter.Filter // the rows of /portfolio/spectrum
}

// Options configures an Env. Views and Now are needed.
type Options struct {
	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter    filter.Options // limits of filters
	Access    *access.Policy // if nil, nothing is granted and no record hidden
	Hidden    *access.Fields // what rows lack, as view.Options.Strip has them do; nil: nothing
	Records   Records        // if nil, persons that the views do not have are not looked up
	Citations Citations      // if nil, there is no citation index
	Strangers *auth.Limiter  // of unknown users of the citation index, see Strangers

	Language string     // of labels where a request asks for no other; en
	Labels   label.Sets // if nil, codes are shown as they are
	Now      func() time.Time
	Zone     *time.Location // where days and years begin; UTC
	Timeout  time.Duration  // of what is looked up for a plan; negative: none

	StartYear       int      // the first year of /api/html
	Affiliated      []string // the fields of an author that mark affiliation; affiliated and aoi
	FormattedSingle bool     // formatted on projects answers its table alone
	SpectrumOff     bool     // the list of /portfolio/spectrum is empty
}

// Citations reads an external citation index and caches its answers; *citation.Client
// does.
type Citations interface {
	Profile(ctx context.Context, user string) (citation.Answer, error)
	Document(ctx context.Context, user, doc string) (citation.Answer, error)
	// Knows reports whether the profile of a user is in memory.
	Knows(user string) bool
}

// Request is a call that was let in, copied out of Fiber's buffers.
type Request struct {
	auth.Caller
	Params query.Params
	ID     string // the last part of the path as sent, with its escapes; empty where it has none
	whole  bool   // the caller sees hidden fields
}

// Handler turns a request into a plan for its answer, or an error. Without a session the
// plan depends on nothing but the parameters, unless it is for once. A handler need not
// check Request.Params.Err, except before it looks something up: Routes does.
type Handler func(ctx context.Context, r Request) (response.Plan, error)

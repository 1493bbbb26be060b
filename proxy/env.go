package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/label"
)

// Env is what the handlers plan answers with: the rules of one generation of settings,
// and the views. It is safe for concurrent use.
type Env struct {
	o       EnvOptions
	query   *query.Reader
	persons *personLookup
	titles  titles

	publications *filter.Filter // what /api/html shows
	topics       *filter.Filter // the rows of /portfolio/spectrum
}

// EnvOptions configures an Env. Views and Now are needed.
type EnvOptions struct {
	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter    filter.Options // limits of filters
	Access    *access.Rules  // if nil, nothing is granted and nothing hidden
	Records   Records        // if nil, persons that the views do not have are not looked up
	Citations Citations      // if nil, there is no citation index
	Strangers *auth.Limiter  // of users that the citation index does not have, see Strangers

	Language string      // of labels where a request asks for no other; en
	Labels   *label.Sets // if nil, codes are shown as they are
	Now      func() time.Time
	Zone     *time.Location // where days and years begin; UTC
	Timeout  time.Duration  // of what is looked up for a plan; negative: none

	StartYear       int      // the first year of /api/html
	Affiliated      []string // the fields of an author that mark affiliation; affiliated and aoi
	FormattedSingle bool     // formatted on projects answers its table alone
	SpectrumOff     bool     // the list of /portfolio/spectrum is empty
}

// NewEnv returns an Env. Errors name the option at fault.
func NewEnv(o EnvOptions) (*Env, error) {
	o.Zone, o.Language = cmp.Or(o.Zone, time.UTC), cmp.Or(o.Language, "en")
	if len(o.Affiliated) == 0 {
		o.Affiliated = []string{"affiliated", "aoi"}
	}
	var err error
	if o.Access == nil {
		if o.Access, err = access.New(access.Options{}); err != nil {
			return nil, err
		}
	}
	e := &Env{o: o, query: query.New(query.Options{Filter: o.Filter, Now: o.Now}), persons: newPersonLookup(o.Records, o.Now)}
	if e.publications, err = e.query.Compile(publications(o.StartYear, o.Affiliated), ""); err != nil {
		return nil, fmt.Errorf("proxy: start year %d, affiliation fields %v: %w", o.StartYear, o.Affiliated, err)
	}
	if e.topics, err = e.query.Compile(topicsOf(), ""); err != nil {
		return nil, err
	}
	e.titles.publications, err = e.query.Compile(bson.D{{Key: "type", Value: "publication"}}, "")
	return e, err
}

// Request is a call that was let in, copied out of Fiber's buffers.
type Request struct {
	auth.Caller
	Params query.Params
	ID     string // of the path, as it came; empty where it has none
}

// Handler turns a request into a plan for its answer, or an error. Without a session the
// plan depends on nothing but the parameters, unless it is for once.
type Handler func(ctx context.Context, r Request) (response.Plan, error)

// Routes maps a path to the handler that plans its answers.
func (e *Env) Routes() map[string]Handler {
	all := map[string]Handler{
		"/api/activities":          e.activities,
		"/api/html":                e.html,
		"/api/projects":            e.projects,
		"/api/proposals":           e.proposals,
		"/api/all-activities":      e.allActivities,
		"/api/spectrum-activities": e.spectrumActivities,
		"/api/levenshtein":         e.levenshtein,
		"/api/users/:id":           e.user,
		"/api/user-units/:id":      e.userUnits,
		"/api/events":              e.events,
		"/api/conferences":         e.events,
		"/api/deadlines":           e.deadlines,
		"/portfolio/spectrum":      e.portfolioSpectrum,

		"/api/projects-by-funding-number": e.projectsByFundingNumber,
	}
	for name, of := range searches() {
		all["/api/search/"+name] = e.search(of)
	}
	return all
}

// Warm prepares what takes long to make for a snapshot that has just been shown: the
// titles to compare with, and at first, once for all settings, the counts by author.
// Concurrent requests wait for it.
func (e *Env) Warm(ctx context.Context, shown *view.Snapshot, counted *sync.Once) error {
	rows, resident := shown.Resident()
	if shown.Meta().View != rules.ViewActivities || !resident {
		return nil
	}
	err := e.titles.follow(ctx, rows)
	counted.Do(func() { err = errors.Join(err, countAuthors(ctx, shown)) })
	return err
}

// countAuthors counts activities by author, as the portals do; the view keeps what it
// made for that, and later snapshots inherit it while it is in use.
func countAuthors(ctx context.Context, s *view.Snapshot) error {
	every, err := s.Select(ctx, filter.All())
	if err == nil {
		_, err = every.Group(ctx, "authors.user", unwound("authors.user"))
	}
	return err
}

// deadline returns a context for a look-up.
func (e *Env) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.o.Timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, e.o.Timeout)
}

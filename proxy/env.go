package proxy

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/query"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/label"
)

// env is what the resources plan their answers with: the rules of one generation of
// settings, and the views.
type env struct {
	views   Source
	query   *query.Reader
	access  *access.Rules
	now     func() time.Time
	zone    *time.Location
	timeout time.Duration // of what is looked up for a plan; negative: none

	language string // of answers to requests that ask for no other
	labels   *label.Sets
	persons  *personLookup
	titles   titles

	citations Citations // nil: there is no index

	publications    *filter.Filter // what /api/html shows
	topics          *filter.Filter // the rows of /portfolio/spectrum
	spectrumOff     bool
	formattedSingle bool
}

// newEnv builds what depends on options and on no request. Errors name the option at fault.
func newEnv(o Options) (*env, error) {
	e := &env{
		views: o.Views, access: o.Access, now: o.Now, zone: or(o.Zone, time.UTC), timeout: o.Limits.Request,
		query:    query.New(query.Options{Filter: o.Filter, Now: o.Now}),
		language: or(o.Language, "en"), labels: o.Labels, persons: newPersonLookup(o.Records, o.Now), citations: o.Citations,
		spectrumOff: o.SpectrumOff, formattedSingle: o.FormattedSingle,
	}
	var err error
	if e.access == nil {
		if e.access, err = access.New(access.Options{}); err != nil {
			return nil, err
		}
	}
	markers := o.Affiliated
	if len(markers) == 0 {
		markers = []string{"affiliated", "aoi"}
	}
	if e.publications, err = e.query.Compile(publications(o.StartYear, markers), ""); err != nil {
		return nil, fmt.Errorf("proxy: start year %d, affiliation fields %v: %w", o.StartYear, markers, err)
	}
	if e.topics, err = e.query.Compile(topicsOf(), ""); err != nil {
		return nil, err
	}
	e.titles.publications, err = e.query.Compile(bson.D{{Key: "type", Value: "publication"}}, "")
	return e, err
}

// resources maps a path to who plans its answers.
func (e *env) resources() map[string]resource {
	all := map[string]resource{
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

// deadline returns a context for work that may take a time; a negative one is no limit.
func deadline(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

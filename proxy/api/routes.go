package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/views"
)

// New returns an Env. Errors name the invalid option. It compiles the filters that all requests share, so that a
// mistake in the configuration is an error at the start.
func New(o Options, shared Shared) (*Env, error) {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	o.Access = cmp.Or(o.Access, access.New(access.Options{}))
	e := &Env{o: o, shared: shared, query: query.Reader{Limits: shared.Filter, Now: shared.Now},
		persons: newPersonLookup(o.Records, shared.Now, shared.Timeout)}
	var err error
	if e.publications, err = e.query.Compile(publications(o.StartYear, o.Affiliation.Fields), ""); err != nil {
		return nil, fmt.Errorf("api: start year %d, affiliation fields %v: %w", o.StartYear, o.Affiliation.Fields,
			err)
	}
	e.titles.publications = filter.OneOf("type", "publication")
	// Only the row of the totals has an _id that is not a string.
	e.topics, err = e.query.Compile(bson.D{{Key: "_id", Value: bson.D{{Key: "$type", Value: "string"}}}}, "")
	return e, err
}

// Routes maps paths to handlers. The error of an invalid parameter takes precedence over all others.
func (e *Env) Routes() map[string]Handler {
	all := map[string]Handler{
		"/api/activities":          e.activities,
		"/api/html":                e.html,
		"/api/projects":            e.projects(rules.ViewProjects, access.ProjectsView, projectColumns),
		"/api/proposals":           e.projects(rules.ViewProposals, access.ProposalsView, proposalColumns),
		"/api/all-activities":      e.allActivities,
		"/api/spectrum-activities": e.spectrumActivities,
		"/api/levenshtein":         e.levenshtein,
		"/api/users/:id":           e.user,
		"/api/user-units/:id":      e.userUnits,
		"/api/events":              e.wholeView(rules.ViewEvents),
		"/api/conferences":         e.wholeView(rules.ViewEvents),
		"/api/deadlines":           e.deadlines,
		"/portfolio/spectrum":      e.portfolioSpectrum,

		"/api/projects-by-funding-number": e.projectsByFundingNumber,
	}
	for name, of := range searches() {
		all["/api/search/"+name] = e.search(of)
	}
	for path, handler := range all {
		all[path] = e.check(handler)
	}
	return all
}

// Paths returns the paths of all Routes. It needs no configuration, because handlers read it only when they are
// called.
func Paths() []string { return slices.Sorted(maps.Keys((&Env{}).Routes())) }

// check returns a handler that fails for invalid parameters, and shows hidden fields to callers with the
// permission. Answers with hidden fields have a query of their own, and are personal, so neither the result cache
// nor a cache outside gives them to another caller.
func (e *Env) check(handler Handler) Handler {
	return func(ctx context.Context, r Request) (response.Plan, error) {
		if hidden := e.o.Hidden; hidden != nil {
			if r.whole = e.o.Access.May(r.Viewer, access.FieldsHidden); !r.whole {
				r.Params = r.Params.Hiding(hidden)
			}
		}
		r.Params.CheckLanguage()
		plan, err := handler(ctx, r)
		plan.Ignored, plan.Paths = r.Params.Ignored(), r.Params.Paths()
		if r.whole {
			plan.Whole, plan.Personal, plan.Query = true, true, "whole\x00"+plan.Query
		}
		return plan, cmp.Or(r.Params.Err(), err)
	}
}

// Warm prepares a new snapshot: the titles for comparison and, once for all settings, the counts by author, which
// portals request. Concurrent requests for them wait.
func (e *Env) Warm(ctx context.Context, shown *view.Snapshot, counted *atomic.Bool) error {
	rows, resident := shown.Resident()
	if shown.Meta().View != rules.ViewActivities || !resident {
		return nil
	}
	err := e.titles.warm(ctx, rows, shown.Loaded())
	if counted.Load() {
		return err
	}
	// To count them, the view makes a column, which it keeps, and which later snapshots inherit while it is in use.
	every, failed := shown.Select(ctx, filter.All())
	if failed == nil {
		_, failed = every.Group(ctx, "authors.user", "authors")
	}
	counted.Store(failed == nil) // after a failure the next snapshot tries again
	return errors.Join(err, failed)
}

// Views declares all views, with what this package needs of them: fragments of rows, and the indexes that the
// catalogue names. Activities have warm paths besides. warm has the paths whose indexes are made with the snapshot,
// since requests are known to use them.
func Views(warm ...string) (defs []index.Definition) {
	for _, v := range views.All() {
		def := index.Definition{Name: v.Name, Order: orderOf(v), Warm: slices.Clone(v.Filtered)}
		if v.Name == rules.ViewActivities {
			def.Fragments, def.Searched = activityFragments(), []string{"title"}
			def.Warm = slices.Concat([]string{fragTable, fragList}, v.Filtered, warm)
		}
		defs = append(defs, def)
	}
	return defs
}

// Package views is the catalogue of views: one row for each view, and one file for each way of making rows from
// records. Whatever lists views, from the jobs to the indexes, reads it, so a new view is a row in this file. If its
// rows are not made like those of another view, it is also a file like stored.go.
//
// Like all rules, it is pure. Its values are shared, and must not be changed.
package views

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// View describes a view.
type View struct {
	// Name is the name in the configuration, on the command line and in the metrics. The side collection is "view_" +
	// Name.
	Name string
	// Source is the collection from whose records the rows are made.
	Source string
	// Rows says how. It is zero if the job of the view depends on settings (activities and spectrum).
	Rows Rows
	// Derived says that rows differ from the source's records, so that filters on rows cannot run on it.
	Derived bool
	// Order is the field that sorts the rows, descending, before _id. If empty, _id sorts them.
	Order string
	// Filtered are the paths that most callers filter on. They are indexed before a snapshot is first shown.
	Filtered []string
	// First says that the view is built before the others: front ends find the users of sessions in it.
	First bool
	// Marks are the collections that the marks of rows refer to (package mark). If nil, rows have no marks.
	Marks []string
}

// Rows says how the rows of a view are made, each from one record.
type Rows struct {
	// Deps are the collections that rows are made from besides their records. They must be small.
	Deps []string
	// Fingerprint identifies Make. It changes when Make would return another row for the same record.
	Fingerprint string
	// Make returns the function that makes the row of a record, which it may return itself. deps are the documents of
	// Deps by collection. Several goroutines call the function at once.
	Make func(deps map[string][]bson.Raw) func(record bson.Raw) (bson.Raw, error)
}

// all are the views in the order in which lists of views show them.
var all = []View{
	{Name: rules.ViewActivities, Source: "activities", Order: "year",
		Filtered: []string{
			"type", "subtype", "year", "units", "authors.user", "rendered.users", "spectrum.display_name",
		},
		Marks: []string{"groups", "persons", "projects"}},
	{Name: rules.ViewProjects, Source: "projects", Rows: resolved, Order: "year",
		Filtered: []string{"title", "public", "persons.user", "created_by", "funding_number"},
		Marks:    []string{"groups", "persons"}},
	{Name: rules.ViewProposals, Source: "proposals", Rows: resolved, Order: "year",
		Filtered: []string{"title", "public", "persons.user", "created_by"}},
	{Name: rules.ViewJournals, Source: "journals", Rows: stored, Order: "year"},
	{Name: rules.ViewPersons, Source: "persons", Rows: stored, Filtered: []string{"username", "_id"},
		First: true, Marks: []string{"groups"}},
	{Name: rules.ViewUserUnits, Source: "persons", Rows: memberships, Filtered: []string{"username", "_id"},
		First: true, Derived: true},
	{Name: rules.ViewEvents, Source: "conferences", Rows: stored, Order: "start",
		Marks: []string{"groups", "persons"}},
	{Name: rules.ViewDeadlines, Source: "deadlines", Rows: stored, Order: "start"},
	{Name: rules.ViewSpectrum, Source: "activities", Derived: true, Order: "count"},
}

// All returns all views, in the order in which lists of views show them.
func All() []View { return slices.Clone(all) }

// Built returns all views, in the order in which they are built.
func Built() []View {
	sorted := All()
	slices.SortStableFunc(sorted, func(a, b View) int {
		switch {
		case a.First == b.First:
			return 0
		case a.First:
			return -1
		}
		return 1
	})
	return sorted
}

// Named returns the view with a name. ok is false if there is none.
func Named(name string) (v View, ok bool) {
	for _, v := range all {
		if v.Name == name {
			return v, true
		}
	}
	return View{}, false
}

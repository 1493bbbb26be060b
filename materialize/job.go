package materialize

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// Job says how one view is made; there is one for a view. Exactly one of Rows and Summarize
// is set.
type Job struct {
	// View is the name of the view, such as rules.ViewActivities.
	View string
	// Source is the collection whose records become rows.
	Source string
	// Deps are collections that rows are made from besides their own record. A
	// change in one of them makes every row stale. They are held in memory
	// during a run: name small ones.
	Deps []string
	// Fingerprint identifies the rules that rows are made by: a row made under
	// another fingerprint is stale. It must change whenever the configuration or the
	// program would make another row of the same record.
	Fingerprint string
	// Optional says that the source may be empty. If false, a run that finds no records
	// in it logs a warning.
	Optional bool
	// Digest returns a digest of what rows take from Deps, so that other changes in them leave
	// rows as they are. If nil, rows take everything.
	Digest func(Deps) string
	// Related are collections of which each mark has a few documents. They are among the Deps
	// of the functions below, and held in memory during a run.
	Related []string
	// Mark makes the function that returns a record's mark (package rules/mark), nil for
	// none; if nil, rows get no marks. A row is stale when its mark changes. An error is
	// listed in the view's health, and the record has its row without a mark. The function is
	// called by one goroutine, and not for a record that was the same in the last run under the
	// same digest, unless it returned an error. So digest changes with all that marks depend
	// on besides the record and Fingerprint: documents of Related, options, the day.
	Mark func(Deps) (mark func(record bson.Raw) (bson.Raw, error), digest uint64)

	// Rows makes the function that renders rows. It is called once per run, the
	// place to index dependencies.
	Rows func(Deps) (RowFunc, error)
	// Summarize turns all records into rows that belong to no single record and are
	// published under their own _id. It is called once per run, and must return equal
	// rows for equal input.
	Summarize func(ctx context.Context, in Input) (rows iter.Seq[bson.Raw], err error)

	fill func(record bson.Raw) bson.Raw // what the functions above see of a record; nil: all of it
}

// seen is a record as the functions of a job see it.
func (j Job) seen(record bson.Raw) bson.Raw {
	if j.fill == nil {
		return record
	}
	return j.fill(record)
}

// RowFunc renders one record's row. It is pure, is called from several goroutines
// at once, and may return the record itself, but must not change it. A nil row
// without an error means that the record has no row in this view. The row has the
// record's _id.
type RowFunc func(ctx context.Context, record bson.Raw) (bson.Raw, error)

// Deps are the documents of the collections that a job reads besides its source, by collection,
// each in order of _id. A missing collection is an empty one.
type Deps map[string][]bson.Raw

// Input is what a summary is made from.
type Input struct {
	// Records yields every source record once. It may be ranged over once.
	Records iter.Seq2[bson.Raw, error]
	Deps    Deps
	// Guard checks the number of records from a source other than Records and Deps. Its
	// error means that there are too few, and must be returned.
	Guard func(source string, records int) error
	// Skip counts a record as left out and lists it in the view's health.
	Skip func(id bson.RawValue, err error)
}

// Jobs returns the jobs of all views, in the order of rules.Views. Those of activities
// and of the spectrum are parameters, since they depend on settings. The sources of the
// optional views may be empty.
func Jobs(activities, spectrum Job, optional []string) []Job {
	given := map[string]Job{activities.View: activities, spectrum.View: spectrum}
	var jobs []Job
	for _, v := range rules.Views() {
		job, ok := given[v.Name]
		if !ok {
			job = Plain(v.Name)
		}
		job.Optional = slices.Contains(optional, v.Name)
		jobs = append(jobs, job)
	}
	return jobs
}

// plain are the jobs that depend on no settings, without their view and source.
var plain = map[string]Job{
	rules.ViewPersons:   stored, // for look-ups, display settings and roles
	rules.ViewUserUnits: memberships,
	rules.ViewProjects:  resolved,
	rules.ViewProposals: resolved,
	rules.ViewJournals:  stored,
	rules.ViewEvents:    stored,
	rules.ViewDeadlines: stored,
}

// Plain makes the job of a view that depends on no settings: any but those of activities
// and of the spectrum. It panics on other names.
func Plain(view string) Job {
	job, ok := plain[view]
	if !ok {
		panic(fmt.Sprintf("materialize: view %q has no plain job", view))
	}
	job.View, job.Source = view, sourceOf(view)
	return job
}

// sourceOf returns the collection that a view is made from.
func sourceOf(view string) string {
	v, _ := rules.ViewNamed(view)
	return v.Source
}

// stored makes rows that are the stored records, unchanged.
var stored = Job{
	Fingerprint: "record/1",
	Rows:        func(Deps) (RowFunc, error) { return asStored, nil },
}

// asStored is the RowFunc of rows that are their records.
func asStored(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }

// resolved makes rows that are stored records with the names of the people and
// organisations they refer to, under display.Reserved. Labels depend on the language of a
// request and are added when it is answered.
var resolved = Job{
	Deps:        []string{"organizations", "persons"},
	Fingerprint: "resolved/2",
	Rows: func(deps Deps) (RowFunc, error) {
		directory := display.NewDirectory(deps["organizations"], deps["persons"])
		return func(_ context.Context, record bson.Raw) (bson.Raw, error) {
			names := directory.Resolve(record)
			if names == nil {
				return display.Strip(record), nil
			}
			return raw.SetField(record, display.Reserved, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: names})
		}, nil
	},
}

// memberships makes a row for each person, as units.Names makes it. Whether a membership
// is past depends on the day of a request and is determined when it is answered.
var memberships = Job{
	Deps:        []string{"groups"},
	Fingerprint: "user_units/1",
	Rows: func(deps Deps) (RowFunc, error) {
		names := units.NewNames(deps["groups"])
		return func(_ context.Context, person bson.Raw) (bson.Raw, error) { return names.Row(person) }, nil
	},
}

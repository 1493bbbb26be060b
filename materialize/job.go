package materialize

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/mark"
	"vitrine/rules/records"
	"vitrine/rules/spectrum"
	"vitrine/rules/views"
)

// maxRow is the size of the largest row that is published: MongoDB's limit for a document, minus room for the store's
// own fields.
const maxRow = 16<<20 - 16<<10

// Job says how to make one view. Exactly one of Rows and Summarize is set.
type Job struct {
	View   string // the name of the view, such as rules.ViewActivities
	Source string // the collection whose records become rows
	// Deps are collections that rows are made from besides their own record. A change in one of them makes every row
	// stale. They are held in memory during a run, so they must be small.
	Deps []string
	// Settings are the collections of settings among those that jobs read. A few deletions are a large share of such
	// a collection, but no loss, so it is guarded only against being emptied, in every job that reads it.
	Settings []string
	// Fingerprint identifies the rules for rows: a row made under another fingerprint is stale. It must change
	// whenever the configuration or the program would make another row from the same record.
	Fingerprint string
	// Optional says that the source may be empty. If false, a run that finds no records in it logs a warning.
	Optional bool
	// Digest returns a digest of the parts of Deps that rows use, and of what else may change between runs: only they
	// make rows stale. If nil, rows use everything.
	Digest func(Deps) string
	// Outside returns a digest of what else rows depend on, such as a file, options or the day. May be nil.
	Outside func(context.Context) (string, error)
	// Related are collections, held in memory during a run, of which each mark uses a few documents among the Deps.
	Related []string
	// Mark returns what makes the marks of a run. If it is nil, rows have no marks.
	Mark func(Deps) Marks
	// Codes returns the codes of types that mean something, for reports about records. If nil, all do.
	Codes func(Deps) records.Codes

	// Rows returns the function that renders rows. It is called once per run and can index dependencies.
	Rows func(Deps) (RowFunc, error)
	// Summarize turns all records into rows with their own _id, once per run. Equal input must give equal rows.
	Summarize func(ctx context.Context, in Input) (rows iter.Seq[bson.Raw], err error)

	words func(row bson.Raw) []string // returns the words of a row; nil if rows have none

	// returns the record that the functions above get; nil means the record itself
	fill func(record bson.Raw) bson.Raw
}

// Marks make the marks of records (package rules/mark) in one run.
type Marks struct {
	// Make returns a record's mark, or nil for no mark. An error is listed in the view's health, and the row has no
	// mark. One goroutine calls it, and not for a record that was the same in the last run under the same digest,
	// unless it returned an error. So Digest changes with all else that marks depend on but Job.Fingerprint: documents
	// of Related, options, the day.
	Make   MarkFunc
	Digest uint64
	// Finish completes a mark of a row that is written, on several processors. May be nil. Rules changes with what it
	// returns for the same mark.
	Finish func(mark bson.Raw) (bson.Raw, error)
	Rules  string
}

// prepare returns a record in the form that the functions of the job get.
func (j Job) prepare(record bson.Raw) bson.Raw {
	if j.fill == nil {
		return record
	}
	return j.fill(record)
}

// wordsOf returns the words of a row, or nil if the job has none, or the row has no room for them.
func (j Job) wordsOf(row bson.Raw) []string {
	if j.words == nil {
		return nil
	}
	words, size := j.words(row), len(row)
	for _, word := range words {
		size += len(word) + 16 // more than an array's element needs
	}
	if size > maxRow {
		return nil
	}
	return words
}

// RowFunc renders one record's row, which has the record's _id. It is pure, several goroutines call it at once, and
// it may return the record itself. A nil row without an error means that the record has no row in this view.
type RowFunc func(ctx context.Context, record bson.Raw) (bson.Raw, error)

// MarkFunc returns a record's mark (package rules/mark), or nil for no mark, and what the record lacks.
type MarkFunc func(record bson.Raw) (made bson.Raw, lacks mark.Lack, err error)

// Deps are the documents of the collections that a job reads besides its source, by collection, in order of _id.
type Deps map[string][]bson.Raw

// Input is the input of a summary.
type Input struct {
	// Records yields every source record once. It may be used only once.
	Records iter.Seq2[bson.Raw, error]
	Deps    Deps
	// Guard checks the number of records from a source other than Records and Deps. Summarize must return its error.
	Guard func(source string, records int) error
	// Skip counts a record as left out and lists it in the view's health.
	Skip func(id bson.RawValue, err error)

	// The tally of the records outlives the run: place returns the position of a record in it by _id, places has the
	// positions by the keys of ids, and keep keeps the tally.
	place  func(id bson.RawValue) int
	places map[string]int
	keep   func(tally *spectrum.Summary)
}

// Jobs returns the jobs of all views, in the order of views.All. Those of activities and of the spectrum depend on
// settings. The sources of the optional views may be empty.
func Jobs(activities, spectrum Job, optional []string) []Job {
	given := map[string]Job{activities.View: activities, spectrum.View: spectrum}
	var jobs []Job
	for _, v := range views.Built() {
		job, ok := given[v.Name]
		if !ok {
			job = Plain(v.Name)
		}
		job.Optional = slices.Contains(optional, v.Name)
		jobs = append(jobs, job)
	}
	return jobs
}

// Plain returns the job of a view that does not depend on settings: any but activities and spectrum.
func Plain(view string) Job {
	job, way := jobOf(view), named(view).Rows
	if way.Make == nil {
		panic(fmt.Sprintf("materialize: view %q has no plain job", view))
	}
	job.Deps, job.Fingerprint = way.Deps, way.Fingerprint
	job.Rows = func(deps Deps) (RowFunc, error) {
		row := way.Make(deps)
		return func(_ context.Context, record bson.Raw) (bson.Raw, error) { return row(record) }, nil
	}
	return job
}

// jobOf returns a job with the view and the source of a view in the catalogue.
func jobOf(view string) Job { return Job{View: view, Source: named(view).Source} }

// named returns a view of the catalogue. For a name that is not there it panics: the program itself names views.
func named(view string) views.View {
	v, ok := views.Named(view)
	if !ok {
		panic(fmt.Sprintf("materialize: no view %q", view))
	}
	return v
}

// asStored is the RowFunc of jobs without Rows: a summary's rows are finished before they are compared.
func asStored(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }

// Reads returns the collections that jobs read, sorted.
func Reads(jobs []Job) (all []string) {
	for _, job := range jobs {
		all = append(all, job.collections()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

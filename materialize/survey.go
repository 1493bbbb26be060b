package materialize

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/mark"
	"vitrine/rules/records"
)

// A run counts what records lack while it makes their rows: the function that makes marks says so for each record
// that has changed, and the index keeps it in bytes that its rows have to spare. So the counts are of all records,
// though a run reads few, and no record is read for them.

// survey keeps what a changed record lacks, and its kind.
func (k *rowIndex) survey(c *change) {
	row := &k.rows[c.at]
	row.lacks, row.kind = c.lacks, k.kinds.Number(mark.KindOf(c.prepared))
}

// facts yields what each record that the current run has seen lacks, and its kind.
func (k *rowIndex) facts() iter.Seq2[mark.Lack, uint16] {
	return func(yield func(mark.Lack, uint16) bool) {
		for i := range k.rows {
			row := &k.rows[i]
			if row.met == k.run && row.kind != 0 && !yield(row.lacks, row.kind) {
				return
			}
		}
	}
}

// expect prepares the index for the kinds of records that the job knows.
func (b *build) expect(deps Deps) {
	if b.known = (records.Known{}); b.job.Known != nil {
		b.known = b.job.Known(deps)
	}
	b.index.kinds.Expect(b.known)
}

// surveyed returns what the records of the run lack, or nil if its job makes no marks.
func (b *build) surveyed() *records.View {
	if b.job.Mark == nil {
		return nil
	}
	v := b.index.kinds.Of(b.job.View, b.job.Source, b.index.facts(), b.known)
	return &v
}

// Findings returns what an operator should know of the records that the run has read, one line for each; none if it
// has not read them.
func (o Outcome) Findings() []string {
	if o.Records == nil {
		return nil
	}
	return o.Records.Lines()
}

// logFindings logs what records lack, unless the last run has logged the same, and returns it.
func (r *Runner) logFindings(ctx context.Context, out Outcome, logged []string) []string {
	now := out.Findings()
	if out.Records == nil || slices.Equal(now, logged) {
		return logged
	}
	level := slog.LevelInfo
	if out.Records.Fault() {
		level = slog.LevelWarn
	}
	for _, finding := range now {
		if !slices.Contains(logged, finding) {
			r.o.Log.Log(ctx, level, "records", "view", out.View, "collection", out.Records.Collection, "finding",
				finding)
		}
	}
	return now
}

// Reads returns the collections that jobs read, sorted.
func Reads(jobs []Job) (all []string) {
	for _, job := range jobs {
		all = append(all, job.collections()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Survey reports what the records of a store lack, as runs of the jobs would, without making rows. It reads all
// records of the jobs that make marks and whose source is wanted.
func Survey(ctx context.Context, store Store, jobs []Job,
	wanted func(collection string) bool) (all []records.View, err error) {
	o := Options{Store: store}.defaults()
	for _, job := range jobs {
		if job.Mark == nil || !wanted(job.Source) {
			continue
		}
		b := &build{o: &o, job: job, rest: func() {}, first: true, index: &rowIndex{}}
		b.guard.recall(nil)
		deps, _, err := b.readDeps(ctx)
		if err != nil {
			return nil, err
		}
		b.expect(deps)
		made := job.Mark(deps).Make
		sift := store.Sift(ctx, job.Source, func(record bson.Raw) bool {
			c := change{record: record, at: len(b.index.rows)}
			c.prepare(job.prepare)
			_, c.lacks, _ = made(c.prepared) // ignore the error, which is in lacks
			b.index.rows = append(b.index.rows, storedRow{})
			b.index.survey(&c)
			return false
		})
		for _, err := range sift {
			if _, damaged := errors.AsType[*origin.DamagedError](err); err != nil && !damaged {
				return nil, fmt.Errorf("scan %s: %w", job.Source, err)
			}
		}
		all = append(all, *b.surveyed())
	}
	return all, nil
}

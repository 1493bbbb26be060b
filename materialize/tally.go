package materialize

import (
	"context"
	"errors"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// put puts the record at a position into the tally. If that fails, the index drops the tally, so that the next summary
// reads all and lists the record.
func (k *rowIndex) put(at int, record bson.Raw) {
	if k.tally != nil && (raw.Check(record) != nil || k.tally.Put(at, record) != nil) {
		k.tally = nil
	}
}

var errDrift = errors.New("the rows made from changed activities alone were wrong and are made anew: please report this bug")

// checkDrift reports it if a full run had to change rows that should have been the same.
func (b *build) checkDrift() {
	if b.out.Drifted = b.verifying && b.out.Changed+b.out.Removed > 0; b.out.Drifted {
		b.skip(bson.RawValue{}, errDrift)
	}
}

// summaryCurrent reports whether the last rows, if they are a summary, include all changes that the job of activities has
// read.
func (b *build) summaryCurrent(rows *rowIndex) bool {
	source := b.kept[rules.ViewActivities]
	return rows.summary == nil || source != nil && source.tally == rows.summary && !source.tally.Changed()
}

// summaryRows returns the rows of a summary: only those of changed records if the last run had the same basis and the job
// of activities has noticed every change since, or else all.
func (b *build) summaryRows(ctx context.Context, deps Deps, fingerprint string) (iter.Seq[bson.Raw], error) {
	source, old, basis := b.kept[rules.ViewActivities], b.index.summary, fingerprint+" "+b.outside
	if source == nil {
		source = &rowIndex{at: map[string]int{}}
	}
	if source.tally != old || b.index.basis != basis {
		old = nil
	}
	if old != nil && !b.full {
		if rows, err := old.Rows(source.at, func(keys []string) iter.Seq2[bson.Raw, error] { return b.fetch(ctx, keys) }); err == nil {
			b.out.Scanned = source.inputs.counts[b.job.Source]
			for key, i := range b.index.at {
				if !old.Made(raw.KeyValue(key)) {
					b.index.rows[i].met = b.index.run
				}
			}
			return rows, nil
		}
		old = nil
	}
	source.tally, b.index.summary = old, nil
	rows, err := b.job.Summarize(ctx, Input{Records: b.records(ctx, source), Deps: deps, Guard: b.guard.collection, Skip: b.skip, source: source})
	b.verifying = old != nil && !old.Changed() && b.out.Scanned == source.inputs.counts[b.job.Source] && b.out.Skipped+b.out.Missing == 0
	if b.out.Skipped > 0 {
		source.tally = nil
	}
	b.index.summary, b.index.basis = source.tally, basis
	return rows, err
}

// fetch yields the source's records with some keys.
func (b *build) fetch(ctx context.Context, keys []string) iter.Seq2[bson.Raw, error] {
	ids := make([]bson.RawValue, len(keys))
	for i, key := range keys {
		ids[i] = raw.KeyValue(key)
	}
	return func(yield func(bson.Raw, error) bool) {
		filter, _ := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}) // cannot fail
		for record, err := range b.Store.Find(ctx, b.job.Source, origin.Query{Filter: filter}) {
			if !yield(b.job.prepare(record), err) {
				return
			}
			b.rest()
		}
	}
}

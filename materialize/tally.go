package materialize

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
)

// The spectrum counts all activities, but need not read them whenever one changes. The tally of a summary, a
// spectrum.Summary, lives in the index of the activities' job:
//
//	job of activities: reads a changed record ─▶ compare ─▶ put: the tally has its new version
//	job of the spectrum, afterwards: summaryRows ─▶ Rows of the tally, which fetches the records that it shows
//
// The tally is dropped whenever it might differ from the source: for a damaged record, a record without an _id, or
// one that cannot be rendered. Then the next summary reads all. A nightly full run reads all in any case, and reports
// a difference as a bug (checkDrift).

// put puts a prepared record into the tally. If that fails, the index drops the tally, so that the next summary reads
// all and lists the record.
func (k *rowIndex) put(c *change) {
	if k.tally != nil && (c.err != nil || k.tally.Put(c.at, c.prepared) != nil) {
		k.tally = nil
	}
}

var errDrift = errors.New(
	"the rows made from changed activities alone were wrong and are made anew: please report this bug")

// checkDrift reports it if a full run had to change rows that should have been the same.
func (b *build) checkDrift() {
	if b.out.Drifted = b.verifying && b.out.Changed+b.out.Removed > 0; b.out.Drifted {
		b.out.skip(bson.RawValue{}, errDrift)
	}
}

// summaryCurrent reports whether the last rows, if they are a summary, include all changes that the job of activities
// has read.
func (b *build) summaryCurrent(rows *rowIndex) bool {
	source := b.kept[rules.ViewActivities]
	return rows.summary == nil || source != nil && source.tally == rows.summary && !source.tally.Changed()
}

// tallySource returns the index of activities if its tally made the last rows, or nil.
func (b *build) tallySource() *rowIndex {
	source := b.kept[rules.ViewActivities]
	if b.index.summary == nil || source == nil || source.tally != b.index.summary {
		return nil
	}
	return source
}

// summaryRows returns the rows of a summary: only those of changed records if the last run had the same basis and the
// job of activities has noticed every change since, or else all.
func (b *build) summaryRows(ctx context.Context, deps Deps) (_ iter.Seq[bson.Raw], err error) {
	var old *spectrum.Summary
	source, basis := b.tallySource(), b.fingerprint+" "+b.in.outside
	if source != nil && b.index.basis == basis {
		old = source.tally
	}
	if source == nil {
		source = cmp.Or(b.kept[rules.ViewActivities], &rowIndex{at: map[string]int{}})
	}
	if old != nil && !b.full {
		if rows, err := old.Rows(source.at,
			func(keys []string) iter.Seq2[bson.Raw, error] { return b.fetch(ctx, keys) }); err == nil {
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
	if b.partial {
		b.partial = false
		if deps, b.fingerprint, err = b.readDeps(ctx); err != nil {
			return nil, err
		}
		basis = b.fingerprint + " " + b.in.outside
	}
	source.tally, b.index.summary = old, nil
	rows, err := b.job.Summarize(ctx,
		Input{Records: b.records(ctx, source), Deps: deps, Guard: b.guard.collection, Skip: b.out.skip,
			place: source.place, places: source.at,
			keep: func(tally *spectrum.Summary) { source.tally = tally }})
	b.verifying = old != nil && !old.Changed() && b.out.Scanned == source.inputs.counts[b.job.Source] &&
		b.out.Skipped+b.out.Missing == 0
	if b.out.Skipped > 0 {
		source.tally = nil
	}
	b.index.summary, b.index.basis = source.tally, basis
	return rows, err
}

// fetch yields the source's records with the given keys, prepared for the job's functions.
func (b *build) fetch(ctx context.Context, keys []string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for record, err := range findByKeys(ctx, b.o.Store, b.job.Source, keys) {
			if !yield(b.job.prepare(record), err) {
				return
			}
			b.rest()
		}
	}
}

package materialize

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// inputs identify what a run has read.
type inputs struct {
	version string         // of the job's collections, and Job.Outside; empty if unknown
	source  origin.Version // of the job's source; zero if unknown
	others  string         // version without the source; empty if unknown
	exact   bool           // every change would have changed version
	read    time.Time      // when the last run began that read all: this one or an earlier one
	counts  map[string]int // see shrinkGuard.counted
}

// collections returns the collections that a job reads, sorted.
func (j Job) collections() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat([]string{j.Source}, j.Deps, j.Related))))
}

// identify returns the inputs that a run would read now, without counts. If the store cannot tell, version is empty.
func (b *build) identify(ctx context.Context) inputs {
	in := inputs{exact: true, read: time.Now()}
	if b.job.Outside != nil {
		var err error
		if b.outside, err = b.job.Outside(ctx); err != nil {
			return in // reading returns the error
		}
	}
	if b.watched == 0 && b.Versioner == nil {
		return in
	}
	others := []string{strconv.FormatUint(b.watched, 10), b.outside}
	var source origin.Version
	if b.watched == 0 { // changes that a stream reports request runs that read
		for _, name := range b.job.collections() {
			version, err := b.Versioner.Version(ctx, name, b.ChangedField)
			if err != nil {
				return in
			}
			if in.exact = in.exact && version.Exact; name == b.job.Source {
				source = version
			} else {
				others = append(others, version.Text)
			}
		}
	}
	in.source, in.others = source, fmt.Sprintf("%q", others)
	in.version = fmt.Sprintf("%q %s", source.Text, in.others)
	return in
}

// unchanged reports whether a scheduled run need not read its inputs, because an earlier one has read the same, and
// if their versions are not exact, within ReadAllEvery.
func (b *build) unchanged(before, now inputs) bool {
	return b.scheduled && now.version != "" && now.version == before.version && b.readRecently(before, now)
}

// remember keeps the inputs for the next run, unless this one has skipped records, which the next one tries again.
func (b *build) remember(in inputs) {
	if b.partial {
		in.read = b.index.inputs.read
	}
	b.out.Read, b.index.read = in.read, b.index.run
	if b.index.inputs = in; b.out.Skipped > 0 {
		b.index.inputs, b.index.summary = inputs{}, nil
	}
	b.index.inputs.counts = maps.Clone(b.guard.counted)
}

// recall repeats the counts of an earlier run that has read the same inputs.
func (b *build) recall(in inputs) {
	b.out.Read, b.out.Scanned, b.out.Unread = in.read, in.counts[b.job.Source], false
	b.guard.counted = maps.Clone(in.counts)
}

// readRecently reports whether all records were read so recently that the run need not read those that seem
// unchanged.
func (b *build) readRecently(before, now inputs) bool {
	return now.exact || now.read.Sub(before.read) < b.ReadAllEvery
}

// dependencies reads what the job's rows are made from, except its source, and sets the fingerprint. It reads nothing
// for a summary if only records have changed, because the tally has everything else.
func (b *build) dependencies(ctx context.Context) (deps Deps, err error) {
	before := b.index.inputs
	same := before.others != "" && before.others == b.in.others && b.readRecently(before, b.in)
	if same && b.scheduled && b.tallySource() != nil {
		b.partial, b.fingerprint = true, b.index.meta.Rules
		maps.Copy(b.guard.counted, before.counts)
		return nil, nil
	}
	deps, b.fingerprint, err = b.readDeps(ctx)
	return deps, err
}

// onlyChanges reports whether a run needs only the records that have changed since the last run: that run knows all
// records, and everything else that rows are made from is the same.
func (b *build) onlyChanges(h *hasher) bool {
	before, now := b.index.inputs, b.in
	basis := h.basis()
	same := b.index.basis == basis
	b.index.basis = basis
	return same && b.scheduled && b.readRecently(before, now) && showsChanges(before.source, now.source)
}

// readChanges reads the records that may have changed, and yields those whose rows are stale. Then it counts the
// records of the source. If the count is not that of the known records, it reads all _ids, to find records that were
// deleted, and new ones that the filter did not match.
func (b *build) readChanges(ctx context.Context, h *hasher) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		b.partial = true
		filter, err := changedSince(ctx, b.ChangedField, b.index.inputs.source, b.in.source)
		if err == nil && !b.yieldStale(b.Store.Find(ctx, b.job.Source, origin.Query{Filter: filter}), h, yield) {
			return
		}
		count := 0
		if err == nil {
			count, err = b.in.source.Count(ctx, nil)
		}
		if err != nil { // the store cannot count. If it does not answer, readAll fails, too
			b.partial, b.out.Scanned = false, 0
			b.readAll(ctx, h)(yield)
			return
		}
		if count == b.index.countKnown() {
			b.index.meetKnown()
		} else if !b.readIDs(ctx, h, yield) {
			return
		}
		b.out.Scanned = b.index.countSeen()
	}
}

// yieldStale yields the records whose rows are stale. It returns false if the loop is over.
func (b *build) yieldStale(records iter.Seq2[bson.Raw, error], h *hasher, yield func(change, error) bool) bool {
	for record, err := range records {
		if b.leftOut(err) {
			continue
		}
		if err != nil {
			yield(change{}, fmt.Errorf("read changes of %s: %w", b.job.Source, err))
			return false
		}
		if c, stale := b.compare(record, h); stale && !yield(c, nil) {
			return false
		}
	}
	return true
}

// readIDs reads the _ids of the source. It marks known records as seen, and reads unknown ones. It returns false if
// the loop is over.
func (b *build) readIDs(ctx context.Context, h *hasher, yield func(change, error) bool) bool {
	var unknown []string
	all := origin.Query{Sort: raw.Sort{raw.ByID}, Projection: []string{}} // an index has all that this needs
	for doc, err := range b.Store.Find(ctx, b.job.Source, all) {
		if err != nil {
			yield(change{}, fmt.Errorf("read the ids of %s: %w", b.job.Source, err))
			return false
		}
		if id := doc.Lookup("_id"); b.index.knows(id) {
			b.index.meet(id)
		} else {
			unknown = append(unknown, raw.Key(id))
		}
	}
	for keys := range slices.Chunk(unknown, b.Batch) {
		if !b.yieldStale(b.findByKeys(ctx, keys), h, yield) {
			return false
		}
	}
	return true
}

// findByKeys yields the source's records with the given keys.
func (b *build) findByKeys(ctx context.Context, keys []string) iter.Seq2[bson.Raw, error] {
	ids := make([]bson.RawValue, len(keys))
	for i, key := range keys {
		ids[i] = raw.KeyValue(key)
	}
	filter, _ := bson.Marshal(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}) // cannot fail
	return b.Store.Find(ctx, b.job.Source, origin.Query{Filter: filter})
}

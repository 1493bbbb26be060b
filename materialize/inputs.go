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
)

// inputs identify what a run has read.
type inputs struct {
	version string         // of the job's collections, and Job.Outside; empty if unknown
	source  string         // version of Job.Source, if exact; otherwise empty
	exact   bool           // every change would have changed version
	read    time.Time      // when the run began to read
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
	versions := []string{strconv.FormatUint(b.watched, 10), b.outside}
	if b.watched == 0 { // changes that a stream reports request runs that read
		for _, name := range b.job.collections() {
			version, exact, err := b.Versioner.Version(ctx, name, b.ChangedField)
			if err != nil {
				return in
			}
			if versions, in.exact = append(versions, version), in.exact && exact; exact && name == b.job.Source {
				in.source = version
			}
		}
	}
	in.version = fmt.Sprintf("%q", versions)
	return in
}

// unchanged reports whether a scheduled run need not read its inputs, because an earlier one has read the same, and if
// their versions are not exact, within ReadAllEvery.
func (b *build) unchanged(before, now inputs) bool {
	return b.scheduled && now.version != "" && now.version == before.version && (now.exact || now.read.Sub(before.read) < b.ReadAllEvery)
}

// sift yields the source's records that want accepts, as Store.Sift does. If the store knows which have changed since the
// last run, and nothing else that all rows depend on has, it reads only these. It counts the others as scanned.
func (b *build) sift(ctx context.Context, h *hasher, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	k, seeds := b.index, [2]uint64{h.seed, h.marks}
	known := k.seeds == seeds && k.inputs.source != ""
	var ids []bson.RawValue
	var docs iter.Seq2[bson.Raw, error]
	if k.seeds = seeds; known {
		ids, docs, known = b.Versioner.Changes(ctx, b.job.Source, k.inputs.source)
	}
	if !known {
		return b.Store.Sift(ctx, b.job.Source, want)
	}
	for _, id := range ids {
		k.rows[k.place(id)].met = 0
	}
	for i := range k.rows {
		if row := &k.rows[i]; row.met == k.read {
			row.met = k.run
			b.out.Scanned++
		}
	}
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range docs {
			if (err != nil || want(doc)) && !yield(doc, err) {
				return
			}
		}
	}
}

// remember keeps the inputs for the next run, unless this one has skipped records, which the next one tries again.
func (b *build) remember(in inputs) {
	b.out.Read, b.index.read = in.read, b.index.run
	if b.index.inputs = in; b.out.Skipped > 0 {
		b.index.inputs, b.index.summary = inputs{}, nil
	}
	b.index.inputs.counts = maps.Clone(b.guard.counted)
}

// recall repeats the counts of an earlier run that has read the same inputs.
func (b *build) recall(in inputs) {
	b.out.Read, b.out.Scanned = in.read, in.counts[b.job.Source]
	b.guard.counted = maps.Clone(in.counts)
}

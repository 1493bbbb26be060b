package materialize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// inputs identify what a run has read.
type inputs struct {
	version string         // of the job's collections, and Job.Outside; empty if unknown
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
			version, err := b.Versioner.Version(ctx, name, b.ChangedField)
			if err != nil {
				return in
			}
			versions, in.exact = append(versions, version.Text), in.exact && version.Exact
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

// remember keeps the inputs for the next run, unless this one has skipped records, which the next one tries again.
func (b *build) remember(in inputs) {
	b.out.Read = in.read
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

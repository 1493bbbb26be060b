package materialize

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"vitrine/cache/origin"
)

// inputs identify what a run has read. The next scheduled run compares its own with them, and if they are the same it
// reads nothing.
//
// They are taken before the run reads anything. A change while it reads may then be read twice, by this run and the
// next, but is never missed.
type inputs struct {
	version string         // of the job's collections, and Job.Outside; empty if unknown
	outside string         // result of Job.Outside; empty if it failed
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

// identify returns the inputs that a run of a job would read now, without counts. If the store cannot tell, version
// is empty. watched is the number of the open change stream; see Runner.
func identify(ctx context.Context, o *Options, job Job, watched uint64) inputs {
	in := inputs{exact: true, read: time.Now()}
	if job.Outside != nil {
		var err error
		if in.outside, err = job.Outside(ctx); err != nil {
			return in // reading returns the error
		}
	}
	if watched == 0 && o.Versioner == nil {
		return in
	}
	// A new stream has a new number, so the first run under it reads all: it does not report what changed before it.
	others := []string{strconv.FormatUint(watched, 10), in.outside}
	var source origin.Version
	if watched == 0 { // changes that a stream reports request runs that read
		for _, name := range job.collections() {
			version, err := o.Versioner.Version(ctx, name, o.ChangedField)
			if err != nil {
				return in
			}
			if in.exact = in.exact && version.Exact; name == job.Source {
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

// readRecently reports whether all records were read so recently that the run need not read those that seem
// unchanged.
func (in inputs) readRecently(now inputs, every time.Duration) bool {
	return now.exact || now.read.Sub(in.read) < every
}

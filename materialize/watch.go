package materialize

import (
	"context"
	"slices"
)

// watch requests runs of the jobs whose collections change, until ctx ends or the store cannot watch. Schedules
// continue meanwhile, and cover changes that a broken stream does not report.
func (r *Runner) watch(ctx context.Context) {
	if r.o.Watcher == nil {
		return
	}
	var collections []string // the collections that jobs read
	for _, job := range r.o.Jobs {
		collections = slices.Concat(collections, job.collections())
	}
	collections = slices.Compact(slices.Sorted(slices.Values(collections)))
	watchStream(ctx, &r.o, collections, streamEvents{
		opened:      func() { r.streams++; r.stream.Store(r.streams) },
		closed:      func() { r.stream.Store(0) },
		changed:     r.sourceChanged,
		unsupported: "no change streams: jobs run on schedule only",
	})
}

// sourceChanged requests runs of the jobs that read a collection.
func (r *Runner) sourceChanged(collection string) {
	var jobs []Job
	for _, job := range r.o.Jobs {
		if slices.Contains(job.collections(), collection) {
			jobs = append(jobs, job)
		}
	}
	// Ignore ErrStandby: a standby does not watch, and the next leader runs all jobs.
	_ = r.enqueue(jobs, runRequest{changed: true})
}

package materialize

import (
	"context"
	"errors"
	"slices"
	"time"

	"vitrine/cache/origin"
)

// watch requests runs of the jobs whose source or dependencies change, until ctx ends
// or the store reports that it cannot watch. Schedules go on meanwhile, and find what a
// broken stream fails to report.
func (r *Runner) watch(ctx context.Context) {
	if r.o.Watcher == nil {
		return
	}
	var collections []string // what the jobs read
	for _, job := range r.o.Jobs {
		collections = slices.Concat(collections, []string{job.Source}, job.Deps, job.Related)
	}
	collections = slices.Compact(slices.Sorted(slices.Values(collections)))
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		err := r.o.Watcher.Watch(ctx, collections, r.changed)
		if errors.Is(err, origin.ErrUnsupported) {
			r.o.Log.InfoContext(ctx, "no change streams: jobs run on schedule only", "reason", err)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxWait {
			failures = 0 // it went well for long
		}
		r.o.Log.WarnContext(ctx, "watch for changes", "error", err)
		_ = sleep(ctx, jitter(min(backoff<<min(failures, 10), maxWait))) // ends the loop if it fails
	}
}

// changed requests runs of the jobs that read a collection.
func (r *Runner) changed(collection string) {
	var jobs []Job
	for _, job := range r.o.Jobs {
		if job.Source == collection || slices.Contains(job.Deps, collection) || slices.Contains(job.Related, collection) {
			jobs = append(jobs, job)
		}
	}
	// A standby does not watch; a burst that ends with the lease is left to the next leader.
	_ = r.enqueue(jobs, runRequest{changed: true})
}

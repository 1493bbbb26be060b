package materialize

import (
	"context"
	"errors"
	"slices"
	"time"

	"vitrine/cache/origin"
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
	opened := func() { r.streams++; r.stream.Store(r.streams) }
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		err := r.o.Watcher.Watch(ctx, collections, opened, r.sourceChanged)
		r.stream.Store(0)
		if errors.Is(err, origin.ErrUnsupported) {
			r.o.Log.InfoContext(ctx, "no change streams: jobs run on schedule only", "reason", err)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxWait {
			failures = 0 // the stream has worked for long
		}
		r.o.Log.WarnContext(ctx, "watch for changes", "error", err)
		_ = sleep(ctx, jitter(min(backoff<<min(failures, 10), maxWait))) // the loop ends if ctx has ended
	}
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

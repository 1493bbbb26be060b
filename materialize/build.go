package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/records"
)

// finishTime is how long a stopped run may take to clean up in the store.
const finishTime = 5 * time.Second

// build is one run of one job, from the look at the published rows to the commit. A run goes through these files:
//
//	build.go    begins and ends it: the publication, its outcome, the view's health
//	inputs.go   identifies what it would read, so that it need not read the same again
//	deps.go     reads the collections that rows are made from besides their records
//	stream.go   reads the records, and compares each with its row; partial.go only those that have changed
//	render.go   makes the stale rows
//	staging.go  puts marks into them, and counts
//
// The run has one goroutine of its own, which reads and compares, beside those that render. The latter only see the
// changes of their batch: index and outcome belong to the goroutine of the run.
type build struct {
	o        *Options
	kept     map[string]*rowIndex   // see Runner
	lastMeta map[string]origin.Meta // see Runner
	job      Job
	lease    origin.Lease
	full     bool
	guard    shrinkGuard
	progress func(Progress) // if nil, progress is not reported

	scheduled bool   // nothing but the schedule requested the run
	watched   uint64 // number of the open change stream, see Runner

	out Outcome
	// rows published when the run started, including those that the store has lost
	total int
	first bool                           // the view was never published before
	rest  func()                         // called between records; sleeps now and then, but not in a first run
	form  func(record bson.Raw) bson.Raw // see change.prepare
	index *rowIndex

	verifying bool // a full run summarises the same records as the previous rows, and must make the same rows

	in          inputs        // inputs of the run, identified before it read them
	partial     bool          // the run reads only changes, and takes the rest from an earlier run
	fingerprint string        // identifies what rows are made from, besides their records
	codes       records.Codes // see Job.Codes
}

// run makes the view and records the outcome in the store. It returns once everything that it started has ended.
func (b *build) run(ctx context.Context) Outcome {
	out := &b.out
	out.View, out.Full, out.Started, out.Unread = b.job.View, b.full, time.Now(), true
	out.Result, out.Err = guard(func() (result Result, err error) {
		out.Meta, result, err = b.make(ctx)
		return result, err
	})
	out.Took = time.Since(out.Started)
	switch {
	case out.Err == nil:
	case ctx.Err() != nil:
		out.Result, out.Err = Stopped, context.Cause(ctx)
	case out.fenced():
		out.Result, out.Err = b.fenced(ctx, out.Err)
	case errors.As(out.Err, new(*heldError)):
		out.Result = Held
	default:
		out.Result = Failed
	}
	if out.Result == Published || out.Result == Unchanged {
		b.rememberMeta(out.Meta)
	}
	if out.Result != Published {
		out.Changed, out.Removed = 0, 0
	}
	b.report(ctx, out)
	if out.Result == Published && b.o.OnPublish != nil {
		// after report, so that a reader can see whether the run was forced
		if _, err := guard(func() (any, error) { b.o.OnPublish(out.Meta); return nil, nil }); err != nil {
			out.Err = errors.Join(out.Err, err)
		}
	}
	b.reportProgress(true)
	return *out
}

// fenced returns the result of a run whose write the store refused. If the lease can still be renewed, no other
// instance has taken it: the meta has a greater token than the lease, for example because lease and meta were
// restored from dumps of different moments. No other instance will publish, so the run has failed.
func (b *build) fenced(ctx context.Context, err error) (Result, error) {
	if _, lost := b.o.Store.Renew(ctx, b.lease, b.o.Lease); lost != nil {
		return Stopped, err
	}
	return Failed, fmt.Errorf("the lease is held, but its token %d is not the newest in the view's meta: %w",
		b.lease.Token, err)
}

// report stores the view's health after a run, unless it was stopped: without the lease a run must not write, and a
// cancelled one has no result.
func (b *build) report(ctx context.Context, out *Outcome) {
	if out.Result == Stopped {
		return
	}
	meta, err := out.Meta, error(nil)
	if b.guard.past == nil { // the run failed before it read the past counts
		if meta, err = b.o.Store.Meta(ctx, b.job.View); err == nil {
			out.Meta = meta
			b.guard.recall(meta.Health.Counts)
		}
	}
	if err == nil {
		health := out.health()
		health.Read = cmp.Or(out.Read, meta.Health.Read)
		if out.Records == nil {
			health.Findings = meta.Health.Findings
		}
		health.Counts, health.Forced = b.guard.counts(health.Status == origin.HealthOK), b.guard.forced
		err = b.o.Store.SetHealth(ctx, b.job.View, b.lease, health)
	}
	out.Unrecorded = err != nil
	if err == nil {
		if meta, err = b.o.Store.Meta(ctx, b.job.View); err == nil {
			out.Meta = meta
		}
	}
	if err != nil && out.Err == nil {
		// The view itself is good, so the run keeps its result.
		out.Err = fmt.Errorf("record health of view %s: %w", b.job.View, err)
	}
}

// make brings the view from the published generation to the current source. run makes the result from an error.
func (b *build) make(ctx context.Context) (meta origin.Meta, result Result, err error) {
	view := b.job.View
	pub, err := b.o.Store.Begin(ctx, view, b.lease)
	if err != nil {
		return meta, Failed, err
	}
	// Whatever ends the run from here on, it removes what it has staged, unless a commit was tried.
	committing := false
	defer func() {
		// A failed commit may have reached the store. Then nothing may be discarded; the next Begin finds out.
		if !committing {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
			defer cancel()
			_ = pub.Abort(ctx) // ignore the error: no reader sees the leftovers, and the next Begin removes them
		}
	}()
	if meta, err = b.o.Store.Meta(ctx, view); err != nil {
		return meta, Failed, err
	}
	// Before anything is read: what the guard compares with, and whether the run is needed at all.
	b.guard.recall(meta.Health.Counts)
	b.detectLostView(meta)
	if current, err := b.loadIndex(ctx, meta); err != nil {
		return meta, Failed, err
	} else if current {
		b.recall(b.index.inputs)
		b.kept[view] = b.index
		return meta, Unchanged, nil
	}
	vanished, err := b.readSource(ctx, meta, pub)
	if err != nil {
		return meta, Failed, err
	}
	// A run without changes still commits if the published rows or their meta are not those that it would leave.
	rows := b.index.live()
	same := !b.first && !b.index.inconsistent && meta.Rules == b.fingerprint && meta.Rows == rows
	if same && b.out.Changed+b.out.Removed == 0 {
		b.remember(b.in)
		b.kept[view] = b.index.after(meta)
		return meta, Unchanged, nil
	}
	if err := putTombstones(ctx, pub, vanished, b.o.Batch); err != nil {
		return meta, Failed, err
	}
	// Commit takes effect in one step of the store. The index is remembered only after it: a later run that trusted
	// the index of an uncommitted one would never publish those rows.
	committing = true
	next, err := pub.Commit(ctx, rows, b.fingerprint)
	if err != nil {
		return meta, Failed, err
	}
	b.remember(b.in)
	b.kept[view] = b.index.after(next)
	return next, Published, nil
}

// loadIndex identifies the inputs of the run and loads the index of the published rows. It reports whether the rows
// are current, because an earlier run has read the same inputs and the store still has its rows.
func (b *build) loadIndex(ctx context.Context, meta origin.Meta) (current bool, err error) {
	b.in = identify(ctx, b.o, b.job, b.watched) // first, so that changes during the run belong to the next one
	kept := b.kept[b.job.View]
	delete(b.kept, b.job.View) // a failed run keeps no index
	same := kept != nil && b.unchanged(kept.inputs, b.in) && b.summaryCurrent(kept)
	b.index, err = kept.orLoad(ctx, b.o.Store, meta, b.full, same && b.in.exact && b.watched == 0)
	return err == nil && same && b.index == kept, err
}

// readSource reads the source and puts changed rows into the publication. It returns the ids of the rows whose
// records have vanished, or an error if the view would lose too many rows.
func (b *build) readSource(
	ctx context.Context, meta origin.Meta, pub origin.Publication,
) (vanished []bson.RawValue, err error) {
	b.out.Missing = max(meta.Rows-b.index.live(), 0)
	b.total, b.first = b.index.live()+b.out.Missing, meta.Generation == 0
	foreign := 0
	if !b.first { // do not count the removal of rows that no run published as a loss
		foreign = b.index.countSurplus(meta)
	}
	if err := b.stream(ctx, pub); err != nil {
		return nil, err
	}
	b.out.Unread = false
	b.index.report = b.lacks()
	b.out.Records = b.index.report
	vanished = b.index.removeVanished()
	b.out.Removed += len(vanished)
	b.checkDrift()
	before, removed := max(b.total-foreign, 0), max(b.out.Removed-foreign, 0)
	if err := b.guard.rows(before, removed, b.index.live()); err != nil {
		return nil, err
	}
	return vanished, b.guard.collection(b.job.Source, b.out.Scanned)
}

// unchanged reports whether a scheduled run need not read its inputs, because an earlier one has read the same, and
// if their versions are not exact, within ReadAllEvery.
func (b *build) unchanged(before, now inputs) bool {
	same := now.version != "" && now.version == before.version
	return b.scheduled && same && before.readRecently(now, b.o.ReadAllEvery)
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
	b.out.Records = b.index.report
	b.guard.counted = maps.Clone(in.counts)
}

// putTombstones puts a tombstone for each row whose record has vanished into the publication,
// batch by batch, because an emptied collection may have as many as there were rows.
func putTombstones(ctx context.Context, pub origin.Publication, vanished []bson.RawValue, batch int) error {
	for ids := range slices.Chunk(vanished, batch) {
		tombstones := make([]origin.Row, len(ids))
		for i, id := range ids {
			tombstones[i].ID = id
		}
		if err := pub.Put(ctx, tombstones); err != nil {
			return err
		}
	}
	return nil
}

// detectLostView checks whether the store has lost the view's meta, or has a new one of another epoch. The run then
// compares its rows with what this process knows of the view: the counts were lost with the meta, so an emptied
// source would look like that of a new institute. A meta of a known epoch, or one that a forced run has confirmed
// since, is trusted, even if the front end shows more rows: its snapshot may be older than a permitted loss of rows.
func (b *build) detectLostView(meta origin.Meta) {
	seen := b.lastMeta[b.job.View]
	known, rows := seen, seen.Rows
	if b.o.CurrentMeta != nil {
		if at, n := b.o.CurrentMeta(b.job.View); at.Generation > 0 {
			known, rows = at, n
		}
	}
	// What this process has published is not lost, even if its front end does not show it yet.
	made := seen.Generation > 0 && meta.Epoch == seen.Epoch
	trusted := made || meta.Epoch == known.Epoch || meta.Forced.After(known.Published)
	if known.Generation == 0 || meta.Generation > 0 && trusted {
		if meta.Generation > 0 {
			b.lastMeta[b.job.View] = meta
		}
		return
	}
	b.guard.lostRows = rows
	if meta.Generation == 0 { // otherwise the store has counts, which other instances use
		b.guard.restoreCounts(seen.Health.Counts, rows)
	}
}

// rememberMeta keeps the view's meta after a good run, with the counts that the run leaves in the store.
func (b *build) rememberMeta(meta origin.Meta) {
	meta.Health.Counts = b.guard.counts(true)
	b.lastMeta[b.job.View] = meta
}

// reportProgress reports to the caller of RunOnce how far the run is; runs on schedule have no such caller.
func (b *build) reportProgress(done bool) {
	if b.progress != nil {
		b.progress(Progress{View: b.job.View, Scanned: b.out.Scanned, Total: b.total, Changed: b.out.Changed,
			Done: done})
	}
}

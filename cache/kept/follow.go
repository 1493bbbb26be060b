package kept

import (
	"context"
	"errors"
	"slices"
	"time"

	"vitrine/cache/origin"
)

const (
	slowWriter  = time.Minute      // a change may arrive so much later than one with a greater generation
	rereadEvery = 10 * time.Second // for changes of slow writers
	// rereadAllAfter is the longest pause between two readings of changes. After a longer one the follower reads
	// everything: documents of dropped answers may have been swept, so changes alone would not show them.
	rereadAllAfter = 5 * time.Minute
	sweepAge       = 2 * rereadAllAfter // of the generations before which dropped answers are swept

	reportEvery = time.Minute // demand that the store has not got yet
	mostReport  = 1000        // keys at a time
)

// follower reads the changes of the store. It is for one goroutine.
//
// Generations are assigned before answers are written, so a reader may see generation 8 before 7. Hence the
// follower reads three times: what is new at each round; the last minute again every ten seconds; and everything
// after a gap.
type follower struct {
	*storage
	clock  *clock
	full   time.Time // when everything was last read; zero: not yet
	twice  bool      // and read again for the slow writers of that time
	seen   uint64    // the latest generation of the last reading
	at     time.Time // of that
	reread time.Time // when changes of slow writers were last looked for
	past   []reading // of the last times, the oldest first
	report time.Time // when demand was last reported
	swept  uint64
}

// reading is the latest generation at a time.
type reading struct {
	at     time.Time
	latest uint64
}

// follow does one round: changes, what could not be written before, and demand. The marks come first, since answers
// depend on them. Writing is tried only if reading succeeds.
func (f *follower) follow(ctx context.Context) error {
	if !f.remote.readable() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	marks, latest, err := f.remote.store.Marks(limited)
	if err == nil {
		f.clock.sources.Store(&marks)
		err = f.changes(limited, latest)
	}
	if errors.Is(err, origin.ErrStale) { // the store was just restored from a backup: the next round reads everything
		err = nil
	}
	if f.remote.noteRead(ctx, err); err != nil || !f.remote.writes.over() { // a store may be read-only
		return err
	}
	return errors.Join(f.dropAgain(ctx), f.saveAgain(ctx), f.reportDemand(ctx), f.sweep(ctx))
}

// changes reads what is new. A slow writer's change has a lesser generation than others that were read before, so
// those of the last minute are read again from time to time.
//
// Of the cases, the first that applies is read, and the next round reads what the others would.
func (f *follower) changes(ctx context.Context, latest uint64) error {
	now := time.Now()
	early := f.before(now.Add(-slowWriter))
	var err error
	switch {
	case f.full.IsZero() || latest < f.seen || now.Sub(f.at) > rereadAllAfter:
		err = f.all(ctx, latest < f.seen)
	case !f.twice && now.Sub(f.full) >= slowWriter:
		f.twice = true
		_, err = f.since(ctx, 0)
	case f.twice && early < f.seen && now.Sub(f.reread) >= rereadEvery:
		f.reread = now
		_, err = f.since(ctx, early)
	case latest > f.seen:
		_, err = f.since(ctx, f.seen)
	}
	if err != nil {
		return err
	}
	f.at = now
	if latest != f.seen || len(f.past) == 0 {
		f.past = append(f.past, reading{now, latest})
	}
	f.seen = latest
	for len(f.past) > 1 && now.Sub(f.past[1].at) > sweepAge {
		f.past = f.past[1:]
	}
	return nil
}

// before returns the latest generation that was read up to a time; 0 if that is unknown.
func (f *follower) before(at time.Time) uint64 {
	for _, r := range slices.Backward(f.past) {
		if !r.at.After(at) {
			return r.latest
		}
	}
	return 0
}

// since adopts the changes after a generation, and returns their keys.
func (f *follower) since(ctx context.Context, generation uint64) (keys map[string]struct{}, err error) {
	return f.adoptAll(ctx, generation, supersedes)
}

// adoptAll is since with another rule for what supersedes an entry. If it fails midway, what it has adopted stays:
// the next round reads the same changes again.
func (f *follower) adoptAll(
	ctx context.Context, generation uint64, supersedes func(*origin.Response, *Entry) bool,
) (keys map[string]struct{}, err error) {
	changes, _, err := f.remote.store.Changes(ctx, generation)
	if err != nil {
		return nil, err
	}
	keys = map[string]struct{}{}
	rules := map[*Rule]struct{}{}
	for r, err := range changes {
		if err != nil {
			return nil, err
		}
		keys[r.Key] = struct{}{}
		switch {
		case r.Digest == "":
			f.dropped(r)
		case !f.pendingDrops.has(r.Key):
			if e := f.adopt(r, supersedes); e.Rule != nil {
				rules[e.Rule] = struct{}{}
			}
		}
	}
	for rule := range rules {
		if _, err := f.fit(ctx, rule, nil); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// dropped removes the entry of a key that another process has dropped, unless there is a newer one. An entry
// without a generation is not in the store: only a drop that this round sees for the first time removes it.
func (f *follower) dropped(r origin.Response) {
	removed := f.forget(r.Key, func(e *Entry) bool {
		return e.Generation < r.Generation && (e.Generation > 0 || r.Generation > f.seen)
	})
	if removed {
		f.changed([]string{r.Key})
	}
}

// all reads everything. restored says that generations are not comparable with those before. What the store does not
// have any more was dropped; but if it has nothing at all, it is a new one, which gets what is kept here.
func (f *follower) all(ctx context.Context, restored bool) error {
	accept := supersedes
	if restored {
		accept = func(r *origin.Response, before *Entry) bool {
			return before == nil || before.Generation > 0 || supersedes(r, before)
		}
	}
	old := f.index.all() // before the reading: what this process puts meanwhile may be missing in it
	keys, err := f.adoptAll(ctx, 0, accept)
	if err != nil {
		return err
	}
	unused := len(keys) == 0 && f.unused(ctx)
	for _, e := range old {
		if _, is := keys[e.Key]; is || e.Generation == 0 {
			continue
		}
		if unused {
			r := e.Response
			r.Generation = 0
			f.adopt(r, func(_ *origin.Response, before *Entry) bool { return before == e })
			f.unsaved.Store(true)
			continue
		}
		if f.forget(e.Key, func(current *Entry) bool { return current == e }) {
			f.changed([]string{e.Key})
		}
	}
	f.full, f.twice, f.past = time.Now(), false, nil
	return nil
}

// unused reports whether the store has never had an answer, or none for long. Documents of dropped answers count as
// use until they are swept: such a store is empty because an operator dropped everything.
func (f *follower) unused(ctx context.Context) bool {
	changes, _, err := f.remote.store.Changes(ctx, 1) // dropped ones, too
	if err != nil {
		return errors.Is(err, origin.ErrStale)
	}
	for range changes {
		return false
	}
	return true
}

// sweep removes what was dropped long ago. Other followers have read the drops by then, or will read everything.
func (f *follower) sweep(ctx context.Context) error {
	generation := f.before(time.Now().Add(-sweepAge))
	if generation <= f.swept {
		return nil
	}
	f.swept = generation
	return f.remote.store.Sweep(ctx, generation)
}

// reportDemand reports demand to the store: each key at most once in ten minutes. The store's counts decide what
// Refresh fetches first, in whichever process it runs.
func (f *follower) reportDemand(ctx context.Context) error {
	now := time.Now()
	if now.Sub(f.report) < reportEvery {
		return nil
	}
	f.report = now
	var demand []origin.Demand
	for _, e := range f.index.all() {
		if len(demand) == mostReport {
			break
		}
		if e.Generation > 0 && e.slot.pending.Load() > 0 {
			if d, due := e.slot.demand(e.Key, now); due {
				demand = append(demand, d)
			}
		}
	}
	if len(demand) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	err := f.remote.store.AddDemand(limited, demand)
	f.remote.noteWrite(ctx, err)
	return err
}

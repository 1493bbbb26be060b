package materialize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/rules/backoff"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

const (
	// markPoll is how often versions are compared while no change stream reports changes.
	markPoll = 15 * time.Second
	// markGap is the least time between two writes of marks: each makes answers stale, and a stream reports bursts.
	markGap = time.Second
	// firstLook is the longest time from the beginning of a term to the first look for which a change between them is
	// neglected: it could be missed only the first time that a collection is marked at all.
	firstLook = 2 * time.Second
)

// marker records changes of the collections in kept.Rule.Until that are not views, under one lease. Views need no
// marks: their generations say when they have changed.
type marker struct {
	o       *Options
	lease   origin.Lease
	lost    func(error)  // called if another process holds the lease now
	began   time.Time    // by the wall clock
	marks   origin.Marks // as last read or written; nil if not read yet
	first   bool         // nothing was written yet
	failing bool         // the last attempt failed, and this was logged
	empty   []string     // collections that were empty, as last logged

	wake    chan struct{} // of capacity one: changed or all was set
	mu      sync.Mutex    // guards the rest
	changed map[string]bool
	all     bool // look at all collections, because a stream has opened: it does not report earlier changes
	open    bool // a stream reports changes
}

func newMarker(o *Options, lease origin.Lease, lost func(error)) *marker {
	return &marker{
		o: o, lease: lease, lost: lost, began: o.Now().Round(0), first: true,
		wake: make(chan struct{}, 1), changed: map[string]bool{},
	}
}

// run marks collections until ctx ends.
func (m *marker) run(ctx context.Context) {
	var names []string
	stop := func() {}
	defer func() { stop() }()
	for ctx.Err() == nil {
		// Rules change by a reload, also in this process.
		if now := markedNames(m.o.Keeper.Rules()); !slices.Equal(now, names) {
			stop()
			names = now
			stop = m.follow(ctx, names)
		}
		m.look(ctx, names)
		_ = backoff.Sleep(ctx, markGap) // the loop ends if ctx has ended
		select {
		case <-m.wake:
		case <-time.After(markPoll - markGap):
		case <-ctx.Done():
		}
	}
}

// once compares all collections with their marks.
func (m *marker) once(ctx context.Context) { m.look(ctx, markedNames(m.o.Keeper.Rules())) }

// markedNames returns the source collections that rules depend on, sorted.
func markedNames(all []*kept.Rule) (names []string) {
	for _, rule := range all {
		for _, name := range rule.Until {
			if _, isView := views.Named(name); !isView && name != kept.Today {
				names = append(names, name)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// follow watches collections by a change stream, if the store has them, until stop is called.
func (m *marker) follow(ctx context.Context, names []string) (stop func()) {
	if m.o.Watcher == nil || len(names) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		watchStream(ctx, m.o, names, streamEvents{
			opened:      func() { m.note(func() { m.open, m.all = true, true }) },
			closed:      func() { m.note(func() { m.open = false }) },
			changed:     func(name string) { m.note(func() { m.changed[name] = true }) },
			unsupported: "no change streams: collections that kept answers depend on are compared from time to time",
		})
	})
	return func() { cancel(); watching.Wait() }
}

// note records an event of the stream, and wakes run.
func (m *marker) note(event func()) {
	m.mu.Lock()
	event()
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default: // a signal is already pending
	}
}

// look compares the collections that may have changed with their marks, and writes new marks. What it cannot read or
// write it tries again at the next look.
func (m *marker) look(ctx context.Context, names []string) {
	m.mu.Lock()
	changed, all := maps.Clone(m.changed), m.all || !m.open
	m.mu.Unlock()
	if !all { // the stream is open, and has said what changed
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !changed[name] })
	}
	if err := m.mark(ctx, names, changed); err != nil {
		m.fail(ctx, err)
		return
	}
	m.failing = false
	m.mu.Lock()
	defer m.mu.Unlock()
	// Changes that were reported meanwhile stay: a wake-up is pending for them.
	for name := range changed {
		delete(m.changed, name)
	}
	m.all = m.all && !all
}

// fail logs the first of several failures, and ends the work under a lost lease.
func (m *marker) fail(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, origin.ErrFenced):
		m.lost(err)
	case !m.failing:
		m.failing = true
		m.o.Log.WarnContext(ctx, "mark changes of collections that kept answers depend on", "error", err)
	}
}

// mark writes a new mark for each collection that has changed, according to its version or to a stream.
func (m *marker) mark(ctx context.Context, names []string, changed map[string]bool) (err error) {
	if m.marks == nil { // those of earlier leaders stay, so that a change of leader makes nothing stale
		if m.marks, _, err = m.o.Marks.Marks(ctx); err != nil {
			return fmt.Errorf("read marks: %w", err)
		}
		if m.marks == nil {
			m.marks = origin.Marks{}
		}
	}
	next, looked := maps.Clone(m.marks), m.o.Now().Round(0)
	// Answers that were requested at the start, before there were any marks, need not be requested again.
	first := m.first && looked.Sub(m.began).Abs() < firstLook
	var empty []string
	for _, name := range names {
		version, err := m.o.Marks.Version(ctx, name, m.o.ChangedField)
		if err != nil {
			return err
		}
		if isEmpty(version) {
			empty = append(empty, name)
		}
		before, known := next[name]
		now := looked.UnixMilli()
		if !known && first {
			now = m.began.UnixMilli()
		}
		if text := digestOf(version); !known || before.Version != text || changed[name] {
			next[name] = origin.Mark{At: max(before.At+1, now), Version: text}
		}
	}
	if len(empty) > 0 && !slices.Equal(empty, m.empty) && len(changed) == 0 {
		m.empty = empty
		m.o.Log.InfoContext(ctx, "collections that kept answers depend on are empty", "collections", empty)
	}
	if maps.Equal(next, m.marks) {
		return nil
	}
	if err := m.o.Marks.SetMarks(ctx, m.lease, next); err != nil {
		return fmt.Errorf("write marks: %w", err)
	}
	m.marks, m.first = next, false
	return nil
}

// digestOf returns a version as a short text: its own has values of fields in binary form.
func digestOf(v origin.Version) string {
	sum := sha256.Sum256([]byte(v.Text))
	return hex.EncodeToString(sum[:16])
}

// isEmpty reports whether a collection has no records: an exact version of none is empty, and one by the greatest
// values then has no _id.
func isEmpty(v origin.Version) bool {
	if v.Exact {
		return v.Text == ""
	}
	return raw.IsNone(v.ID)
}

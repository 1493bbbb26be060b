package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/cache/view/snapfile"
	"vitrine/rules"
)

// Options configure a Set.
type Options struct {
	Store origin.Views
	Views []index.Definition
	// Mode is where rows are when requests read them. If empty, Memory. The others need
	// a Store that is an origin.Queries.
	Mode Mode
	// RowBudget bounds the bytes of rows that mode Auto holds in memory; 0 is no bound.
	RowBudget int64
	// Index creates the indexes that queries on views in the store need. The Store must
	// be writable then.
	Index bool
	// MaxShrink is the share of a view's rows, 0 to 1, that may be gone when the view was made
	// anew, or its store was restored. One that has lost more is held. If 0, any may.
	MaxShrink float64
	// Poll is how often the set checks the store for a newer generation; 0 means 2 s.
	Poll time.Duration
	// IndexBudget bounds the bytes held by indexes of all views; 0 means 256 MiB.
	IndexBudget int64
	// BulkBudget bounds the bytes of bulky fragments of all views; 0 means 128 MiB, and a
	// negative value means none.
	BulkBudget int64
	// Strip removes from a row the fields that only Snapshot.Whole shows, and returns the row
	// itself if it has none of them. It is called from several goroutines. If nil, all snapshots
	// are whole.
	Strip func(row bson.Raw) bson.Raw
	// Files is where snapshots are kept on disk.
	Files Files
	// Foreign evaluates what memory does not. If nil, such filters are refused.
	Foreign index.Foreign
	// Logger may be nil: then nothing is logged.
	Logger *slog.Logger
	// OnSwap, if set, is called after a snapshot became current.
	OnSwap func(*Snapshot)
	// OnLoaded, if set, is called once, when every view is loaded and has its words.
	OnLoaded func()
}

// Set holds all views. Its methods are safe for concurrent use.
type Set struct {
	o       Options // with its defaults
	queries origin.Queries
	views   []*view // in the order of definition
	budget  *index.Budget
	room    *room

	preparer atomic.Pointer[Preparer]
	loaded   atomic.Int32  // views that have their first snapshot and its words
	untried  atomic.Int32  // views that were never refreshed
	tried    chan struct{} // closed when untried is 0

	indexers  sync.WaitGroup
	oneByOne  sync.Mutex // held while a view is indexed in the store; guards unindexed
	unindexed bool       // it has failed, and this was logged
}

// Preparer is called with a snapshot that is about to be shown, by the goroutine that
// refreshes its view. The function it returns, if not nil, is called as soon as the
// snapshot is shown. The view waits for both.
type Preparer func(ctx context.Context, next *Snapshot) (shown func())

// Prepare sets the preparer of snapshots and replaces the one before.
func (s *Set) Prepare(p Preparer) { s.preparer.Store(&p) }

// New makes a set whose views are all unloaded; Run loads them.
func New(o Options) (*Set, error) {
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	o.IndexBudget = cmp.Or(o.IndexBudget, 256<<20)
	o.BulkBudget = cmp.Or(o.BulkBudget, 128<<20)
	o.Files.Every = cmp.Or(o.Files.Every, time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	queries, err := o.checkMode()
	if err != nil {
		return nil, err
	}
	if o.Files.Dir != "" {
		if err := snapfile.Prepare(o.Files.Dir); err != nil {
			return nil, err
		}
	}
	s := &Set{
		o: o, queries: queries, budget: index.NewBudget(o.IndexBudget, o.BulkBudget),
		room: &room{limit: o.RowBudget, taken: map[string]int64{}}, tried: make(chan struct{}),
	}
	s.untried.Store(int32(len(o.Views)))
	for _, def := range o.Views {
		if s.view(def.Name) != nil {
			return nil, fmt.Errorf("view %s is defined twice", def.Name)
		}
		v := &view{set: s, def: &def, builder: index.NewBuilder(def, s.budget, o.Foreign), signal: make(chan struct{}, 1)}
		s.views = append(s.views, v)
	}
	return s, nil
}

// view returns the view of that name, nil if there is none.
func (s *Set) view(name string) *view {
	for _, v := range s.views {
		if v.def.Name == name {
			return v
		}
	}
	return nil
}

// graceTime is how much longer than two polls a view counts as confirmed: a refresh with
// many changes takes time.
const graceTime = 5 * time.Second

// Run loads every view and keeps it fresh until ctx ends, then waits for its
// goroutines and returns nil. A view that cannot be read keeps its last snapshot
// and is tried again at the next poll.
func (s *Set) Run(ctx context.Context) error {
	if s.o.Mode == Auto {
		s.loadInTurn(ctx)
	}
	var wg sync.WaitGroup
	for _, v := range s.views {
		wg.Go(func() { s.keep(ctx, v) })
	}
	if s.o.Files.Dir != "" {
		wg.Go(func() { s.writeFiles(ctx) })
	}
	wg.Wait()
	s.indexers.Wait()
	return nil
}

// keep refreshes one view at every poll and signal.
func (s *Set) keep(ctx context.Context, v *view) {
	ticker := time.NewTicker(s.o.Poll)
	defer ticker.Stop()
	if s.o.Mode != Auto { // loadInTurn did
		s.readFile(v)
	}
	for searchable := false; ; {
		s.refresh(ctx, v)
		if !searchable && ctx.Err() == nil {
			searchable = v.warmWords()
			if searchable && int(s.loaded.Add(1)) == len(s.views) && s.o.OnLoaded != nil {
				s.o.OnLoaded()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-v.signal:
		}
	}
}

func (s *Set) refresh(ctx context.Context, v *view) {
	began := time.Now()
	swapped, err := v.refresh(ctx)
	var before error
	v.update(func(s *state) {
		before, s.err = s.err, err
		if err == nil {
			s.checked = time.Now()
		}
	})
	if !v.tried {
		if v.tried = true; s.untried.Add(-1) == 0 {
			close(s.tried)
		}
	}
	if swapped != nil {
		s.o.Logger.Info("view swapped", "view", v.def.Name, "generation", swapped.meta.Generation,
			"rows", swapped.Len(), "segments", v.status().Segments, "took", time.Since(began))
		if n := swapped.missing(); n > 0 {
			s.o.Logger.Warn("rows left out: the store does not have them as they were written, the next run renders them again",
				"view", v.def.Name, "rows", n)
		}
		if s.o.OnSwap != nil {
			s.o.OnSwap(swapped)
		}
		s.indexStored(ctx, v, swapped)
	}
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
	case held(err) != nil && (before == nil || before.Error() != err.Error()):
		s.o.Logger.Warn("view held", "view", v.def.Name, "error", err)
	case err != nil && before == nil:
		s.o.Logger.Warn("view not refreshed", "view", v.def.Name, "error", err)
	case err != nil:
		s.o.Logger.Debug("view not refreshed", "view", v.def.Name, "error", err) // the first one was a warning
	}
}

// Notify requests a refresh now; unknown views are ignored. Requests that arrive while
// one is pending are coalesced with it.
func (s *Set) Notify(name string) {
	if v := s.view(name); v != nil {
		select {
		case v.signal <- struct{}{}:
		default:
		}
	}
}

// Snapshot returns the view's current snapshot, or an error of kind
// rules.ErrUnavailable while it was never loaded. Take it once per request.
func (s *Set) Snapshot(name string) (*Snapshot, error) {
	v := s.view(name)
	if v == nil {
		return nil, fmt.Errorf("view %s: %w", name, rules.ErrNotFound)
	}
	if snap := v.current.Load(); snap != nil {
		return snap, nil
	}
	return nil, &rules.Error{Kind: rules.ErrUnavailable, Reason: "view " + name + " is not loaded yet"}
}

// Ready reports whether every view is loaded.
func (s *Set) Ready() bool {
	return !slices.ContainsFunc(s.views, func(v *view) bool { return v.current.Load() == nil })
}

// loadPatience bounds WaitLoaded.
const loadPatience = 5 * time.Minute

// WaitLoaded returns when every view that the store holds has loaded, or failed to, and
// after loadPatience at the latest. Jobs that read all records would only delay the
// first answers.
func (s *Set) WaitLoaded(ctx context.Context) {
	select {
	case <-s.tried:
	case <-time.After(loadPatience):
	case <-ctx.Done():
	}
}

// Status is the state of a view.
type Status struct {
	View       string
	Mode       Mode        // where its rows are: Memory or Store; empty before it is loaded
	Meta       origin.Meta // of the snapshot, but for Checked and Health: those are the newest
	Loaded     time.Time   // when the snapshot was made
	Checked    time.Time   // when the store last answered
	Err        error       // of the last refresh
	Stale      bool        // it is served though the store did not confirm it in time
	Rows       int
	Held       error     // why it does not show what the store has; nil: it does, as far as the store answers
	Missing    int       // rows that the store counts and could not give as they were written
	Filed      time.Time // when the store confirmed what the view's file holds; zero: there is no file
	FileErr    error     // why the last writing failed; nil: it did not
	Segments   int
	IndexPaths int
	IndexBytes int64
	RowBytes   int64
}

// Status returns one entry per view, in the order of definition.
func (s *Set) Status() []Status {
	all := make([]Status, len(s.views))
	for i, v := range s.views {
		all[i] = v.status()
	}
	return all
}

// Load reads one view once, for a command that runs one query.
func Load(ctx context.Context, o Options, def index.Definition) (*Snapshot, error) {
	o.Views = []index.Definition{def}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if _, err := s.views[0].refresh(ctx); err != nil {
		return nil, err
	}
	return s.Snapshot(def.Name)
}

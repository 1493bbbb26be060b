package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
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

// Source is the part of an origin.Store that a Set reads.
type Source interface {
	origin.Views
	origin.Queries
	origin.Indexer
}

// Options configure a Set.
type Options struct {
	// Store has the views; Views says which of them are shown, and how they are ordered, indexed and searched.
	Store Source
	Views []index.Definition
	Mode  Mode // says where requests read rows; if empty, it is Memory
	// RowBudget bounds the bytes of rows that mode Auto holds in memory; 0 means no bound.
	RowBudget int64
	// Index creates the indexes that queries on views in the store need, in a writable Store.
	Index bool
	// MaxShrink is the share of a view's rows, 0 to 1, that may disappear when the view was made anew or its store
	// was restored; otherwise it is held. If 0, any number may disappear.
	MaxShrink float64
	// Poll is how often the set checks the store for a newer generation; 0 means 2 s.
	Poll time.Duration
	// IndexBudget bounds the bytes of the indexes of all views; 0 means 256 MiB. If a quarter of the rows' bytes is
	// more, that bounds them, but at most MostIndexes.
	IndexBudget, MostIndexes int64
	// BulkBudget bounds the bytes of bulky fragments of all views; 0 means 128 MiB, a negative value none.
	BulkBudget int64
	// Strip removes from a row the fields that only Snapshot.Whole shows, and returns a row without them itself.
	// Several goroutines call it. If nil, all snapshots are whole.
	Strip func(row bson.Raw) bson.Raw
	// RowFiles makes empty files without a name, in which larger views are mapped. If nil, or failing, memory holds
	// them.
	RowFiles func() (*os.File, error)
	// Files says where to keep snapshots on disk.
	Files Files
	// Foreign finds records in source collections. If nil, the store is no database that evaluates more filters than
	// memory, which are then refused.
	Foreign Foreign
	// Logger logs events. If nil, nothing is logged.
	Logger   *slog.Logger
	OnSwap   func(*Snapshot) // if set, is called after a snapshot has become current
	OnLoaded func()          // if set, is called once, when every view is loaded and warm
}

// Set holds all views. Its methods are safe for concurrent use.
type Set struct {
	o           Options // with defaults filled in
	views       []*view // in the order of definition
	indexBudget *index.Budget
	rowBudget   *rowBudget

	preparer     atomic.Pointer[Preparer]
	published    atomic.Pointer[map[string]int64] // see Published; a map that is stored does not change
	pending      atomic.Int32                     // views that have not been refreshed yet
	allRefreshed chan struct{}                    // closed when pending is 0

	unmapped   sync.Once      // logs why rows are not mapped
	background sync.WaitGroup // of the goroutines that warm and index views
	warming    sync.Mutex     // held while a view is warmed; guards warmed
	warmed     int            // views whose first snapshot is warm
	oneByOne   sync.Mutex     // held while a view is indexed in the store; guards unindexed
	unindexed  bool           // indexing has failed, and this was logged
}

// Preparer is called with a snapshot that is about to be shown, by the goroutine that refreshes its view. The
// function that it may return is called as soon as the snapshot is shown. The view waits for both. changes are those
// since the snapshot before, of which the rows may be read until the function ends; nil if the view was read whole.
type Preparer func(ctx context.Context, next *Snapshot, changes []index.Change) (shown func())

// Prepare sets the preparer of snapshots, which replaces the previous one. Snapshots that are shown already are not
// prepared.
func (s *Set) Prepare(p Preparer) { s.preparer.Store(&p) }

// New makes a set whose views are not loaded. Run loads them. The error names a view that is defined twice, or a
// folder that cannot be used.
func New(o Options) (*Set, error) {
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	o.IndexBudget = cmp.Or(o.IndexBudget, 256<<20)
	o.BulkBudget = cmp.Or(o.BulkBudget, 128<<20)
	o.Files.Every = cmp.Or(o.Files.Every, time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Mode = cmp.Or(o.Mode, Memory); o.Mode != Auto {
		o.RowBudget = 0
	}
	if o.Files.Dir != "" {
		if err := snapfile.Prepare(o.Files.Dir); err != nil {
			return nil, err
		}
	}
	s := &Set{
		o: o, indexBudget: index.NewBudget(o.IndexBudget, o.BulkBudget),
		rowBudget: &rowBudget{limit: o.RowBudget, reserved: map[string]int64{}}, allRefreshed: make(chan struct{}),
	}
	s.pending.Store(int32(len(o.Views)))
	for _, def := range o.Views {
		if s.view(def.Name) != nil {
			return nil, fmt.Errorf("view %s is defined twice", def.Name)
		}
		v := &view{
			set: s, def: &def, builder: index.NewBuilder(def, s.indexBudget),
			signal: make(chan struct{}, 1), polls: make(chan pollResult, 1),
		}
		v.builder.Files = v.newFiles()
		s.views = append(s.views, v)
	}
	return s, nil
}

// view returns a view by its name, or nil. There are few.
func (s *Set) view(name string) *view {
	for _, v := range s.views {
		if v.def.Name == name {
			return v
		}
	}
	return nil
}

// graceTime is how much longer than two polls a view counts as confirmed: a refresh with many changes takes time.
const graceTime = 5 * time.Second

// Run loads every view and keeps it fresh until ctx ends, then waits for its goroutines and returns nil. A view that
// cannot be read keeps its last snapshot until the next poll.
func (s *Set) Run(ctx context.Context) error {
	if s.o.Mode == Auto {
		s.loadInTurn(ctx)
	}
	var wg sync.WaitGroup
	for _, v := range s.views {
		wg.Go(func() { s.refreshLoop(ctx, v) })
	}
	wg.Go(func() { s.pollLoop(ctx) })
	if s.o.Files.Dir != "" {
		wg.Go(func() { s.writeFiles(ctx) })
	}
	wg.Wait()
	s.background.Wait()
	return nil
}

// refreshLoop refreshes one view at every poll and signal. A panic of lost rows ends a refresh, not the loop.
func (s *Set) refreshLoop(ctx context.Context, v *view) {
	if s.o.Mode != Auto { // in mode Auto, loadInTurn has loaded it
		_ = contain(v.lost, func() { s.readFile(v) }) // the view is read from the store
	}
	var p pollResult // empty at first: the view's file may be newer than an earlier poll
	for warming := false; ; {
		if !p.read || !v.progress.outdated(p) {
			s.refresh(ctx, v, p)
		}
		if !warming && v.current.Load() != nil && ctx.Err() == nil {
			warming = true
			s.background.Go(func() { s.warm(ctx, v) })
		}
		select {
		case <-ctx.Done():
			return
		case p = <-v.polls:
		case <-v.signal:
			p = pollResult{}
		}
	}
}

// warm builds, one view at a time, what the first snapshot is shown without.
func (s *Set) warm(ctx context.Context, v *view) {
	s.warming.Lock()
	defer s.warming.Unlock()
	s.warmFirst(ctx, v, v.current.Load())
	if s.warmed++; s.warmed == len(s.views) && ctx.Err() == nil && s.o.OnLoaded != nil {
		s.o.OnLoaded()
	}
}

// warmFirst builds what a snapshot is shown without. If its rows are lost meanwhile, the next one is warmed.
func (s *Set) warmFirst(ctx context.Context, v *view, snap *Snapshot) {
	if table, resident := snap.Resident(); resident {
		_ = snap.contain(func() { v.builder.WarmFirst(ctx, table) })
	}
}

// refresh refreshes a view once, logs the outcome, and counts the view as refreshed for WaitLoaded.
func (s *Set) refresh(ctx context.Context, v *view, p pollResult) {
	began := time.Now()
	p = v.progress.begin(p)
	swapped, err := v.refreshIntact(ctx, p)
	before := v.progress.end(p, swapped, err)
	if !v.refreshed {
		if v.refreshed = true; s.pending.Add(-1) == 0 {
			close(s.allRefreshed)
		}
	}
	if swapped != nil {
		s.o.Logger.Info("view swapped", "view", v.def.Name, "generation", swapped.meta.Generation,
			"rows", swapped.Len(), "segments", v.status().Segments, "took", time.Since(began))
		if n := swapped.missing(); n > 0 {
			s.o.Logger.Warn("rows left out: they are damaged in the store, the next run renders them again",
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
		// the first failure was logged as a warning
		s.o.Logger.Debug("view not refreshed", "view", v.def.Name, "error", err)
	}
}

// Notify requests a refresh now; unknown views are ignored. Pending requests are coalesced. It never waits.
func (s *Set) Notify(name string) {
	if v := s.view(name); v != nil {
		select {
		case v.signal <- struct{}{}:
		default:
		}
	}
}

// Snapshot returns the view's current snapshot, or rules.ErrUnavailable if it is not loaded, or a MovedError while it
// is read again because its rows were lost. Call it once per request.
func (s *Set) Snapshot(name string) (*Snapshot, error) {
	v := s.view(name)
	if v == nil {
		return nil, fmt.Errorf("view %s: %w", name, rules.ErrNotFound)
	}
	if snap := v.current.Load(); snap != nil {
		if err := snap.lost(); err != nil {
			return nil, err
		}
		return snap, nil
	}
	return nil, &rules.Error{Kind: rules.ErrUnavailable, Reason: "view " + name + " is not loaded yet"}
}

// CurrentMeta returns the meta and the number of rows of the view's current snapshot. Both are zero if the view is
// not loaded.
func (s *Set) CurrentMeta(name string) (at origin.Meta, rows int) {
	if v := s.view(name); v != nil {
		if snap := v.current.Load(); snap != nil {
			return snap.meta, snap.Len()
		}
	}
	return at, 0
}

// Published returns when the views that are shown were published, in Unix milliseconds, by name. It is cheap. The
// caller does not change the map.
func (s *Set) Published() map[string]int64 {
	if all := s.published.Load(); all != nil {
		return *all
	}
	return nil
}

// recordPublished records that a view is shown at a generation.
func (s *Set) recordPublished(at origin.Meta) {
	for { // several views may change at the same time
		before := s.published.Load()
		next := map[string]int64{}
		if before != nil {
			maps.Copy(next, *before)
		}
		next[at.View] = at.Published.UnixMilli()
		if s.published.CompareAndSwap(before, &next) {
			return
		}
	}
}

// Ready reports whether every view is loaded. It stays true once it is: a view that cannot be refreshed keeps its
// snapshot.
func (s *Set) Ready() bool {
	return !slices.ContainsFunc(s.views, func(v *view) bool { return v.current.Load() == nil })
}

// loadPatience bounds WaitLoaded.
const loadPatience = 5 * time.Minute

// WaitLoaded waits until every view in the store has loaded, or has failed to, but at most for loadPatience, because
// jobs that read all records would only delay the first answers.
func (s *Set) WaitLoaded(ctx context.Context) {
	select {
	case <-s.allRefreshed:
	case <-time.After(loadPatience):
	case <-ctx.Done():
	}
}

// Status is the state of a view.
type Status struct {
	// View is the name of the view.
	View    string
	Mode    Mode        // where its rows are: Memory or Store; empty before the view is loaded
	Meta    origin.Meta // meta of the snapshot, but Checked and Health are the newest
	Loaded  time.Time   // when the snapshot was made
	Checked time.Time   // when the store last answered
	Err     error       // error of the last refresh
	Stale   bool        // the view is served although the store did not confirm it in time
	// Rows of the snapshot, in memory or in the store.
	Rows int
	// why the view does not show the store's generation; nil if it does, or the store does not answer
	Held          error
	Missing       int       // rows that the store counts but cannot return undamaged
	FileConfirmed time.Time // when the store confirmed the snapshot in the view's file; zero if there is no file
	FileErr       error     // why the last write of the file failed, or nil
	// Of the table: its segments, and what is derived from its rows; 0 for rows in the store.
	Segments   int
	IndexPaths int
	IndexBytes int64
	Lost       uint64 // how often mapped rows were altered or could not be read, so that the view was read again
	// Bytes of the rows in memory or in mapped files, replaced ones included; 0 for rows in the store.
	RowBytes int64
	// MappedBytes are the bytes of rows and fragments in mapped files, those of replaced rows too while they are in
	// use.
	MappedBytes int64
}

// Status returns one entry per view, in the order of definition.
func (s *Set) Status() []Status {
	all := make([]Status, len(s.views))
	for i, v := range s.views {
		all[i] = v.status()
	}
	return all
}

// Load reads one view once, for a command that runs one query. The error is that of New, of reading the view, or
// rules.ErrUnavailable if the store does not have it.
func Load(ctx context.Context, o Options, def index.Definition) (*Snapshot, error) {
	o.Views = []index.Definition{def}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if _, err := s.views[0].refresh(ctx, pollResult{}); err != nil {
		return nil, err
	}
	return s.Snapshot(def.Name)
}

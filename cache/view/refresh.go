package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/raw"
)

// view is one view of a Set: the current snapshot, and what its refreshing goroutine needs to make the next one.
type view struct {
	set     *Set
	def     *index.Definition
	builder *index.Builder  // used by the refreshing goroutine only, except Row
	signal  chan struct{}   // of capacity one: signals are coalesced
	polls   chan pollResult // of capacity one: a later poll replaces an earlier one

	current  atomic.Pointer[Snapshot]
	rowBytes atomic.Int64  // bytes of the rows that are, or are about to be, in memory
	losses   atomic.Uint64 // how often rows in mapped files were lost
	// Only the refreshing goroutine uses these:
	fromFile  *Snapshot // a snapshot from a file, not shown before the first refresh; nil if there is none
	refreshed bool      // the view was refreshed at least once
	stripped  bool      // a row in memory lacks fields, or has lacked some
	editions  int       // how often rows were lost
	// why the store's generation is not shown; nil if it is shown, or the store has never answered
	held  *HeldError
	retry time.Time // when to read, or count, a view with missing rows again
	// the last generation that was found unsettled, and when it was first found so
	unsettledAt    origin.Meta
	unsettledSince time.Time
	countedAt      fingerprints // fingerprints before the rows in the store were last counted

	progress progress

	indexing sync.Mutex   // held while the view is indexed in the store; guards indexed
	indexed  *origin.Meta // the generation at which the view was last indexed; nil if it was not
}

// pollLoop polls until ctx ends.
func (s *Set) pollLoop(ctx context.Context) {
	ticker := time.NewTicker(s.o.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.poll(ctx)
		}
	}
}

// poll reads the metas of all views by one request, and passes each view its own. One request for each view would
// cost the store more, and there may be many idle front ends. poll does not wait for the views, because one may be
// loading.
func (s *Set) poll(ctx context.Context) {
	began, next := time.Now(), make([]pollResult, len(s.views))
	for i, v := range s.views {
		number := v.progress.update(func(s *state) { s.begun++ }).begun
		next[i] = pollResult{number: number, began: began, read: true, meta: origin.Meta{View: v.def.Name}}
	}
	metas, err := s.o.Store.Metas(ctx)
	var all string
	var allErr error
	if err == nil && slices.ContainsFunc(s.views, (*view).asksStore) {
		all, allErr = s.o.Store.Fingerprint(ctx, "")
	}
	if err != nil {
		metas = nil // some may have been read before the error
	}
	for i, v := range s.views {
		p := &next[i]
		p.err, p.all, p.allErr = err, all, allErr
		for _, meta := range metas {
			if meta.View == v.def.Name {
				p.meta, p.err = meta, meta.Err
			}
		}
		v.replacePoll(*p)
	}
}

// replacePoll passes a result to the view, and drops an earlier one that the view has not taken yet. Only the polling
// goroutine calls it.
func (v *view) replacePoll(p pollResult) {
	select {
	case <-v.polls:
	default:
	}
	v.polls <- p
}

// asksStore reports whether requests may ask the store for rows of the current snapshot. If no view does, polls
// need no fingerprint.
func (v *view) asksStore() bool {
	snap := v.current.Load()
	return snap != nil && snap.stored() != nil
}

// refresh brings the view to the store's generation and returns the new snapshot, or nil if there was none. With an
// error, it may show a snapshot from a file. Errors are a *HeldError and the store's. One goroutine at a time calls
// it: the view's, or loadInTurn before that begins.
func (v *view) refresh(ctx context.Context, p pollResult) (next *Snapshot, err error) {
	meta, err := p.meta, p.err
	if !p.read {
		meta, err = v.set.o.Store.Meta(ctx, v.def.Name)
	}
	if err == nil {
		v.progress.update(func(s *state) { s.newest = meta })
	}
	shown, fromFile := v.current.Load(), v.fromFile
	if v.fromFile = nil; fromFile != nil {
		shown = fromFile
	}
	if shown != nil {
		_ = shown.Intact() // so that lost rows are not served even if the store is away
	}
	if err == nil {
		next, err = v.advance(ctx, shown, meta, p)
	}
	if h := held(err); h != nil || err == nil {
		v.held = h
	}
	if fromFile != nil && next == nil && fromFile.lost() == nil {
		next = v.showFromFile(ctx, fromFile, err)
	}
	if fromFile != nil {
		table, _ := fromFile.Resident()
		table.ReplacedBy(v.table()) // drops the indexes from the file unless they are in use
	}
	return next, err
}

// advance makes and shows the snapshot that follows shown, which is nil at first. It returns nil if nothing is new.
//
// A damaged view is read again only after a while, since reading it is costly. If the meta does not surely follow
// the snapshot, for example since the store was restored, a delta could miss changes, and load reads everything.
func (v *view) advance(ctx context.Context, shown *Snapshot, meta origin.Meta, p pollResult) (*Snapshot, error) {
	h := v.held
	if h.damaged() && meta.Is(h.Meta) == nil && time.Now().Before(v.retry) &&
		!v.accepts(meta, h.Missing, h.inconsistent) {
		return nil, h
	}
	if shown == nil {
		if meta.Generation == 0 {
			return nil, nil
		}
		return v.load(ctx, nil, meta)
	}
	if v.mustLoad(shown) {
		return v.load(ctx, shown, meta)
	}
	_, resident := shown.Resident()
	switch follows, sure := meta.Follows(shown.meta); {
	case follows && meta.Generation == shown.meta.Generation:
		return v.recount(ctx, shown, meta, p)
	case follows && !resident:
		return v.follow(ctx, meta)
	case follows && sure:
		return v.delta(ctx, shown)
	}
	return v.load(ctx, shown, meta)
}

// load reads the whole view, or shows it from the store, in place of shown. It checks a newer meta, too.
//
// It may run in three phases: it reads until the rows exceed the budget, then decides whether the view may be
// shown, and shows it from memory or from the store. The rows of the snapshot that is shown stay in memory
// meanwhile.
func (v *view) load(ctx context.Context, shown *Snapshot, meta origin.Meta) (*Snapshot, error) {
	if err := v.mayReplace(shown, meta); err != nil {
		return nil, err
	}
	if v.set.o.Mode == Store {
		return v.showStored(ctx, meta)
	}
	began := time.Now()
	v.leaveLost()
	l := &loader{view: v}
	defer l.wait()
	meta, err := v.read(ctx, 0, func(i int, row origin.Row) error {
		l.put(i, row.Doc)
		if !v.set.rowBudget.reserve(v.def.Name, l.total) {
			return errTooLarge
		}
		return nil
	})
	var inconsistent error
	if errors.Is(err, origin.ErrInconsistent) {
		inconsistent, err = err, nil
	}
	large := errors.Is(err, errTooLarge)
	if large {
		meta, err = v.set.o.Store.Meta(ctx, v.def.Name)
	}
	if err == nil {
		err = v.mayReplace(shown, meta)
	}
	if err == nil && large {
		return v.moveToStore(ctx, meta)
	}
	if err != nil {
		return nil, err
	}
	docs := l.rows()
	if err := v.complete(meta, len(docs), inconsistent, began); err != nil {
		return nil, err
	}
	v.stripped = l.stripped
	return v.swap(ctx, v.snapshotOf(meta, v.builder.Load(docs)), nil), nil
}

// delta reads the changes since shown and applies them. It reads the whole view if the store no longer has all
// changes. Fewer rows than the meta counts mean that changes are missing, and the whole view is read too.
func (v *view) delta(ctx context.Context, shown *Snapshot) (*Snapshot, error) {
	l := &loader{view: v}
	defer l.wait()
	var changes []index.Change
	meta, err := v.read(ctx, shown.meta.Generation, func(i int, row origin.Row) error {
		if i == len(changes) {
			// a copy, which does not keep the row in memory
			changes = append(changes, index.Change{ID: raw.Clone(row.ID)})
		}
		l.put(i, row.Doc)
		return nil
	})
	follows, _ := meta.Follows(shown.meta)
	switch {
	case errors.Is(err, origin.ErrStale), errors.Is(err, origin.ErrInconsistent), err == nil && !follows:
		return v.load(ctx, shown, shown.meta)
	case err != nil:
		return nil, err
	}
	for i, doc := range l.versions() {
		changes[i].Doc = doc
	}
	v.stripped = l.stripped || v.stripped
	next := v.builder.Apply(changes)
	if next.Len() < meta.Rows {
		return v.load(ctx, shown, shown.meta)
	}
	fits := v.set.rowBudget.reserve(v.def.Name, next.RowBytes())
	if !fits { // without the replaced rows it may fit
		next = v.builder.Fold()
		fits = v.set.rowBudget.reserve(v.def.Name, next.RowBytes())
	}
	if !fits {
		return v.moveToStore(ctx, meta)
	}
	return v.swap(ctx, v.snapshotOf(meta, next), changes), nil
}

// read calls put with each row after a generation and with the number of its id, counted from 0. If an id comes
// several times, the last version counts.
func (v *view) read(ctx context.Context, since uint64, put func(i int, row origin.Row) error) (origin.Meta, error) {
	numbers := make(map[string]int) // by id
	meta, err := v.set.o.Store.Rows(ctx, v.def.Name, since, func(r origin.Row) error {
		key := raw.Key(r.ID)
		i, again := numbers[key]
		if !again {
			i = len(numbers)
			numbers[key] = i
		}
		return put(i, r)
	})
	if err != nil {
		return meta, fmt.Errorf("read rows of view %s after generation %d: %w", v.def.Name, since, err)
	}
	return meta, nil
}

// swap warms and prepares the next snapshot, then shows it. changes are as for a Preparer. Until then the previous
// snapshot answers requests.
//
// The order matters. The preparer sees the snapshot before requests do, so that what depends on its rows is ready
// with it. The builder is prepared for the next delta last, when nothing waits for it. Indexes of the replaced rows
// go after that.
func (v *view) swap(ctx context.Context, next *Snapshot, changes []index.Change) *Snapshot {
	next.loaded = time.Now()
	before := v.table()
	table, resident := next.Resident()
	waited := v.current.Load() != nil && v.current.Load().lost() != nil
	if resident {
		v.rowBytes.Store(table.RowBytes())
		v.set.fitIndexes()
		if !waited {
			v.builder.Warm(ctx, before, table)
		}
	}
	var shown func()
	if prepare := v.set.preparer.Load(); prepare != nil {
		shown = (*prepare)(ctx, next, changes)
	}
	v.progress.update(func(s *state) {
		if s.checked.IsZero() { // what precedes the end of the first refresh may take seconds
			s.checked = next.loaded
		}
	})
	v.current.Store(next)
	v.set.recordPublished(next.meta)
	if shown != nil {
		shown()
	}
	if resident && waited { // as at the start: clients wait for it
		v.set.background.Go(func() { v.set.warmFirst(ctx, v, next) })
	}
	if resident {
		v.builder.Prepare()
	}
	if before != nil {
		before.ReplacedBy(table)
	}
	return next
}

// fitIndexes sets the budget of indexes from the bytes of the rows of all views. Each view calls it when its rows
// change, and all views share the budget.
func (s *Set) fitIndexes() {
	rows := int64(0)
	for _, v := range s.views {
		rows += v.rowBytes.Load()
	}
	s.indexBudget.Resize(max(s.o.IndexBudget, min(rows/4, s.o.MostIndexes)))
}

// table returns the rows of the current snapshot in memory, or nil.
func (v *view) table() *index.Table {
	if snap := v.current.Load(); snap != nil {
		table, _ := snap.Resident()
		return table
	}
	return nil
}

// status returns the state of the view. It reads the snapshot after the state, so it may show a newer generation.
func (v *view) status() Status {
	known := v.progress.known()
	st := Status{View: v.def.Name, Checked: known.checked, Err: known.err, Lost: v.losses.Load()}
	if snap := v.current.Load(); snap != nil {
		st.Meta, st.Loaded, st.Rows, st.Missing = snap.meta, snap.loaded, snap.Len(), snap.missing()
		st.Mode = Store
		if table, resident := snap.Resident(); resident {
			st.Mode, st.FileConfirmed, st.FileErr = Memory, known.file.confirmed, known.file.err
			st.Segments, st.RowBytes, st.MappedBytes = table.Segments(), table.RowBytes(), snap.files.Bytes()
			st.IndexPaths, st.IndexBytes = table.Indexes()
		}
		st.Stale = st.Err != nil || time.Since(st.Checked) > 2*v.set.o.Poll+graceTime
	}
	if h := held(known.err); h != nil {
		st.Held, st.Missing = h, h.Missing
	}
	// A run that changed nothing, or failed, makes no generation, so the health of jobs comes from the newest meta.
	st.Meta.Checked, st.Meta.Health = known.newest.Checked, known.newest.Health
	return st
}

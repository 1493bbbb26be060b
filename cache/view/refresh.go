package view

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/rules/raw"
)

// view is one view of a Set: the current snapshot, and what its refreshing
// goroutine needs to make the next one.
type view struct {
	set     *Set
	def     *index.Definition
	builder *index.Builder // of the refreshing goroutine, but for Row
	signal  chan struct{}  // of capacity one: signals are coalesced

	current atomic.Pointer[Snapshot]
	// Touched by the refreshing goroutine only:
	fromFile *Snapshot  // from a file, not shown yet, until the first refresh; nil: none
	tried    bool       // it was refreshed at least once
	stripped bool       // some row in memory lacks fields, or has lacked some
	held     *HeldError // why the store's generation is not shown; nil: it is, or the store never answered
	retry    time.Time  // when to read a view again that had rows missing

	mu    sync.Mutex // guards state
	state state

	indexing sync.Mutex // held while the view is indexed in the store; guards indexed
	indexed  string     // the epoch in which it was
}

// state is the state of a view beside its snapshot.
type state struct {
	newest   origin.Meta // the newest that the store returned
	checked  time.Time   // when a refresh last succeeded
	err      error       // of the last refresh
	accepted origin.Meta // what Force lets through; Generation 0: nothing
	file     fileState
}

// update changes the state, and returns it.
func (v *view) update(change func(*state)) state {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.state)
	return v.state
}

// known returns the state.
func (v *view) known() state { return v.update(func(*state) {}) }

// refresh brings the view to the store's generation and returns the new
// snapshot, or nil if there was nothing new. If the store does not answer, or the view is
// held, it may show a snapshot from a file: then it returns an error, too.
func (v *view) refresh(ctx context.Context) (next *Snapshot, err error) {
	meta, err := v.set.o.Store.Meta(ctx, v.def.Name)
	if err != nil {
		err = fmt.Errorf("read meta of view %s: %w", v.def.Name, err)
	} else {
		v.update(func(s *state) { s.newest = meta })
	}
	shown, filed := v.current.Load(), v.fromFile
	if v.fromFile = nil; filed != nil {
		shown = filed
	}
	if err == nil {
		next, err = v.advance(ctx, shown, meta)
	}
	if h := held(err); h != nil || err == nil {
		v.held = h
	}
	if filed != nil && next == nil {
		next = v.showFiled(ctx, filed, err)
	}
	return next, err
}

// advance makes the snapshot that follows one, nil before the first, and shows it. It returns
// nil if there is nothing new.
func (v *view) advance(ctx context.Context, shown *Snapshot, meta origin.Meta) (*Snapshot, error) {
	if h := v.held; h != nil && h.Missing > 0 && meta.Is(h.Meta) == nil && time.Now().Before(v.retry) && !v.accepts(meta) {
		return nil, h
	}
	if shown == nil {
		if meta.Generation == 0 {
			return nil, nil
		}
		return v.load(ctx, nil, meta)
	}
	_, resident := shown.Resident()
	switch follows, sure := meta.Follows(shown.meta); {
	case follows && meta.Generation == shown.meta.Generation:
		return nil, nil
	case follows && !resident:
		return v.follow(ctx, meta)
	case follows && sure:
		return v.delta(ctx, shown)
	}
	return v.load(ctx, shown, meta)
}

// load reads the whole view, or shows it where it is stored, in place of the snapshot that is
// shown. What the store has by the time it is read is checked as what it had before.
func (v *view) load(ctx context.Context, shown *Snapshot, meta origin.Meta) (*Snapshot, error) {
	if err := v.mayReplace(shown, meta); err != nil {
		return nil, err
	}
	if v.set.o.Mode == Store {
		return v.showStored(ctx, meta)
	}
	began := time.Now()
	rows, meta, err := v.read(ctx, 0)
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
	docs := make([]bson.Raw, 0, len(rows))
	for _, row := range rows {
		if row.Doc != nil {
			docs = append(docs, row.Doc)
		}
	}
	if err == nil {
		err = v.complete(meta, len(docs), began)
	}
	if err != nil {
		return nil, err
	}
	v.stripped = false
	v.strip(len(docs), func(i int) *bson.Raw { return &docs[i] })
	return v.swap(ctx, v.snapshotOf(meta, v.builder.Load(docs))), nil
}

// delta reads what changed since the snapshot that is shown and applies it, or reads the
// whole view if the store no longer has that, or not all of it.
func (v *view) delta(ctx context.Context, shown *Snapshot) (*Snapshot, error) {
	changes, meta, err := v.read(ctx, shown.meta.Generation)
	follows, _ := meta.Follows(shown.meta)
	switch {
	case errors.Is(err, origin.ErrStale), err == nil && !follows:
		return v.load(ctx, shown, shown.meta)
	case err != nil:
		return nil, err
	}
	v.strip(len(changes), func(i int) *bson.Raw { return &changes[i].Doc })
	next := v.builder.Apply(changes)
	if next.Len() < meta.Rows {
		return v.load(ctx, shown, shown.meta)
	}
	fits := v.set.room.take(v.def.Name, next.RowBytes())
	if !fits { // without the rows that were replaced it may
		next = v.builder.Fold()
		fits = v.set.room.take(v.def.Name, next.RowBytes())
	}
	if !fits {
		return v.moveToStore(ctx, meta)
	}
	return v.swap(ctx, v.snapshotOf(meta, next)), nil
}

// read collects the rows after a generation, of each id the version that comes last, in
// the store's order. A whole view takes its room as it is read.
func (v *view) read(ctx context.Context, since uint64) ([]index.Change, origin.Meta, error) {
	var rows []index.Change
	at := make(map[string]int) // by id
	bytes := int64(0)
	meta, err := v.set.o.Store.Rows(ctx, v.def.Name, since, func(r origin.Row) error {
		key := raw.Key(r.ID)
		i, again := at[key]
		if !again {
			i = len(rows)
			at[key] = i
			rows = append(rows, index.Change{})
		}
		bytes += int64(len(r.Doc)) - int64(len(rows[i].Doc))
		rows[i] = index.Change{ID: r.ID, Doc: r.Doc}
		if since == 0 && !v.set.room.take(v.def.Name, bytes) {
			return errTooLarge
		}
		return nil
	})
	if err != nil {
		return nil, meta, fmt.Errorf("read rows of view %s after generation %d: %w", v.def.Name, since, err)
	}
	return rows, meta, nil
}

// swap warms and prepares the next snapshot, then shows it. Requests are answered from
// the one before until then; those that still hold it keep it.
func (v *view) swap(ctx context.Context, next *Snapshot) *Snapshot {
	next.loaded = time.Now()
	before := v.table()
	table, resident := next.Resident()
	if resident {
		v.builder.Warm(ctx, before, table)
	}
	var shown func()
	if prepare := v.set.preparer.Load(); prepare != nil {
		shown = (*prepare)(ctx, next)
	}
	v.current.Store(next)
	if shown != nil {
		shown()
	}
	if before != nil {
		before.ReplacedBy(table)
	}
	return next
}

// warmWords builds the words of the first snapshot, which is shown without them. It
// returns false if there is no snapshot yet.
func (v *view) warmWords() bool {
	if table := v.table(); table != nil {
		v.builder.WarmWords(table)
	}
	return v.current.Load() != nil
}

// table returns the rows of the current snapshot in memory, nil if there are none.
func (v *view) table() *index.Table {
	if snap := v.current.Load(); snap != nil {
		table, _ := snap.Resident()
		return table
	}
	return nil
}

func (v *view) status() Status {
	known := v.known()
	st := Status{View: v.def.Name, Checked: known.checked, Err: known.err}
	if snap := v.current.Load(); snap != nil {
		st.Meta, st.Loaded, st.Rows, st.Missing = snap.meta, snap.loaded, snap.Len(), snap.missing()
		st.Mode = Store
		if table, resident := snap.Resident(); resident {
			st.Mode, st.Filed, st.FileErr = Memory, known.file.confirmed, known.file.err
			st.Segments, st.RowBytes = table.Segments(), table.RowBytes()
			st.IndexPaths, st.IndexBytes = table.Indexes()
		}
		st.Stale = st.Err != nil || time.Since(st.Checked) > 2*v.set.o.Poll+graceTime
	}
	if h := held(known.err); h != nil {
		st.Held, st.Missing = h, h.Missing
	}
	// A run that changed nothing, or failed, makes no generation: the health of jobs comes
	// from the newest meta, whatever is loaded.
	st.Meta.Checked, st.Meta.Health = known.newest.Checked, known.newest.Health
	return st
}

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
	builder *index.Builder // of the refreshing goroutine, but for Window
	signal  chan struct{}  // of capacity one: signals are coalesced

	current atomic.Pointer[Snapshot]
	// Touched by the refreshing goroutine only:
	fromFile *fileSnapshot // from a file, until the first refresh; nil: none
	tried    bool          // it was refreshed at least once
	stripped bool          // some row in memory lacks fields, or has lacked some

	mu      sync.Mutex  // guards the following
	newest  origin.Meta // the newest that the store returned
	checked time.Time
	err     error
	file    fileState

	indexing sync.Mutex // held while the view is indexed in the store; guards indexed
	indexed  string     // the epoch in which it was
}

// refresh brings the view to the store's generation and returns the new
// snapshot, or nil if there was nothing new. If the store does not answer, it may show a
// snapshot from a file: then it returns an error, too.
func (v *view) refresh(ctx context.Context) (*Snapshot, error) {
	meta, err := v.set.o.Store.Meta(ctx, v.def.Name)
	if err != nil {
		err = fmt.Errorf("read meta of view %s: %w", v.def.Name, err)
	} else {
		v.recordMeta(meta)
	}
	switch {
	case v.fromFile != nil:
		return v.resume(ctx, meta, err)
	case err != nil:
		return nil, err
	}
	cur := v.current.Load()
	switch {
	case meta.Generation == 0:
		return nil, nil
	case v.set.o.Mode == Store && (cur == nil || cur.meta.Epoch != meta.Epoch):
		return v.showStored(ctx, meta), nil
	case cur == nil || cur.meta.Epoch != meta.Epoch:
		return v.load(ctx)
	case meta.Generation == cur.meta.Generation:
		return nil, nil
	case meta.Generation < cur.meta.Generation:
		return nil, fmt.Errorf("view %s went back from generation %d to %d: keeping the newer one",
			v.def.Name, cur.meta.Generation, meta.Generation)
	case cur.memory == nil:
		return v.follow(ctx, meta)
	}
	next, err := v.delta(ctx, cur.meta)
	if errors.Is(err, origin.ErrStale) {
		return v.load(ctx)
	}
	return next, err
}

// load reads the whole view.
func (v *view) load(ctx context.Context) (*Snapshot, error) {
	rows, meta, err := v.read(ctx, 0)
	if errors.Is(err, errTooLarge) {
		if meta, err = v.set.o.Store.Meta(ctx, v.def.Name); err == nil {
			return v.moveToStore(ctx, meta), nil
		}
	}
	if err != nil {
		return nil, err
	}
	v.stripped = false
	docs := make([]bson.Raw, 0, len(rows))
	for _, r := range rows {
		if r.Doc != nil {
			docs = append(docs, r.Doc)
		}
	}
	v.strip(docs)
	return v.swap(ctx, v.resident(meta, v.builder.Load(docs))), nil
}

// delta reads what changed since the builder's last snapshot and applies it.
func (v *view) delta(ctx context.Context, from origin.Meta) (*Snapshot, error) {
	rows, meta, err := v.read(ctx, from.Generation)
	if err != nil {
		return nil, err
	}
	if meta.Epoch != from.Epoch {
		return nil, origin.ErrStale
	}
	docs := make([]bson.Raw, len(rows))
	for i, r := range rows {
		docs[i] = r.Doc
	}
	v.strip(docs)
	changes := make([]index.Change, len(rows))
	for i, r := range rows {
		changes[i] = index.Change{ID: r.ID, Doc: docs[i]}
	}
	next := v.builder.Apply(changes)
	fits := v.set.room.take(v.def.Name, next.RowBytes())
	if !fits { // without the rows that were replaced it may
		next = v.builder.Fold()
		fits = v.set.room.take(v.def.Name, next.RowBytes())
	}
	if !fits {
		return v.moveToStore(ctx, meta), nil
	}
	return v.swap(ctx, v.resident(meta, next)), nil
}

// read collects the rows after a generation, the newest version of each id, in the
// store's order. A whole view takes its room as it is read.
func (v *view) read(ctx context.Context, since uint64) ([]origin.Row, origin.Meta, error) {
	var rows []origin.Row
	at := make(map[string]int32) // by id
	bytes := int64(0)
	meta, err := v.set.o.Store.Rows(ctx, v.def.Name, since, func(r origin.Row) error {
		bytes += int64(len(r.Doc))
		key := raw.Key(r.ID)
		i, again := at[key]
		switch {
		case !again:
			at[key] = int32(len(rows))
			rows = append(rows, r)
		case rows[i].Generation <= r.Generation:
			bytes -= int64(len(rows[i].Doc))
			rows[i] = r
		default:
			bytes -= int64(len(r.Doc))
		}
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
	var before *index.Snapshot
	if cur := v.current.Load(); cur != nil {
		before = cur.memory
	}
	if next.memory != nil {
		v.builder.Warm(ctx, before, next.memory)
	}
	shown := v.set.prepare(ctx, next)
	v.current.Store(next)
	shown()
	v.set.budget.Replaced(before, next.memory)
	return next
}

// warmWords builds the words of the first snapshot, which is shown without them. It
// returns false if there is no snapshot yet.
func (v *view) warmWords() bool {
	first := v.current.Load()
	if first == nil {
		return false
	}
	if first.memory != nil {
		v.builder.WarmWords(first.memory)
	}
	return true
}

func (v *view) recordMeta(meta origin.Meta) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.newest = meta
}

// recordRefresh records the outcome of a refresh and returns that of the one before.
func (v *view) recordRefresh(err error) (before error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before, v.err = v.err, err
	if err == nil {
		v.checked = time.Now()
	}
	return before
}

func (v *view) status() Status {
	v.mu.Lock()
	st := Status{View: v.def.Name, Checked: v.checked, Err: v.err}
	newest, file := v.newest, v.file
	v.mu.Unlock()
	if snap := v.current.Load(); snap != nil {
		st.Meta, st.Loaded, st.Rows, st.Missing = snap.meta, snap.loaded, snap.Len(), snap.missing()
		st.Segments = snap.segments()
		if st.Mode = Store; snap.memory != nil {
			st.Mode, st.Filed, st.FileErr = Memory, file.confirmed, file.err
			st.RowBytes = snap.memory.RowBytes()
			st.IndexPaths, st.IndexBytes = snap.memory.Indexes()
		}
		st.Stale = st.Err != nil || time.Since(st.Checked) > 2*v.set.o.Poll+graceTime
	}
	// A run that changed nothing, or failed, makes no generation: the health of jobs comes
	// from the newest meta, whatever is loaded.
	st.Meta.Checked, st.Meta.Health = newest.Checked, newest.Health
	return st
}

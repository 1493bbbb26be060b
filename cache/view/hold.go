package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/cache/origin"
)

// HeldError says why a view keeps its snapshot instead of showing the store's generation: too many of its rows would
// disappear, or rows that the store counts are missing.
type HeldError struct {
	Meta    origin.Meta // meta of the view in the store; Generation is 0 if the store does not have the view
	Missing int         // rows that Meta counts but the store lacks
	reason  string
}

func (e *HeldError) Error() string { return fmt.Sprintf("view %s is held: %s", e.Meta.View, e.reason) }

func held(err error) *HeldError {
	e, _ := errors.AsType[*HeldError](err)
	return e
}

// mayReplace returns nil if the view may show the store's generation in place of a snapshot, which is nil at first. A
// publication that follows the snapshot may remove any number of rows. Otherwise the view was made anew or the store
// was restored from a backup: then only a forced run, published after the snapshot, may.
func (v *view) mayReplace(shown *Snapshot, meta origin.Meta) error {
	if meta.Generation == 0 {
		return &HeldError{Meta: meta, reason: "the store no longer has it"}
	}
	if shown == nil || v.accepts(meta, 0) {
		return nil
	}
	before, rows, limit := shown.meta, shown.Len(), v.set.o.MaxShrink
	follows, _ := meta.Follows(before)
	h := v.held // forced while the view was held, whatever the clocks of hosts show
	if follows || meta.Forced.After(before.Published) || h != nil && h.Meta.Epoch == meta.Epoch && meta.Forced.After(h.Meta.Forced) {
		return nil
	}
	if meta.Epoch == before.Epoch && !meta.Published.After(before.Published) && !meta.Checked.After(before.Published) {
		return &HeldError{Meta: meta, reason: fmt.Sprintf("the store has gone back from generation %d to %d: "+
			"it was restored from a backup, or lags; the next run decides", before.Generation, meta.Generation)}
	}
	if limit > 0 && float64(rows-meta.Rows) > limit*float64(rows) {
		return &HeldError{Meta: meta, reason: fmt.Sprintf("the store has %d rows of it where %d are shown, a loss of more than "+
			"the permitted %.4g %%: these stay until there are more, or it is forced", meta.Rows, rows, limit*100)}
	}
	return nil
}

// accepts reports whether Set.Force has accepted a generation without some of its rows. It was told of so many missing
// rows; if the store loses more before the view can be read, the caller must decide again.
func (v *view) accepts(meta origin.Meta, missing int) bool {
	accepted := v.known().accepted
	return accepted != nil && meta.Is(accepted.Meta) == nil && missing <= accepted.Missing
}

// The least time until a view with missing rows is read again, as a multiple of the time that reading takes.
const readShare = 20

// complete returns nil if the number of rows is that in a meta. began is the time at which reading them began.
func (v *view) complete(meta origin.Meta, rows int, began time.Time) error {
	if rows >= meta.Rows || v.accepts(meta, meta.Rows-rows) {
		return nil
	}
	v.retry = time.Now().Add(readShare * time.Since(began))
	if table := v.table(); table != nil {
		v.set.rowBudget.reserve(v.def.Name, table.RowBytes()) // as it was before reading
	}
	return &HeldError{Meta: meta, Missing: meta.Rows - rows, reason: fmt.Sprintf(
		"the store has %d of the %d rows of generation %d: the next run renders the others again", rows, meta.Rows, meta.Generation)}
}

// completeStored is complete for rows that stay in the store. It returns nil if it cannot count them.
func (v *view) completeStored(ctx context.Context, meta origin.Meta) error {
	began, rows := time.Now(), 0
	settled, err := v.set.o.Store.Settled(ctx, meta)
	if err == nil && settled {
		rows, err = v.set.o.Store.RowCount(ctx, v.def.Name)
	}
	if err == nil && settled { // settled both before and after, so the next generation was not being written
		settled, err = v.set.o.Store.Settled(ctx, meta)
	}
	if err != nil || !settled {
		return err
	}
	return v.complete(meta, rows, began)
}

// Force makes the named views that are held show the store's generation, if there is one, and reports whether any is.
func (s *Set) Force(names ...string) (found bool) {
	for _, name := range names {
		s.view(name).update(func(st *state) {
			if h := held(st.err); h != nil && h.Meta.Generation > 0 {
				st.accepted, found = h, true
			}
		})
		s.Notify(name)
	}
	return found
}

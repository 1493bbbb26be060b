package view

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// mayReplace returns nil if the view may show the store's generation in place of a snapshot, which is nil at first. A
// publication that follows the snapshot may remove any number of rows. Otherwise the view was made anew or the store
// was restored from a backup: then only a forced run, published after the snapshot, may.
//
// The error is a *HeldError. Only the refreshing goroutine calls it.
func (v *view) mayReplace(shown *Snapshot, meta origin.Meta) error {
	if meta.Generation == 0 {
		return &HeldError{Meta: meta, reason: "the store no longer has it"}
	}
	if shown == nil || v.accepts(meta, 0, false) {
		return nil
	}
	before, rows, limit := shown.meta, shown.Len(), v.set.o.MaxShrink
	follows, _ := meta.Follows(before)
	h := v.held // forced while the view was held, whatever the clocks of hosts show
	if follows || meta.Forced.After(before.Published) ||
		h != nil && h.Meta.Epoch == meta.Epoch && meta.Forced.After(h.Meta.Forced) {
		return nil
	}
	if meta.Epoch == before.Epoch && !meta.Published.After(before.Published) &&
		!meta.Checked.After(before.Published) {
		return &HeldError{Meta: meta, reason: fmt.Sprintf("the store has gone back from generation %d to %d: "+
			"it was restored from a backup, or lags; the next run decides", before.Generation, meta.Generation)}
	}
	if limit > 0 && float64(rows-meta.Rows) > limit*float64(rows) {
		return &HeldError{Meta: meta,
			reason: fmt.Sprintf("the store has %d rows of it where %d are shown, a loss of more than "+
				"the permitted %.4g %%: these stay until there are more, or it is forced", meta.Rows, rows,
				limit*100)}
	}
	return nil
}

// accepts reports whether Set.Force has accepted a generation without some of its rows. It was told of so many
// missing rows; if the store loses more before the view can be read, the caller must decide again.
func (v *view) accepts(meta origin.Meta, missing int, inconsistent bool) bool {
	accepted := v.progress.known().accepted
	return accepted != nil && meta.Is(accepted.Meta) == nil &&
		missing <= accepted.Missing && (accepted.inconsistent || !inconsistent)
}

// The least time until a view with missing rows is read again, as a multiple of the time that reading takes.
const readShare = 20

// damaged reports whether rows are missing, or are not those of the meta, so that reading them again is costly and
// may help.
func (e *HeldError) damaged() bool { return e != nil && (e.Missing > 0 || e.inconsistent) }

// complete returns nil if no row of a meta is missing and the rows are consistent. inconsistent is nil or an
// origin.ErrInconsistent. began is the time at which reading the rows began.
func (v *view) complete(meta origin.Meta, rows int, inconsistent error, began time.Time) error {
	missing := max(meta.Rows-rows, 0)
	if missing == 0 && inconsistent == nil || v.accepts(meta, missing, inconsistent != nil) {
		return nil
	}
	v.retry = time.Now().Add(readShare * time.Since(began))
	if table := v.table(); table != nil {
		v.set.rowBudget.reserve(v.def.Name, table.RowBytes()) // as it was before reading
	}
	h := &HeldError{Meta: meta, Missing: missing, inconsistent: inconsistent != nil}
	if h.reason = fmt.Sprintf(
		"the store has %d of the %d rows of generation %d: the next run renders the others again",
		rows, meta.Rows, meta.Generation); missing == 0 {
		h.reason = fmt.Sprintf("the store has rows of other generations than %d, or of another view: "+
			"it was restored or changed by hand; the next run renders them again", meta.Generation)
	}
	return h
}

// completeStored is complete for rows that stay in the store. It returns their number, or the meta's number if a
// generation is being settled. Errors are a *HeldError, origin.ErrStale if the store has moved on, and the store's.
func (v *view) completeStored(ctx context.Context, meta origin.Meta) (rows int, err error) {
	one, err := v.set.o.Store.Fingerprint(ctx, v.def.Name)
	if err != nil && !errors.Is(err, origin.ErrUnsupported) {
		return 0, err
	}
	rows, known, err := v.countStored(ctx, meta, fingerprints{one: one})
	if err == nil && !known {
		rows = meta.Rows
	}
	return rows, err
}

// settlePolls is the number of polls for which a generation may stay unsettled before the view is held. Settling many
// rows takes about a minute. If the publishing process was killed, the generation stays unsettled until the next run.
const settlePolls = 30

// unsettled returns a HeldError if the generation has stayed unsettled for settlePolls, and nil before. That happens
// if the leader was killed and no other instance materializes: queries would wait until their deadline.
func (v *view) unsettled(meta origin.Meta) error {
	if v.unsettledAt.Is(meta) != nil {
		v.unsettledAt, v.unsettledSince = meta, time.Now()
	}
	if time.Since(v.unsettledSince) < settlePolls*v.set.o.Poll {
		return nil
	}
	return &HeldError{Meta: meta, reason: fmt.Sprintf(
		"generation %d is published, but some of its rows are still staged: the next run settles them",
		meta.Generation)}
}

// Force makes the named views that are held show the store's generation, if there is one, and reports whether any
// is. The refresh that it asks for shows the generation; Force does not wait for it.
func (s *Set) Force(names ...string) (found bool) {
	for _, name := range names {
		s.view(name).progress.update(func(st *state) {
			if h := held(st.err); h != nil && h.Meta.Generation > 0 {
				st.accepted, found = h, true
			}
		})
		s.Notify(name)
	}
	return found
}

// A view whose rows stay in the store can lose them while it is shown: an operator drops a collection or deletes
// rows. The generation stays the same, so queries would answer from the remaining rows. Therefore every poll compares
// the store's fingerprint of all views, by one cheap request. If it has changed, each view compares its own
// fingerprint, and if that has changed too, counts its rows. A changed fingerprint alone proves no loss, because
// publications also change it. Counting a million rows at every poll would cost the store too much.

// fingerprints are those of all views and of one, read before that view's rows were last counted: so the next poll
// finds a loss during the count. They are empty if unknown.
type fingerprints struct{ all, one string }

// recount checks whether the store still has all rows of shown, which is at the store's generation. If some are
// missing, the error is a HeldError, and queries fail from then on. Once the rows are back, or Set.Force has accepted
// the loss, recount returns another snapshot.
func (v *view) recount(ctx context.Context, shown *Snapshot, meta origin.Meta, p pollResult) (*Snapshot, error) {
	stored := shown.stored()
	if stored == nil {
		return nil, nil
	}
	// As an interface: a nil *HeldError would be an error.
	var before error // why the view is held; nil if it is not
	if v.held != nil {
		before = v.held
	}
	began, lost := time.Now(), stored.loss.err() != nil
	one, same, err := v.fingerprint(ctx, p)
	if err != nil || same && !lost {
		if err == nil && p.all != "" {
			v.countedAt.all = p.all
			stored.loss.confirm(p.began)
		}
		return nil, err
	}
	if one == "" && !lost && began.Before(v.retry) { // without fingerprints, count only for a share of the time
		return nil, before
	}
	rows, known, err := v.countStored(ctx, meta, fingerprints{p.all, one})
	if h := held(err); h != nil {
		stored.loss.reason.Store(&rules.Error{Kind: rules.ErrUnavailable, Reason: h.Error()})
	}
	if err == nil && !known && before == nil {
		if before = v.unsettled(meta); before != nil { // so that queries fail at once, not at their deadline
			stored.loss.reason.Store(&rules.Error{Kind: rules.ErrUnavailable, Reason: before.Error()})
		}
	}
	if errors.Is(err, origin.ErrStale) || err == nil && !known {
		return nil, before // the next poll finds a settled generation
	}
	if err != nil {
		return nil, err
	}
	if rows == stored.size && !lost {
		stored.loss.confirm(began)
		return nil, nil
	}
	v.editions++
	return v.swap(ctx, v.recounted(shown, rows, began), nil), nil
}

// fingerprint returns the store's fingerprint of the view. It reports whether this fingerprint, or that of all views,
// is the same as when the view's rows were last counted. For a refresh without a poll it reports true and reads
// nothing.
func (v *view) fingerprint(ctx context.Context, p pollResult) (one string, same bool, err error) {
	lost := v.held.damaged()
	silent := errors.Is(p.allErr, origin.ErrUnsupported)
	switch {
	case p.allErr != nil && !silent:
		return "", false, p.allErr
	case !lost && !silent && (p.all == "" || p.all == v.countedAt.all):
		return v.countedAt.one, true, nil
	}
	one, err = v.set.o.Store.Fingerprint(ctx, v.def.Name)
	if errors.Is(err, origin.ErrUnsupported) {
		return "", false, nil
	}
	return one, err == nil && one == v.countedAt.one, err
}

// recounted returns a snapshot like shown whose queries do not fail.
func (v *view) recounted(shown *Snapshot, rows int, began time.Time) *Snapshot {
	if table, resident := shown.Resident(); resident {
		next := v.snapshotOf(shown.meta, table)
		next.whole.size = rows
		next.whole.loss.confirm(began)
		return next
	}
	return v.snapshotInStore(shown.meta, rows, began)
}

// countStored counts the rows of a view in the store and checks whether they are complete. It returns their number,
// at most that in the meta. known is false if a generation is being settled, because the count would not be exact.
func (v *view) countStored(ctx context.Context, meta origin.Meta, at fingerprints) (rows int, known bool, err error) {
	began := time.Now()
	known, err = v.set.o.Store.Settled(ctx, meta)
	var inconsistent error
	if err == nil && known {
		rows, err = v.set.o.Store.RowCount(ctx, v.def.Name)
		if errors.Is(err, origin.ErrInconsistent) {
			inconsistent, err = err, nil
		}
	}
	if err == nil && known { // settled both before and after, so the next generation was not being written
		known, err = v.set.o.Store.Settled(ctx, meta)
	}
	if err != nil || !known {
		return 0, false, err
	}
	v.retry = began.Add((readShare + 1) * time.Since(began))
	if err := v.complete(meta, rows, inconsistent, began); err != nil {
		return rows, true, err
	}
	v.countedAt = at
	return min(rows, meta.Rows), true, nil
}

package view

import (
	"context"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules"
	"vitrine/rules/backoff"
)

// await polls a view until ready returns true or an error, or ctx ends. known has the state after the snapshot was
// read. It asks for a refresh at each round. rules.ErrNotFound means that there is no such view.
func (s *Set) await(ctx context.Context, name string, ready func(snap *Snapshot, known state) (bool, error)) error {
	v := s.view(name)
	if v == nil {
		return rules.ErrNotFound
	}
	for pauses := backoff.New(5*time.Millisecond, 100*time.Millisecond, 0); ; {
		s.Notify(name)
		known := v.progress.known() // before the snapshot, which may be newer
		if ok, err := ready(v.current.Load(), known); ok || err != nil {
			return err
		}
		if backoff.Sleep(ctx, pauses.NextBackOff()) != nil {
			return ctx.Err()
		}
	}
}

// Newer waits for a newer snapshot of a view, or one with its lost rows. The error is the context's, or
// rules.ErrUnavailable if the view is held, not loaded, or cannot be read again. Requests that have got a
// MovedError call it before they try again.
func (s *Set) Newer(ctx context.Context, moved *MovedError) error {
	return s.await(ctx, moved.View, func(snap *Snapshot, known state) (bool, error) {
		if snap == nil {
			_, err := s.Snapshot(moved.View)
			return err == nil, err
		}
		lost := snap.lost()
		switch h := held(known.err); {
		case lost == nil && (moved.Lost != nil || snap.meta.Is(moved.From) != nil):
			return true, nil
		case h != nil:
			return false, &rules.Error{Kind: rules.ErrUnavailable, Reason: h.Error()}
		case lost != nil && known.err != nil:
			return false, &rules.Error{Kind: rules.ErrUnavailable, Reason: lost.Error()}
		}
		return false, nil
	})
}

// AwaitShown waits until requests get the generation of a meta, or a later one. If that is 0, it waits for what the
// store has now. The error is the context's, or says why the view stays as it is: it is held, or the store cannot be
// read. A refresh by hand calls it after its runs, so that requests after its answer see the new rows.
func (s *Set) AwaitShown(ctx context.Context, name string, at origin.Meta) error {
	v := s.view(name)
	if v == nil {
		return rules.ErrNotFound
	}
	before := v.progress.known().begun // these refreshes may have read the store before it had the generation
	return s.await(ctx, name, func(snap *Snapshot, known state) (bool, error) {
		switch {
		case snap != nil && at.Generation > 0 && snap.meta.Epoch == at.Epoch && snap.meta.Generation >= at.Generation:
			return true, nil
		case known.ended <= before:
			return false, nil
		case known.err != nil:
			return false, known.err
		}
		// Another process may have made the view anew. Rows that stay in the store are shown once they are settled.
		return snap != nil && known.newest.Is(snap.meta) == nil || known.newest.Generation == 0, nil
	})
}

package kept

import (
	"context"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

const (
	pollTime  = 10 * time.Second      // for reading marks and changes
	mostSave  = 50                    // unsaved answers at a time
	copyEvery = 10 * time.Second      // look for answers without a file
	copyPause = 20 * time.Millisecond // between two files
)

// dropAgain drops what could not be dropped from the store. Run calls it before saveAgain, so that a key is not
// saved and then dropped.
func (s *storage) dropAgain(ctx context.Context) error {
	keys := s.pendingDrops.take()
	err := s.remote.drop(ctx, keys)
	if err != nil {
		s.pendingDrops.add(keys)
	}
	return err
}

// saveAgain writes answers that the store has not taken. At most mostSave at a time, so that a follower also reads
// changes after a long outage.
func (s *storage) saveAgain(ctx context.Context) error {
	if !s.unsaved.Swap(false) {
		return nil
	}
	saved := 0
	for _, e := range s.index.all() {
		if e.Generation > 0 || e.Rule == nil {
			continue
		}
		if saved++; saved > mostSave || !s.remote.writes.over() {
			s.unsaved.Store(true)
			return nil
		}
		s.save(ctx, e)
	}
	return nil
}

// save writes an answer that the store has not taken, unless it has a newer one. An answer whose body is gone, as
// memory had no room for it, is left: the next request for the body fetches it.
func (s *storage) save(ctx context.Context, e *Entry) {
	content, err := s.body(ctx, e)
	if err != nil {
		return
	}
	claim, kept, err := s.remote.tryClaim(ctx, e.Key)
	if err != nil || claim == nil {
		s.unsaved.Store(true)
		return
	}
	if kept.Digest != "" && !kept.Checked.Before(e.Checked) {
		s.remote.unclaim(ctx, claim)
		s.adopt(kept, supersedes)
		return
	}
	r := e.Response
	r.Body = content
	r, outcome := s.remote.save(ctx, claim, r, kept.Digest == r.Digest, lateSaveTime)
	if outcome != stored {
		s.unsaved.Store(true)
		return
	}
	s.adopt(r, func(_ *origin.Response, before *Entry) bool { return before == e })
}

// learn reads the demand for all keys from the store: other processes report it there, which is no change to follow.
func (s *storage) learn(ctx context.Context) error {
	if !s.remote.readable() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	changes, _, err := s.remote.store.Changes(limited, 0)
	if err != nil {
		return err
	}
	for r, err := range changes {
		if err != nil {
			return err
		}
		s.index.learn(&r)
	}
	return nil
}

// copyAll writes the files of entries that have none, or an older answer: those that other processes have fetched.
// The pauses leave the disk and the store to requests.
func (s *storage) copyAll(ctx context.Context) error {
	for _, e := range s.index.all() {
		if e.Rule == nil || !e.slot.uncopied(e) {
			continue
		}
		content, err := s.body(ctx, e)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			s.copy(e, content)
		}
		if backoff.Sleep(ctx, copyPause) != nil {
			return nil
		}
	}
	return nil
}

package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	bbolt "go.etcd.io/bbolt"

	"vitrine/rules"
)

// The file is mapped into memory. To read what is no longer there, after the file was
// cut or a disk failed, is a fault, and what is damaged makes bbolt panic. So view and
// update are the only ways to the mapping once the store is open: there both are errors
// that name the file. Nothing that points into the mapping may leave them.

// view runs a short read transaction.
func (s *Store) view(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.begin(false)
	if err != nil {
		return err
	}
	defer func() {
		if s.failure.Load() == nil { // otherwise bbolt's locks may be held for ever
			_ = tx.Rollback()
		}
	}()
	if _, err = s.guard(func() error { return fn(tx) }); err != nil {
		return err
	}
	return s.confirm()
}

// confirm returns an error if another file may have been read: one that was written over
// ours. A commit of ours that is going on may have written its header already, but it
// leaves the one before alone.
func (s *Store) confirm() error {
	for {
		now := s.written.Load()
		last, other, err := readHeaders(s.file, s.page)
		switch {
		case err != nil:
			return s.lost(err)
		case last == *now, last.tx == now.tx+1 && other == *now:
			return nil
		case s.written.Load() == now:
			return s.lost(errForeign)
		}
	}
}

// errForeign reports a file that has other content than this process wrote.
var errForeign = errors.New("another program has written to the file: restart to open it anew")

// update runs a write transaction; it is durable when update returns nil.
func (s *Store) update(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.unsafe != nil {
		return s.unsafe
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.begin(true)
	if err != nil {
		return err
	}
	id, before := uint64(tx.ID()), s.written.Load()
	panicked, err := s.guard(func() error {
		if err := fn(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
	if panicked {
		s.failure.Store(&err) // what bbolt holds in memory is no longer sure
	}
	if err != nil {
		return err
	}
	last, other, err := readHeaders(s.file, s.page)
	if err == nil && (last.tx != id || other != *before) {
		err = errForeign
	}
	if err != nil { // what was written is mixed with what is not ours
		err = s.lost(err)
		s.failure.Store(&err)
		return err
	}
	s.written.Store(&last)
	return nil
}

// begin begins a transaction, if the file is still the one that was opened.
func (s *Store) begin(writable bool) (tx *bbolt.Tx, err error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if failure := s.failure.Load(); failure != nil {
		return nil, *failure
	}
	now, err := os.Stat(s.path)
	switch {
	case err != nil:
		return nil, s.lost(err)
	case !os.SameFile(now, s.opened):
		return nil, s.lost(errors.New("the file was replaced: restart to open the new one"))
	case now.Size() < 2*s.page:
		return nil, s.lost(errCut(now.Size(), s.opened.Size()))
	}
	before := s.written.Load().tx
	panicked, err := s.guard(func() (err error) {
		tx, err = s.db.Begin(writable)
		return err
	})
	if panicked {
		s.failure.Store(&err)
	}
	if err != nil {
		return nil, err
	}
	id := uint64(tx.ID())
	if writable {
		id-- // its own, which comes after the last
	}
	switch {
	case id < before || id > s.written.Load().tx+1: // a commit counts a moment after readers see it
		err = s.lost(errForeign)
	case now.Size() < tx.Size() && !grown(s.path, tx.Size()):
		err = s.lost(errCut(now.Size(), tx.Size()))
	}
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// grown reports whether the file has that size by now: a commit may have made it larger
// since it was looked at.
func grown(path string, size int64) bool {
	now, err := os.Stat(path)
	return err == nil && now.Size() >= size
}

// guard calls fn and returns a panic or fault of it as an error.
func (s *Store) guard(fn func() error) (panicked bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			panicked, err = true, s.lost(fmt.Errorf("the file cannot be read or is damaged: %v", v))
		}
	}()
	return false, fn()
}

// lost is the error of a file that is not what it was.
func (s *Store) lost(err error) error {
	return fmt.Errorf("%w: %s: %w; vitrine check examines it", rules.ErrUnavailable, s.Name(), err)
}

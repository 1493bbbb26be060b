package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	bbolt "go.etcd.io/bbolt"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// The copy of a store for `vitrine backup` is read in one transaction. bbolt never changes a page that a read
// transaction can see, so the copy is the whole file as it was when the transaction began, while others write. But
// a writer that must enlarge the mapping waits for the transaction, and every new reader waits for this writer. So
// a copy gives way.

// ErrYielded means that a copy ended early, because a writer had to enlarge the file. The next attempt begins with
// the larger mapping, and rarely meets another such writer.
var ErrYielded = errors.New("the copy gave way to a write that had to enlarge the file")

const (
	yieldAfter = 250 * time.Millisecond // how long others wait for a copy at most
	yieldProbe = 100 * time.Millisecond // the pause before each check whether others wait
)

// Destination returns the writer of a copy, given the size of the copy. Its Write must return soon after ctx has
// ended, because writers of the store wait until then.
type Destination func(ctx context.Context, bytes int64) io.Writer

// Backup writes a copy of the open store as it is now, while others read and write the store. The copy is a
// complete file of a store. If a writer waits for the copy, Backup ends early and returns ErrYielded. Like Check,
// it does not pass the gate. While it runs, the file grows by everything that is written.
func (s *Store) Backup(ctx context.Context, to Destination) (err error) {
	defer wrap.Error(&err, "back up %s", s.Name())
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	defer func() { stop(nil); <-ended }()
	go func() {
		defer close(ended)
		s.file.yield(ctx, stop)
	}()
	return s.file.read(ctx, func(tx *bbolt.Tx) error { return copyTo(ctx, tx, to) })
}

// yield calls stop when a new transaction has to wait: then a writer waits for the transaction of the copy, and all
// others wait for the writer. It returns when ctx ends.
func (f *storeFile) yield(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(yieldProbe):
		}
		late := time.AfterFunc(yieldAfter, func() { stop(ErrYielded) })
		// After stop the copy ends, and then this call returns. Ignore its error, because the copy returns the
		// same.
		_ = f.read(context.Background(), func(*bbolt.Tx) error { return nil })
		late.Stop()
	}
}

// Backup writes a copy of the store in the file at path, without changing the file. The error wraps
// origin.ErrLocked if a process has the file open for writing.
func Backup(ctx context.Context, path string, to Destination) (err error) {
	f := &storeFile{path: path}
	defer wrap.Error(&err, "back up %s", f.Name())
	// bbolt would initialise an empty file.
	if at, err := os.Stat(path); err != nil {
		return err
	} else if at.Size() == 0 {
		return fmt.Errorf("%w: the file is empty", origin.ErrDamaged)
	}
	_, err = f.guard(func() (err error) {
		if f.db, err = f.openFile(true); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.db.Close()) }()
		return f.db.View(func(tx *bbolt.Tx) error { return copyTo(ctx, tx, to) })
	})
	return err
}

// CheckFree returns an error if the file at path must not be replaced. It wraps origin.ErrLocked if a process has
// the file open as its store. Files that cannot be read are refused, too.
func CheckFree(path string) (err error) {
	f := &storeFile{path: path}
	defer wrap.Error(&err, "replace %s", path)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	_, err = f.guard(func() (err error) {
		if f.db, err = f.openFile(true); err != nil {
			return err
		}
		return f.db.Close()
	})
	if !errors.Is(err, origin.ErrLocked) {
		return nil // the file may be no store
	}
	return err
}

// copyTo writes the file as a transaction sees it. It reads the file and not the mapping, so that a failing disk
// causes an error and not a fault.
func copyTo(ctx context.Context, tx *bbolt.Tx, to Destination) error {
	w := &copyWriter{ctx: ctx, to: to(ctx, tx.Size()), odd: tx.ID()%2 == 1}
	w.head = make([]byte, 0, 2*tx.DB().Info().PageSize)
	_, err := tx.WriteTo(w)
	if ctx.Err() != nil { // bbolt does not wrap it
		return context.Cause(ctx)
	}
	return err
}

// copyWriter writes what bbolt copies until ctx ends, and puts the two meta pages into the order of the file.
//
// A commit with an odd number writes the second meta page, and one with an even number the first. The other page
// stays as it is, and this package compares it (door.go). bbolt's copy always has the last transaction in the first
// page. If its number is odd, the next commit would overwrite it and leave a page that is two commits old.
type copyWriter struct {
	ctx  context.Context
	to   io.Writer
	odd  bool   // the number of the last transaction is odd: it belongs into the second page
	head []byte // the meta pages, until both are there
}

// Write implements io.Writer.
func (w *copyWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	missing := min(cap(w.head)-len(w.head), len(p))
	if missing == 0 {
		return w.to.Write(p)
	}
	w.head = append(w.head, p[:missing]...)
	if len(w.head) < cap(w.head) {
		return len(p), nil
	}
	first, second := w.head[:len(w.head)/2], w.head[len(w.head)/2:]
	if w.odd {
		// A page begins with its number, which stays where it is.
		first, second = slices.Concat(first[:8], second[8:]), slices.Concat(second[:8], first[8:])
	}
	_, err := w.to.Write(slices.Concat(first, second, p[missing:]))
	return len(p), err
}

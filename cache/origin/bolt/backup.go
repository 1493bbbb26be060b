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

// The copy of a store, for `vitrine backup`. bbolt never changes a page that a read transaction can see, so one
// transaction shows the whole file as it was when it began, while others write. Such a transaction has a price: a
// writer that must enlarge the mapping waits for it, and with this writer every new reader. So a copy gives way.

// ErrYielded means that a copy ended early, because a writer had to enlarge the file. The next attempt begins with
// the larger mapping, and rarely meets another such writer.
var ErrYielded = errors.New("the copy gave way to a write that had to enlarge the file")

// How long others wait for a copy at most, and how often the copy looks whether they do.
const (
	yieldAfter = 250 * time.Millisecond
	yieldProbe = 100 * time.Millisecond
)

// Destination returns where a copy of a number of bytes is written to. A Write must return soon after ctx has ended:
// until then the copy keeps writers of the store waiting.
type Destination func(ctx context.Context, bytes int64) io.Writer

// Backup writes a copy of the open store as it is now, while others read and write it. The copy is a store's file of
// its own. If a writer waits for the copy, it ends early with ErrYielded. Like Check, it does not pass the gate. The
// file grows by what is written meanwhile.
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

// yield ends ctx by stop once a transaction that begins has to wait: then a writer waits for the transaction of the
// copy, and all others wait for the writer.
func (f *storeFile) yield(ctx context.Context, stop context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(yieldProbe):
		}
		late := time.AfterFunc(yieldAfter, func() { stop(ErrYielded) })
		// The copy ends after stop, and then this returns, too. Its error does not matter: the copy meets it, too.
		_ = f.read(context.Background(), func(*bbolt.Tx) error { return nil })
		late.Stop()
	}
}

// Backup writes a copy of the store in the file at path, which no process may have open for writing: the error wraps
// origin.ErrLocked if one has. It changes nothing.
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

// CheckFree returns the reason why the file at path must not be replaced: an error that wraps origin.ErrLocked if a
// process has it open as its store, or that of reading the file. Any other file is free.
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

// copyTo writes the file as a transaction sees it. It reads the file and not the mapping, so that a disk that fails
// is an error and no fault.
func copyTo(ctx context.Context, tx *bbolt.Tx, to Destination) error {
	w := &copyWriter{ctx: ctx, to: to(ctx, tx.Size()), odd: tx.ID()%2 == 1}
	w.head = make([]byte, 0, 2*tx.DB().Info().PageSize)
	_, err := tx.WriteTo(w)
	if ctx.Err() != nil { // bbolt does not wrap it
		return context.Cause(ctx)
	}
	return err
}

// copyWriter writes what bbolt copies until ctx ends, with the two meta pages in their order.
//
// A commit writes the meta page of its number, odd or even, and leaves the other one alone, which this package
// compares (door.go). bbolt's copy has the last transaction in the even page in any case. If its number is odd, the
// next commit would overwrite it and leave one that is two commits old.
type copyWriter struct {
	ctx  context.Context
	to   io.Writer
	odd  bool   // the last transaction belongs into the second page
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

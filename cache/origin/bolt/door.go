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

// The one door to the file: all transactions of the package begin here.
//
// view and update pass the gate, which is a circuit in a running program; read and write are the same without it.
// Both call begin, run the caller's function inside guard, and compare the headers on disk with those that this
// process has written. The order matters: what a transaction has read counts only if the file is still ours
// afterwards, and what it has written only if it is found.

// The file is mapped into memory. A file that was cut or a failing disk causes a fault, and damage makes bbolt
// panic: view and update turn both into errors that name the file. No pointer into the mapping may leave them.

// view runs a short read transaction if the gate lets it pass. fn must copy what it keeps: after the transaction
// bbolt reuses the pages.
func (f *storeFile) view(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	return f.pass(ctx, func(ctx context.Context) error { return f.read(ctx, fn) })
}

// update runs a write transaction if the gate lets it pass. The transaction is durable when update returns nil. If
// fn returns an error, nothing is written, and update returns that error. A commit waits until the disk has it, so
// callers collect many changes in one transaction.
func (f *storeFile) update(ctx context.Context, fn func(tx *writeTx) error) error {
	return f.pass(ctx, func(ctx context.Context) error { return f.write(ctx, fn) })
}

// read is view without the gate. The end of ctx is noticed before the transaction only. Transactions are short,
// because inBatches splits long ones.
func (f *storeFile) read(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := f.begin(false)
	if err != nil {
		return err
	}
	defer func() {
		if f.failure.Load() == nil { // after a failure, bbolt's locks may be held for ever
			_ = tx.Rollback()
		}
	}()
	if _, err = f.guard(func() error { return fn(tx) }); err != nil {
		return err
	}
	return f.intact() // check again: the data may come from another file
}

// intact returns an error unless the file is the one that was opened, is long enough, and was last written by this
// process. A commit under way may already have written its header, but leaves the previous one alone. intact is
// called often and must be cheap: it stats the file and reads two times 64 bytes, mostly from the system's cache.
// It loops if this process has committed between the reading of written and that of the headers.
func (f *storeFile) intact() error {
	for {
		written := f.written.Load()
		now, err := os.Stat(f.path)
		if err != nil {
			return f.lost(err)
		}
		if !os.SameFile(now, f.opened) {
			return f.lost(errors.New("the file was replaced: restart to open the new one"))
		}
		// A file that was cut would raise SIGBUS at the next read of the mapping beyond its end. guard catches
		// that, but this error says what has happened.
		if want := int64(written.pages) * f.page; now.Size() < want {
			return f.lost(errCut(now.Size(), want))
		}
		last, before, err := readHeaders(f.file, f.page)
		switch {
		case err != nil:
			return f.lost(err)
		case last == *written, last.tx == written.tx+1 && before == *written:
			return nil
		case f.written.Load() == written:
			return f.lost(errForeign)
		}
	}
}

var errForeign = errors.New("another program has written to the file: restart to open it anew")

// write is update without the gate.
// It holds the lock writing although bbolt has one of its own: written must not change between begin and the commit
// of this transaction, or the check after it would take our own commit for a foreign one.
func (f *storeFile) write(ctx context.Context, fn func(tx *writeTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A damaged collection may share pages with sound ones, and a commit may reuse these pages: see prepare.
	if f.unsafe != nil {
		return f.unsafe
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	tx, err := f.begin(true)
	if err != nil {
		return err
	}
	id, before, changes := uint64(tx.ID()), f.written.Load(), &writeTx{Tx: tx}
	panicked, err := f.guard(func() error {
		if err := fn(changes); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
	if panicked {
		f.failure.Store(&err) // bbolt's state in memory may be wrong
	}
	if err != nil {
		return err
	}
	// The commit has written one of two headers and must have left the other one alone. A foreign writer, which
	// ignored bbolt's lock or wrote over the file, is found here at the latest.
	last, other, err := readHeaders(f.file, f.page)
	if err == nil && (last.tx != id || other != *before) {
		err = errForeign
	}
	if err != nil { // the file mixes our writes with another program's
		err = f.lost(err)
		f.failure.Store(&err)
		return err
	}
	f.written.Store(&last)
	// The transaction has happened, so that the end of ctx is no reason to leave this out.
	err = f.read(context.WithoutCancel(ctx), changes.find)
	if errors.Is(err, errMisplaced) { // further writes could be lost, too
		err = f.lost(err)
		f.failure.Store(&err)
	}
	return err
}

// begin refuses everything after a failure: bbolt may hold its own locks for ever then, and would block. The lock
// gate is held across the check and the begin, so that a failure of one transaction stops the next one.
func (f *storeFile) begin(writable bool) (tx *bbolt.Tx, err error) {
	f.gate.Lock()
	defer f.gate.Unlock()
	if failure := f.failure.Load(); failure != nil {
		return nil, *failure
	}
	if err := f.intact(); err != nil {
		return nil, err
	}
	panicked, err := f.guard(func() (err error) {
		tx, err = f.db.Begin(writable)
		return err
	})
	if panicked {
		f.failure.Store(&err)
	}
	return tx, err
}

// guard calls fn and turns a panic or fault into an error. SetPanicOnFault makes a fault in the mapping a panic
// instead of the end of the process. It concerns one goroutine, so guard calls fn on
// that of its caller, and fn must not start others that read the file. Every panic counts as damage, also one from a
// caller's function that runs inside a transaction: it may have been caused by damaged bytes.
func (f *storeFile) guard(fn func() error) (panicked bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			panicked, err = true, f.lost(fmt.Errorf("the file is unreadable or damaged: %v", v))
		}
	}()
	return false, fn()
}

// lost names the file and wraps rules.ErrUnavailable, so the circuit pings the store at once, and opens if the ping
// fails, too.
func (f *storeFile) lost(err error) error {
	return fmt.Errorf("%w: %s: %w; vitrine check examines it", rules.ErrUnavailable, f.Name(), err)
}

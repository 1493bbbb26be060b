package mapped

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"vitrine/rules/fault"
)

// Part is content that Map returned, with the function that knows whether it is still what the file had.
type Part struct {
	Content []byte
	Same    func(content []byte) bool // compares a checksum; it must not keep the content in memory
}

var errAltered = errors.New("a mapped file was altered in place: a checksum is wrong")

// Err returns why the mapped content cannot be used any more: a fault, or a file that was altered. It never changes
// back.
func (f *Files) Err() error {
	if f == nil {
		return nil
	}
	if err := f.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// Check is Err, but first looks whether another program has written to files with a name. It compares checksums if
// so.
func (f *Files) Check() error {
	if f == nil {
		return nil
	}
	if all := f.named.Load(); all != nil {
		for _, n := range *all {
			if err := n.check(); err != nil {
				f.lose(err)
			}
		}
	}
	return f.Err()
}

// Watch makes Check look after parts of a file that has a name. It keeps the file open until no part is in use, and
// returns false if it cannot, or has nothing to look after; then the caller closes the file.
func (f *Files) Watch(file *os.File, parts []Part) bool {
	if f == nil || len(parts) == 0 {
		return false
	}
	at, err := stampOf(file)
	if err != nil {
		f.lose(fmt.Errorf("examine a mapped file: %w", err))
		return false
	}
	n := &namedFile{file: file}
	for _, p := range parts {
		n.parts = append(n.parts, namedPart{weak.Make(unsafe.SliceData(p.Content)), len(p.Content), p.Same})
	}
	n.seen.Store(&sight{stamp: at, first: time.Now(), settled: time.Since(time.Unix(0, at.modified)) > coarse})
	f.naming.Lock()
	defer f.naming.Unlock()
	all := []*namedFile{n}
	if before := f.named.Load(); before != nil {
		for _, other := range *before {
			if slices.ContainsFunc(other.parts, namedPart.inUse) {
				all = append(all, other)
			} else {
				_ = other.file.Close() // it was only read
			}
		}
	}
	f.named.Store(&all)
	return true
}

// lose makes the content unusable and says so once.
func (f *Files) lose(err error) {
	if f.lost.CompareAndSwap(nil, &err) && f.Lost != nil {
		f.Lost(err)
	}
}

// namedFile is a file that other programs can write to. Each write sets its time of modification. A write through
// another mapping sets it when it first changes a page.
type namedFile struct {
	file  *os.File
	parts []namedPart
	seen  atomic.Pointer[sight]

	checking sync.Mutex // held while checksums are compared
}

// namedPart is a mapped part to watch. The pointer is weak, so that watching a part does not keep it mapped.
type namedPart struct {
	first weak.Pointer[byte]
	bytes int
	same  func([]byte) bool
}

// inUse reports whether the collector still finds a reference to the part.
func (p namedPart) inUse() bool { return p.first.Value() != nil }

// stamp changes when the file is written to.
type stamp struct{ modified, size int64 } // nanoseconds of Unix time, bytes

// sight is a stamp under which the content was found to be the same.
type sight struct {
	stamp
	first   time.Time // when it was first seen
	settled bool      // a later write has a later stamp
}

// A write soon after another one may have the same time. File systems count it in steps of up to coarse, those in use
// today in steps of less than fine.
const coarse, fine = 3 * time.Second, 50 * time.Millisecond

// check returns an error if the content is no longer the same. Without a write since the last check, it costs one
// system call.
func (n *namedFile) check() error {
	now, err := stampOf(n.file)
	if err != nil {
		return fmt.Errorf("examine a mapped file: %w", err)
	}
	if seen := n.seen.Load(); seen.settled && seen.stamp == now {
		return nil
	}
	n.checking.Lock()
	defer n.checking.Unlock()
	if now, err = stampOf(n.file); err != nil { // before the content is read, so that no later write counts as seen
		return fmt.Errorf("examine a mapped file: %w", err)
	}
	next := &sight{stamp: now, first: time.Now()}
	if seen := n.seen.Load(); seen.stamp == now {
		if seen.settled {
			return nil
		}
		next.first, next.settled = seen.first, time.Since(seen.first) > fine
	}
	for _, p := range n.parts {
		if err := p.verify(); err != nil {
			return err
		}
	}
	n.seen.Store(next)
	return nil
}

// verify returns an error unless the content is the same, or not in use any more.
func (p namedPart) verify() (err error) {
	first := p.first.Value()
	if first == nil {
		return nil
	}
	defer fault.Panics()()
	defer func() {
		if r := recover(); r != nil { // the file was cut
			err = errors.New("a mapped file cannot be read: it was cut, or its disk fails")
		}
	}()
	if !p.same(unsafe.Slice(first, p.bytes)) {
		return errAltered
	}
	return nil
}

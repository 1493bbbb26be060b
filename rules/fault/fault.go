// Package fault reports faults in mapped files to the owner of the memory, instead of ending the process.
//
// If a file is cut while it is mapped, or its disk fails, reading its memory is a fault. It ends the process, unless
// the goroutine has called debug.SetPanicOnFault: then it is a panic, and who recovers from it calls Report.
// Goroutines do not inherit that from the one that starts them, so every goroutine that may read mapped memory begins
// with Panics, or in package parallel, which does both.
package fault

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"
)

// Panics makes faults of the calling goroutine panics, until the function that it returns is called in a defer.
func Panics() (restore func()) {
	if debug.SetPanicOnFault(true) {
		return func() {}
	}
	return func() { debug.SetPanicOnFault(false) }
}

// Guard calls work, and returns a panic of it as an error with its stack, after Report: in a goroutine that no caller
// waits for, no other code could recover it.
func Guard(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			Report(r)
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return work()
}

// area is watched memory. It does not keep the memory in use.
type area struct {
	from, to uintptr
	lost     func(error)
}

var errUnreadable = errors.New("a mapped file cannot be read: it was cut, or its disk fails")

var (
	mu    sync.Mutex // guards areas
	areas []area
)

// Watch makes Report call lost for faults in memory, until forget is called, before the memory may be used for
// something else. lost must not wait.
func Watch(memory []byte, lost func(error)) (forget func()) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	to := from + uintptr(len(memory))
	mu.Lock()
	defer mu.Unlock()
	areas = append(areas, area{from, to, lost})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		areas = slices.DeleteFunc(areas, func(a area) bool { return a.from == from && a.to == to })
	}
}

// Report reports a panic that was recovered to the owner of the watched memory in which a fault caused it. It returns
// false for any other panic.
func Report(recovered any) bool {
	err, ok := recovered.(error)
	if !ok {
		return false
	}
	var at interface{ Addr() uintptr } // of runtime.Error, if it is a fault
	if !errors.As(err, &at) {
		return false
	}
	mu.Lock()
	i := slices.IndexFunc(areas, func(a area) bool { return a.from <= at.Addr() && at.Addr() < a.to })
	var lost func(error)
	if i >= 0 {
		lost = areas[i].lost
	}
	mu.Unlock()
	if lost == nil {
		return false
	}
	lost(errUnreadable) // err speaks of a nil pointer
	return true
}

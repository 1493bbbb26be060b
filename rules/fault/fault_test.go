//go:build linux

package fault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vitrine/rules/fault"
	"vitrine/rules/parallel"
)

// cutFile returns memory that is mapped to a file which was cut.
func cutFile(t *testing.T) []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(1 << 16); err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, 1<<16, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(memory) })
	if err := file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	return memory
}

// sum keeps the compiler from leaving out what is read.
var sum byte

// recovered returns what a function panics with.
func recovered(do func()) (r any) {
	defer fault.Panics()()
	defer func() { r = recover() }()
	do()
	return nil
}

// TestReport: the owner of memory learns of a fault in it, on whichever goroutine it was, and of nothing else.
func TestReport(t *testing.T) {
	memory, other := cutFile(t), cutFile(t)
	var lost []error
	forget := fault.Watch(memory, func(err error) { lost = append(lost, err) })
	fault.Watch(make([]byte, 10), func(err error) { t.Error(err) })
	if r := recovered(func() { sum += memory[5000] }); !fault.Report(r) {
		t.Errorf("not reported: %v", r)
	}
	if r := recovered(func() {
		parallel.Split(2, 2, func(part, _, _ int) {
			if part == 1 {
				sum += memory[5000]
			}
		})
	}); r == nil {
		t.Error("the waiting goroutine does not panic")
	}
	if len(lost) != 2 || !strings.Contains(lost[1].Error(), "a mapped file cannot be read") {
		t.Errorf("reported: %v", lost)
	}
	lost = nil
	forget()
	for _, r := range []any{
		recovered(func() { sum += other[1] }), recovered(func() { sum += memory[1] }),
		recovered(func() { panic("text") }),
		recovered(func() { panic(errors.New("other")) }), recovered(func() { sum += *(*byte)(nil) }), nil,
	} {
		if fault.Report(r) || lost != nil {
			t.Errorf("%v is reported", r)
		}
	}
}

// TestPanics: the setting of a goroutine is restored in its order.
func TestPanics(t *testing.T) {
	outer := fault.Panics()
	inner := fault.Panics()
	inner()
	memory := cutFile(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		sum += memory[0]
	}()
	outer()
}

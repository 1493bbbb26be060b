package mapped_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"vitrine/cache/view/mapped"
)

// pieces returns slices of a size, some of them empty, with a given number of bytes in all.
func pieces(size, total int) (all [][]byte) {
	source := rand.NewChaCha8([32]byte{})
	for ; total > 0; total -= size {
		piece := make([]byte, size)
		_, _ = source.Read(piece)
		all = append(all, piece)
		if piece[0] < 5 {
			all = append(all, []byte{}, nil)
		}
	}
	return all
}

// failing fails the test if slices stay in memory, and skips it if the system cannot map files.
func failing(t *testing.T) func(error) {
	return func(err error) {
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip(err)
		}
		t.Errorf("the slices stayed in memory: %v", err)
	}
}

// collected waits until the collector has unmapped all files.
func collected(f *mapped.Files) {
	for f.Bytes() > 0 {
		runtime.GC()
	}
}

// moved reports whether slices lie elsewhere than before.
func moved(before, after [][]byte) bool {
	return unsafe.SliceData(before[0]) != unsafe.SliceData(after[0])
}

// TestMove: slices in files have the same content, nil ones stay nil, and the folder stays empty.
func TestMove(t *testing.T) {
	for _, size := range []int{97, 5_000, 20 << 20} {
		dir := t.TempDir()
		f := &mapped.Files{Create: mapped.In(dir), Failed: failing(t)}
		before := pieces(size, 40<<20)
		after := slices.Clone(before)
		mapped.Move(f, after)
		if !moved(before, after) || !slices.EqualFunc(before, after,
			func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) && len(b) == cap(b) }) {
			t.Errorf("slices of %d bytes are not the same in files", size)
		}
		if got := f.Bytes(); got < 40<<20 || got > 42<<20 {
			t.Errorf("%d bytes are mapped", got)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("the folder holds %d files: %v", len(left), err)
		}
		runtime.KeepAlive(after)
	}
}

// TestFewBytesStay: slices too small for a file stay in memory, and without Files all slices do.
func TestFewBytesStay(t *testing.T) {
	before := pieces(1000, 100_000)
	after := slices.Clone(before)
	mapped.Move(&mapped.Files{Create: mapped.In(t.TempDir()), Failed: failing(t)}, after)
	mapped.Move(nil, after)
	if moved(before, after) {
		t.Error("moved")
	}
}

// TestLastSliceKeepsItsFile: a file stays mapped as long as any slice refers to one of its bytes;
// then its memory can be used again.
func TestLastSliceKeepsItsFile(t *testing.T) {
	f := &mapped.Files{Create: mapped.In(t.TempDir()), Failed: failing(t)}
	for range 3 {
		all := pieces(5_000, 30<<20)
		middle := slices.Clone(all[100][1000:1100])
		mapped.Move(f, all)
		last := all[100][1000:1100]
		for all = nil; f.Bytes() > mapped.FileBytes+(1<<20); {
			runtime.GC()
		}
		for range 3 {
			runtime.GC()
		}
		if f.Bytes() == 0 || !bytes.Equal(last, middle) {
			t.Fatalf("%d bytes are mapped", f.Bytes())
		}
		runtime.KeepAlive(last)
		last = nil
		collected(f)
		for _, piece := range pieces(1<<20, 40<<20) {
			piece[0]++
		}
	}
}

// TestFailuresKeepSlices: slices stay in memory, unchanged, if no file can be made, written or read.
func TestFailuresKeepSlices(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	dir := t.TempDir()
	for name, test := range map[string]struct {
		create func() (*os.File, error)
		want   error // nil means any error
	}{
		"no folder": {mapped.In(filepath.Join(dir, "none")), os.ErrNotExist},
		"full disk": {func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_RDWR, 0) },
			syscall.ENOSPC},
		"cannot be mapped": {func() (*os.File, error) { return os.OpenFile("/dev/null", os.O_RDWR, 0) }, nil},
		"in memory":        {mapped.In("/dev/shm"), nil},
		"damaged": {func() (*os.File, error) { // the file does not begin with the bytes written
			file, err := os.OpenFile(filepath.Join(dir, "damaged"), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
			if err == nil {
				_, err = file.WriteString("damage")
			}
			return file, err
		}, nil},
	} {
		var failed error
		f := &mapped.Files{Create: test.create, Failed: func(err error) { failed = err }}
		before := pieces(1000, 2<<20)
		after := slices.Clone(before)
		mapped.Move(f, after)
		if moved(before, after) || failed == nil || test.want != nil && !errors.Is(failed, test.want) {
			t.Errorf("%s: moved is %t, the error is %v", name, moved(before, after), failed)
		}
		collected(f)
	}
}

// BenchmarkMove moves rows into files.
func BenchmarkMove(b *testing.B) {
	all := pieces(4_000, 64<<20)
	f := &mapped.Files{Create: mapped.In(b.TempDir()), Failed: func(err error) { b.Fatal(err) }}
	b.SetBytes(64 << 20)
	for b.Loop() {
		mapped.Move(f, slices.Clone(all))
	}
}

package mapped_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"vitrine/cache/view/mapped"
)

// watched maps a file with a name, which was last written a while ago, and watches it.
func watched(t *testing.T, f *mapped.Files) (file *os.File, content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	before := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(path, pieces(2<<20, 1)[0], 0o600), os.Chtimes(path, before, before)); err !=
		nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	content, ok := f.Map(file, 100, 1<<20)
	if !ok {
		t.Fatal("not mapped")
	}
	sum := crc32.ChecksumIEEE(content)
	same := func(content []byte) bool { return crc32.ChecksumIEEE(content) == sum }
	if !f.Watch(file, []mapped.Part{{Content: content, Same: same}}) {
		t.Fatal("not watched")
	}
	return file, content
}

// TestCheck: content is lost, once and for good, when another program has altered it or cut the file, and not when it
// has written the same, or elsewhere.
func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(file *os.File, content []byte) error
		lost  bool
	}{
		"nothing": {func(*os.File, []byte) error { return nil }, false},
		"a byte": {func(file *os.File, content []byte) error {
			return writeAt(file, []byte{^content[5000]}, 5100)
		}, true},
		"the same": {func(file *os.File, content []byte) error {
			return writeAt(file, bytes.Clone(content[:7]), 100)
		}, false},
		"elsewhere":  {func(file *os.File, _ []byte) error { return writeAt(file, []byte("x"), 0) }, false},
		"the end":    {func(file *os.File, _ []byte) error { return file.Truncate(100 + 1<<20 - 1) }, true},
		"everything": {func(file *os.File, _ []byte) error { return file.Truncate(0) }, true},
		"longer":     {func(file *os.File, _ []byte) error { return file.Truncate(3 << 20) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			lost := 0
			f := &mapped.Files{Create: mapped.In(t.TempDir()), Failed: failing(t), Lost: func(error) { lost++ }}
			file, content := watched(t, f)
			if err := f.Check(); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(file, content); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := f.Check(); (err != nil) != tt.lost || (f.Err() != nil) != tt.lost {
					t.Errorf("Check = %v, Err = %v", err, f.Err())
				}
			}
			if (lost == 1) != tt.lost {
				t.Errorf("reported %d times", lost)
			}
			runtime.KeepAlive(content)
		})
	}
}

func writeAt(file *os.File, content []byte, at int64) error {
	_, err := file.WriteAt(content, at)
	return err
}

// TestWatchEnds: a file is closed once nothing of it is in use.
func TestWatchEnds(t *testing.T) {
	f := &mapped.Files{Create: mapped.In(t.TempDir()), Failed: failing(t)}
	first, content := watched(t, f)
	second, other := watched(t, f)
	runtime.KeepAlive(content)
	for content = nil; f.Bytes() > 2<<20; {
		runtime.GC()
	}
	third, last := watched(t, f)
	_, err := first.Stat()
	if _, open := second.Stat(); !errors.Is(err, os.ErrClosed) || open != nil {
		t.Errorf("the first file: %v, the second: %v", err, open)
	}
	runtime.KeepAlive([]any{other, last, third})
}

// BenchmarkCheck checks two files that have not changed, as every answer does that is not kept.
func BenchmarkCheck(b *testing.B) {
	f := &mapped.Files{Create: mapped.In(b.TempDir()), Failed: func(err error) { b.Fatal(err) }}
	var all [][]byte
	for range 2 {
		path := filepath.Join(b.TempDir(), "file")
		before := time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(path, make([]byte, 2<<20), 0o600),
			os.Chtimes(path, before, before)); err != nil {
			b.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		content, _ := f.Map(file, 0, 2<<20)
		f.Watch(file, []mapped.Part{{Content: content, Same: func([]byte) bool { return true }}})
		all = append(all, content)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Check(); err != nil {
			b.Fatal(err)
		}
	}
	runtime.KeepAlive(all)
}

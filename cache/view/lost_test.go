package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/cache/view"
	"vitrine/cache/view/mapped"
	"vitrine/cache/view/snapfile"
	"vitrine/rules"
	"vitrine/rules/fault"
	"vitrine/rules/filter"
)

// mapping skips a test where files are not mapped.
func mapping(t *testing.T, dir string) {
	t.Helper()
	probe := mapped.Files{Create: mapped.In(dir), Failed: func(err error) { t.Skip(err) }}
	mapped.Move(&probe, [][]byte{make([]byte, 2<<20)})
}

// request reads a snapshot as a request does: a fault is reported, and what was read is used only if it is intact. It
// reports whether it was.
func request(snap *view.Snapshot, read func(*view.Snapshot) []byte) (got []byte, err error) {
	defer fault.Panics()()
	defer func() {
		if r := recover(); r != nil {
			fault.Report(r)
			err = fmt.Errorf("500: %v", r)
		}
	}()
	got = read(snap)
	return got, snap.Intact()
}

// overwrite changes a byte in every page of a file from an offset on, in place.
func overwrite(t *testing.T, path string, from int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := from; at < info.Size(); at += 4096 {
		if _, err := file.WriteAt([]byte{'?'}, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSnapshotFileSpoiled: a snapshot file that another program cuts or overwrites while its rows are shown ends
// nothing: the view is read again, what was read from the file before is found to be wrong, and the file is replaced.
func TestSnapshotFileSpoiled(t *testing.T) {
	titles := func(t *testing.T) func(*view.Snapshot) []byte {
		f, err := filter.Parse([]byte(`{"title":{"$gte":"First"}}`), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return func(snap *view.Snapshot) []byte {
			sel, err := snap.Select(t.Context(), f)
			if err != nil {
				return []byte(err.Error())
			}
			return fmt.Append(nil, sel.Count())
		}
	}
	rows := func(t *testing.T) func(*view.Snapshot) []byte {
		return func(snap *view.Snapshot) []byte { return content(t, snap) }
	}
	for name, tt := range map[string]struct {
		file  string
		spoil func(t *testing.T, path string)
		read  func(t *testing.T) func(*view.Snapshot) []byte // nil: nothing is read before the next poll
	}{
		"cut":         {"things", func(t *testing.T, path string) { cut(t, path, 100_000) }, rows},
		"emptied":     {"things", func(t *testing.T, path string) { cut(t, path, 0) }, rows},
		"overwritten": {"things", func(t *testing.T, path string) { overwrite(t, path, 5000) }, rows},
		"overwritten, cut, no time": {"things",
			func(t *testing.T, path string) { overwrite(t, path, 5000); cut(t, path, 1<<20) }, rows},
		"indexes cut": {"things.indexes", func(t *testing.T, path string) { cut(t, path, 100_000) },
			titles},
		"indexes overwritten": {"things.indexes", func(t *testing.T, path string) { overwrite(t, path, 5000) },
			titles},
		"found by the poll":      {"things", func(t *testing.T, path string) { overwrite(t, path, 5000) }, nil},
		"cut, found by the poll": {"things", func(t *testing.T, path string) { cut(t, path, 0) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := t.TempDir(), newStore()
			mapping(t, dir)
			s.publish(longThings(0, 3000, "First "))
			o := filing(filepath.Join(dir, "snapshots"))
			o.RowFiles = mapped.In(dir)
			var log bytes.Buffer
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			var want []byte
			read := rows(t)
			if tt.read != nil {
				read = tt.read(t)
			}
			t.Run("write", func(t *testing.T) {
				snap := <-run(t, s, o).swaps
				titles(t)(snap)
				want = read(snap)
			})
			path := snapfile.Path(o.Files.Dir, tt.file)
			if info, err := os.Stat(path); err != nil || info.Size() < 2<<20 {
				t.Fatal(info, err)
			}
			loads, _ := s.calls()
			t.Run("serve", func(t *testing.T) {
				r := run(t, s, o)
				snap := <-r.swaps
				if got, err := request(snap, read); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("before: %v, the same: %t", err, bytes.Equal(got, want))
				}
				tt.spoil(t, path)
				if tt.read == nil {
					r.Notify("things")
				} else if got, err := request(snap, read); err == nil && !bytes.Equal(got, want) {
					t.Error("altered rows were used")
				}
				next := <-r.swaps
				if err := r.Newer(t.Context(),
					&view.MovedError{View: "things", From: snap.Meta(), Lost: errors.New("spoiled")}); err != nil {
					t.Fatal(err)
				}
				shown, err := r.Snapshot("things")
				if err != nil || shown != next || shown.Meta().Generation != snap.Meta().Generation ||
					shown.Edition() == snap.Edition() {
					t.Errorf("shown %v, %v, edition %s", shown == next, err, shown.Edition())
				}
				if got, err := request(shown, read); err != nil || !bytes.Equal(got, want) {
					t.Errorf("after: %v, the same: %t", err, bytes.Equal(got, want))
				}
				if n := r.Status()[0].Lost; n != 1 {
					t.Errorf("counted %d times", n)
				}
				if !errors.As(snap.Intact(), new(*view.MovedError)) {
					t.Error("the lost snapshot is used further")
				}
			})
			if again, _ := s.calls(); again != loads+1 || strings.Count(log.String(), "rows lost") != 1 {
				t.Errorf("the view was read %d times; log:\n%s", again-loads, log.String())
			}
			s.set(func(s *store) { s.err = errAway })
			t.Run("start again", func(t *testing.T) { // the file was replaced at the end
				if got, err := request(<-run(t, s, o).swaps, rows(t)); err != nil || len(got) < 3<<20 ||
					bytes.Contains(got, []byte("?")) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			})
		})
	}
}

func cut(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotFileTouched: a new time of a file whose content is the same loses nothing.
func TestSnapshotFileTouched(t *testing.T) {
	dir, s := t.TempDir(), newStore()
	mapping(t, dir)
	s.publish(longThings(0, 3000, "First "))
	o := filing(filepath.Join(dir, "snapshots"))
	o.RowFiles = mapped.In(dir)
	leaveFile(t, s, o.Files.Dir)
	snap := <-run(t, s, o).swaps
	for range 3 {
		now := time.Now()
		if err := os.Chtimes(snapfile.Path(o.Files.Dir, "things"), now, now); err != nil {
			t.Fatal(err)
		}
		if err := snap.Intact(); err != nil {
			t.Error(err)
		}
	}
}

// TestSnapshotFileSpoiledWithoutStore: lost rows are not shown while the view cannot be read again, and a file of
// them is not written.
func TestSnapshotFileSpoiledWithoutStore(t *testing.T) {
	dir, s := t.TempDir(), newStore()
	mapping(t, dir)
	s.publish(longThings(0, 3000, "First "))
	o := filing(filepath.Join(dir, "snapshots"))
	o.RowFiles = mapped.In(dir)
	path := snapfile.Path(o.Files.Dir, "things")
	leaveFile(t, s, o.Files.Dir)
	s.set(func(s *store) { s.err = errAway })
	var spoiled []byte
	t.Run("serve", func(t *testing.T) {
		r := run(t, s, o)
		snap := <-r.swaps
		r.until(func(st view.Status) bool { return st.Err != nil })
		overwrite(t, path, 5000)
		moved, ok := errors.AsType[*view.MovedError](snap.Intact())
		if !ok {
			t.Fatal("the altered rows count as intact")
		}
		if err := r.Newer(t.Context(), moved); !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("Newer = %v", err)
		}
		if _, err := r.Snapshot("things"); !errors.As(err, new(*view.MovedError)) {
			t.Errorf("Snapshot = %v", err)
		}
		var err error
		if spoiled, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		s.set(func(s *store) { s.meta.Checked = time.Now() })
	})
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, spoiled) {
		t.Errorf("the altered rows were written, with right checksums: %v", err)
	}
	s.set(func(s *store) { s.err = nil })
	if got := content(t, <-run(t, s, o).swaps); bytes.Contains(got, []byte("?")) {
		t.Error("altered rows")
	}
}

// cuttable makes files without a name that a test can cut, as if the disk did not return them.
type cuttable struct {
	dir   string
	mu    sync.Mutex
	files []*os.File // guarded by mu
}

func (c *cuttable) create() (*os.File, error) {
	file, err := os.CreateTemp(c.dir, ".vitrine-*.tmp")
	if err != nil {
		return nil, err
	}
	again, err := os.OpenFile(file.Name(), os.O_RDWR, 0)
	if err == nil {
		err = os.Remove(file.Name())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, again)
	return file, err
}

func (c *cuttable) cut(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, file := range c.files {
		if err := errors.Join(file.Truncate(0), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	c.files = nil
}

// TestMappedRowsUnreadable: faults in the background, where changes are applied and segments folded, end nothing. The
// view is read again, at once.
func TestMappedRowsUnreadable(t *testing.T) {
	for name, changed := range map[string]int{"changes": 10, "fold": 1500} {
		t.Run(name, func(t *testing.T) {
			files, s := &cuttable{dir: t.TempDir()}, newStore()
			mapping(t, files.dir)
			s.publish(longThings(0, 3000, "First "))
			r := run(t, s, view.Options{Poll: time.Hour, RowFiles: files.create})
			snap := <-r.swaps
			files.cut(t)
			s.publish(longThings(0, changed, "Second "))
			next := r.next()
			want := content(t, <-run(t, s, view.Options{Poll: time.Hour}).swaps)
			if got, err := request(next, func(snap *view.Snapshot) []byte { return content(t, snap) }); err != nil ||
				!bytes.Equal(got, want) {
				t.Errorf("%v, the same: %t", err, bytes.Equal(got, want))
			}
			if n := r.Status()[0].Lost; n != 1 {
				t.Errorf("counted %d times", n)
			}
			runtime.KeepAlive(snap)
		})
	}
}

// TestUnreadableRowsAreNotWritten: a fault while the snapshot file is written ends nothing and leaves it as it was.
func TestUnreadableRowsAreNotWritten(t *testing.T) {
	files, s := &cuttable{dir: t.TempDir()}, newStore()
	mapping(t, files.dir)
	s.publish(longThings(0, 3000, "First "))
	o := filing(filepath.Join(files.dir, "snapshots"))
	o.RowFiles = files.create
	path := snapfile.Path(o.Files.Dir, "things")
	var before []byte
	t.Run("serve", func(t *testing.T) {
		r := run(t, s, o)
		<-r.swaps
		// It is written a second after the start, and then not for an hour, or at the end.
		r.until(func(st view.Status) bool { return !st.FileConfirmed.IsZero() })
		var err error
		if before, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		s.publish(longThings(0, 10, "Second "))
		r.next()
		files.cut(t)
	})
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file is the same: %t, %v", bytes.Equal(after, before), err)
	}
	if left, err := os.ReadDir(o.Files.Dir); err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v %v", left, err)
	}
}

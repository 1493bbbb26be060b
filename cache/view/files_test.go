package view_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/cache/view/snapfile"
	"vitrine/rules"
)

// filing returns options that keep files in a folder.
func filing(dir string) view.Options {
	return view.Options{Poll: time.Hour, Files: view.Files{Dir: dir, Store: "fake://store", Every: time.Hour}}
}

// set replaces the content of the store.
func (s *store) set(change func(*store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// calls returns how often a set read the whole store, and how often only from a generation on.
func (s *store) calls() (loads, deltas int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads, s.deltas
}

// leaveFile has a set write a file of the store's view, and ends the set.
func leaveFile(t *testing.T, s *store, dir string) {
	t.Helper()
	t.Run("write", func(t *testing.T) { <-run(t, s, filing(dir)).swaps })
	if _, err := os.Stat(snapfile.Path(dir, "things")); err != nil {
		t.Fatal(err)
	}
}

// threeThings is a store with two generations of a view.
func threeThings() *store {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A"), thing("b", 2022, "B"), thing("c", 2021, "C")})
	s.publish([]bson.D{thing("d", 2023, "D")}, "c")
	return s
}

var errAway = errors.New("store away")

// TestFileServesWhileTheStoreIsAway: a set that starts without the store shows the rows of its
// predecessor, with their age, and continues from there when the store is back.
func TestFileServesWhileTheStoreIsAway(t *testing.T) {
	s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
	began := time.Now()
	leaveFile(t, s, dir)
	ended := time.Now()
	loads, _ := s.calls()
	s.set(func(s *store) { s.err = errAway })

	r := run(t, s, filing(dir))
	if got, want := ids(t, <-r.swaps, `{}`), []string{"d", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("rows from the file: %v, want %v", got, want)
	}
	r.until(func(st view.Status) bool { return st.Err != nil })
	st := r.Status()[0]
	if !st.Stale || st.Meta.Generation != 2 || st.Checked.Before(began.Truncate(time.Millisecond)) ||
		st.Checked.After(ended) {
		t.Errorf("status without the store: %+v, want confirmed between %v and %v", st, began, ended)
	}
	s.set(func(s *store) { s.err = nil })
	s.publish([]bson.D{thing("e", 2019, "E")}, "d")
	if got, want := ids(t, r.next(), `{}`), []string{"b", "a", "e"}; !slices.Equal(got, want) {
		t.Errorf("rows when the store is back: %v, want %v", got, want)
	}
	r.until(func(st view.Status) bool { return !st.Stale })
	if again, deltas := s.calls(); again != loads || deltas != 1 {
		t.Errorf("%d more reads of the whole view and %d of deltas; want 0, 1", again-loads, deltas)
	}
}

// until waits for a status.
func (r *running) until(is func(view.Status) bool) {
	r.t.Helper()
	for !is(r.Status()[0]) {
		<-time.After(time.Millisecond)
	}
}

// TestFileSparesTheStore: if the store answers, a set starts with the file and reads only changes,
// and never shows anything older than the store reports.
func TestFileSparesTheStore(t *testing.T) {
	for name, tt := range map[string]struct {
		change        func(*store) // while no set runs
		loads, deltas int          // counts afterwards
		want          []string
	}{
		"unchanged": {func(*store) {}, 0, 0, []string{"d", "b", "a"}},
		"changed": {func(s *store) {
			s.mu.Unlock()
			s.publish([]bson.D{thing("e", 2024, "E")})
			s.mu.Lock()
		}, 0, 1, []string{"e", "d", "b", "a"}},
		"too old":      {func(s *store) { s.meta.Generation++; s.pruned = 3 }, 1, 1, []string{"d", "b", "a"}},
		"another life": {func(s *store) { s.meta.Epoch = "two" }, 1, 0, []string{"d", "b", "a"}},
		"back in time": {func(s *store) { s.meta.Generation = 1; s.rows = s.rows[:3] }, 0, 0,
			[]string{"d", "b", "a"}},
		"back, and confirmed by a run": {func(s *store) {
			s.meta.Generation, s.meta.Checked, s.rows = 1, time.Now(), s.rows[:3]
		}, 1, 0, []string{"b", "c", "a"}},
		"another store":  {func(s *store) { s.meta.Epoch = "x" }, 1, 0, []string{"d", "b", "a"}},
		"all taken away": {func(s *store) { s.meta.Generation = 1; s.meta.Epoch = "n"; s.rows = nil }, 1, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
			leaveFile(t, s, dir)
			loads, deltas := s.calls()
			s.set(tt.change)
			if got := ids(t, <-run(t, s, filing(dir)).swaps, `{}`); !slices.Equal(got, tt.want) {
				t.Errorf("first rows shown: %v, want %v", got, tt.want)
			}
			l, d := s.calls()
			if l-loads != tt.loads || d-deltas != tt.deltas {
				t.Errorf("%d reads of the whole view and %d of deltas; want %d, %d", l-loads, d-deltas, tt.loads,
					tt.deltas)
			}
		})
	}
}

// TestFileRefused: a set ignores a file that is damaged or of another view. The view has no rows
// until the store answers; then the set replaces the file.
func TestFileRefused(t *testing.T) {
	for name, spoil := range map[string]func(content []byte) []byte{
		"cut":             func(b []byte) []byte { return b[:len(b)-9] },
		"a bit":           func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"empty":           func([]byte) []byte { return nil },
		"another version": func(b []byte) []byte { b[7]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
			leaveFile(t, s, dir)
			path := snapfile.Path(dir, "things")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, spoil(content), 0o600); err != nil {
				t.Fatal(err)
			}
			notUsed(t, s, filing(dir))
			leaveFile(t, s, dir)
			if h, rows, err := snapfile.Read(path); err != nil || h.Generation != 2 || len(rows) != 3 {
				t.Errorf("the file afterwards: %+v, %d rows, %v", h, len(rows), err)
			}
		})
	}
	t.Run("another store's", func(t *testing.T) {
		s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
		leaveFile(t, s, dir)
		o := filing(dir)
		o.Files.Store = "fake://another"
		notUsed(t, s, o)
	})
	t.Run("another view's", func(t *testing.T) {
		s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
		if err := snapfile.Prepare(dir); err != nil {
			t.Fatal(err)
		}
		h := snapfile.Header{Store: "fake://store", Meta: origin.Meta{View: "others", Epoch: "one", Generation: 2}}
		if err := snapfile.Write(snapfile.Path(dir, "things"), h, slices.Values([]bson.Raw{})); err != nil {
			t.Fatal(err)
		}
		notUsed(t, s, filing(dir))
	})
}

// notUsed starts a set whose store is away, and checks that it shows no rows.
func notUsed(t *testing.T, s *store, o view.Options) {
	t.Helper()
	s.set(func(s *store) { s.err = errAway })
	t.Run("away", func(t *testing.T) {
		r := run(t, s, o)
		r.until(func(st view.Status) bool { return st.Err != nil })
		if _, err := r.Snapshot("things"); !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("shown: %v", err)
		}
	})
	s.set(func(s *store) { s.err = nil })
}

// TestFileCannotBeWritten: the set goes on showing its views, and reports the failure.
func TestFileCannotBeWritten(t *testing.T) {
	s, dir := threeThings(), t.TempDir()+"/gone"
	o := filing(dir)
	o.Files.Every = time.Millisecond
	r := run(t, s, o)
	<-r.swaps
	r.until(func(st view.Status) bool { return !st.FileConfirmed.IsZero() })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.publish([]bson.D{thing("e", 2024, "E")})
	if snap := r.next(); snap.Len() != 4 {
		t.Errorf("%d rows", snap.Len())
	}
	r.until(func(st view.Status) bool { return st.FileErr != nil })
	if err := r.Status()[0].FileErr; !strings.Contains(err.Error(), "gone") {
		t.Errorf("reported: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.until(func(st view.Status) bool { return st.FileErr == nil })
	if h, _, err := snapfile.Read(snapfile.Path(dir, "things")); err != nil || h.Generation != 3 {
		t.Errorf("written again: generation %d, %v", h.Generation, err)
	}
}

// TestFileOfIndexes: a set continues with the indexes of its predecessor, and builds them if their file is missing,
// damaged or belongs to other rows.
func TestFileOfIndexes(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(content, older []byte) []byte // nil removes the file
		paths int
	}{
		"whole":           {func(content, _ []byte) []byte { return content }, 2},
		"missing":         {nil, 0},
		"cut":             {func(content, _ []byte) []byte { return content[:len(content)-9] }, 0},
		"a bit":           {func(content, _ []byte) []byte { content[len(content)/2] ^= 4; return content }, 0},
		"another version": {func(content, _ []byte) []byte { content[7]++; return content }, 0},
		"of other rows":   {func(_, older []byte) []byte { return older }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
			path := snapfile.Path(dir, "things.indexes")
			leave := func() (content []byte) {
				t.Run("write", func(t *testing.T) {
					snap := <-run(t, s, filing(dir)).swaps
					ids(t, snap, `{"year":{"$gt":2020},"title":{"$gt":"A"}}`)
				})
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return content
			}
			older := leave()
			s.publish([]bson.D{thing("e", 2021, "E")}, "a")
			content := leave()
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if tt.spoil != nil {
				if err := os.WriteFile(path, tt.spoil(content, older), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Run("start", func(t *testing.T) {
				r := run(t, s, filing(dir))
				snap := <-r.swaps
				if st := r.Status()[0]; st.IndexPaths != tt.paths {
					t.Errorf("%d indexes, want %d", st.IndexPaths, tt.paths)
				}
				if got, want := ids(t, snap, `{"year":{"$gt":2020},"title":{"$gt":"A"}}`), []string{"d", "b",
					"e"}; !slices.Equal(got, want) {
					t.Errorf("rows %v, want %v", got, want)
				}
				s.publish([]bson.D{thing("f", 2024, "F"), thing("b", 2019, "B")})
				if got, want := ids(t, r.next(), `{"year":{"$gt":2020}}`), []string{"f", "d", "e"}; !slices.Equal(got,
					want) {
					t.Errorf("rows after a refresh %v, want %v", got, want)
				}
			})
			if tt.spoil != nil && slices.Equal(leave(), content) {
				t.Error("the file has not followed the rows")
			}
		})
	}
}

// TestFileSaysWhenItWasConfirmed: so does the file of a snapshot that is shown by a refresh that has not ended.
func TestFileSaysWhenItWasConfirmed(t *testing.T) {
	p, dir := newPublisher(t), filepath.Join(t.TempDir(), "files")
	p.publish("slow", 5, numberedDocs(t, 5, 1)...)
	o := filing(dir)
	o.Store, o.Views = p, []index.Definition{{Name: "slow"}}
	s, err := view.New(o)
	if err != nil {
		t.Fatal(err)
	}
	goOn := make(chan struct{})
	s.Prepare(func(context.Context, *view.Snapshot, []index.Change) func() { return func() { <-goOn } })
	ctx, stop := context.WithCancel(t.Context())
	began, ended := time.Now().Truncate(time.Millisecond), make(chan error)
	go func() { ended <- s.Run(ctx) }()
	var h snapfile.Header
	for h, _, err = snapfile.Read(snapfile.Path(dir, "slow")); err !=
		nil; h, _, err = snapfile.Read(snapfile.Path(dir, "slow")) {
		<-time.After(time.Millisecond)
	}
	if h.Confirmed.Before(began) || h.Confirmed.After(time.Now()) {
		t.Errorf("written as confirmed at %v", h.Confirmed)
	}
	close(goOn)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

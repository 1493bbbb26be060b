package view_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/mapped"
	"vitrine/rules/filter"
)

// longThings returns n things, numbered upwards from a number, of about a kilobyte each.
func longThings(from, n int, title string) (docs []bson.D) {
	for i := from; i < from+n; i++ {
		id := fmt.Sprintf("%06d", i)
		docs = append(docs, thing(id, 2000+i%20, title+id+strings.Repeat(" long", 200)))
	}
	return docs
}

// content returns the rows and fragments that a snapshot shows.
func content(t *testing.T, snap *view.Snapshot) []byte {
	t.Helper()
	sel, err := snap.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for row, err := range sel.Rows(t.Context(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, row.Doc()...), row.Fragment("title")...)
	}
	return all
}

// TestRowsAreMapped: rows and fragments are in mapped files, whether they come from the store, from
// a snapshot file or from a fold. Readers of replaced snapshots still read the old rows.
func TestRowsAreMapped(t *testing.T) {
	dir, s := t.TempDir(), newStore()
	probe := mapped.Files{Create: mapped.In(dir), Failed: func(err error) { t.Skip(err) }}
	mapped.Move(&probe, [][]byte{make([]byte, 2<<20)})
	s.publish(longThings(0, 3000, "First "))
	o := filing(filepath.Join(dir, "snapshots"))
	o.RowFiles = mapped.In(dir)
	want := content(t, <-run(t, s, view.Options{Poll: time.Hour}).swaps)
	t.Run("load", func(t *testing.T) {
		r := run(t, s, o)
		snap := <-r.swaps
		if got := r.Status()[0].MappedBytes; got < 3<<20 || !bytes.Equal(content(t, snap), want) {
			t.Errorf("%d bytes are mapped; equal: %t", got, bytes.Equal(content(t, snap), want))
		}
	})
	s.set(func(s *store) { s.err = errAway })
	t.Run("from file", func(t *testing.T) {
		r := run(t, s, o)
		snap := <-r.swaps
		if got := r.Status()[0].MappedBytes; got < 3<<20 || !bytes.Equal(content(t, snap), want) {
			t.Errorf("%d bytes are mapped; equal: %t", got, bytes.Equal(content(t, snap), want))
		}
		s.set(func(s *store) { s.err = nil })
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for range 5 {
					runtime.GC()
					if !bytes.Equal(content(t, snap), want) {
						t.Error("a replaced snapshot has changed")
					}
				}
			})
			s.publish(longThings(i*100, 1500, fmt.Sprint("Generation ", i))) // enough for a fold
			next := r.next()
			readers.Wait()
			if got := r.Status()[0]; got.Segments != 1 || got.MappedBytes < 3<<20 {
				t.Errorf("%d segments, %d bytes mapped", got.Segments, got.MappedBytes)
			}
			snap, want = next, content(t, <-run(t, s, view.Options{Poll: time.Hour}).swaps)
		}
	})
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, []string{o.Files.Dir}) {
		t.Errorf("files left behind: %v %v", left, err)
	}
}

// TestRowsStayInMemory: if the set cannot write a file, all rows stay in memory, and it logs the
// reason once.
func TestRowsStayInMemory(t *testing.T) {
	for name, files := range map[string]func() (*os.File, error){
		"no folder": mapped.In(filepath.Join(t.TempDir(), "none")),
		"full disk": func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_RDWR, 0) },
	} {
		s := newStore()
		s.publish(longThings(0, 3000, "First "))
		var log bytes.Buffer
		want := content(t, <-run(t, s, view.Options{Poll: time.Hour}).swaps)
		r := run(t, s,
			view.Options{Poll: time.Hour, RowFiles: files, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if snap := <-r.swaps; !bytes.Equal(content(t, snap), want) || r.Status()[0].MappedBytes > 0 {
			t.Errorf("%s: other rows", name)
		}
		s.publish(longThings(0, 1500, "Second "))
		r.next()
		if strings.Count(log.String(), "rows are held in memory") != 1 {
			t.Errorf("%s: the log is %s", name, log.String())
		}
	}
}

package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// storeNotes stores n documents of about a size, whose text is the round.
func storeNotes(t *testing.T, s *Store, round, n, size int) {
	t.Helper()
	var docs []bson.Raw
	for i := range n {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: fmt.Sprintf("n%05d", i)}, {Key: "round", Value: round},
			{Key: "text", Value: string(bytes.Repeat([]byte("x"), size))}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	if _, err := s.Upsert(t.Context(), "notes", docs); err != nil {
		t.Fatal(err)
	}
}

// rounds returns how many notes a store has of each round.
func rounds(t *testing.T, path string) map[int32]int {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := map[int32]int{}
	for doc, err := range s.Scan(t.Context(), "notes") {
		if err != nil {
			t.Fatal(err)
		}
		found[doc.Lookup("round").Int32()]++
	}
	return found
}

// TestBackup: a copy has what the store had when the copy began, though others write meanwhile, and it is a sound
// store of its own.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "v.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storeNotes(t, s, 1, 500, 1000)
	// The mapping has room for what the loop writes: otherwise the copy would give way.
	storeNotes(t, s, 1, 500, 1000)

	copied, err := os.Create(filepath.Join(dir, "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	size, written := int64(0), 0
	err = s.Backup(t.Context(), func(_ context.Context, bytes int64) io.Writer {
		size = bytes
		return writerFunc(func(p []byte) (int, error) {
			if written++; written == 3 {
				storeNotes(t, s, 2, 20, 100)
			}
			return copied.Write(p)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := copied.Stat(); err != nil || at.Size() != size {
		t.Errorf("%d bytes were announced, %d written: %v", size, at.Size(), err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
	parts, err := Check(t.Context(), copied.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if !p.Sound() {
			t.Errorf("%s is damaged: %+v", p.Name, p)
		}
	}
	if got := rounds(t, copied.Name()); got[1] != 500 || got[2] != 0 {
		t.Errorf("notes of the copy by round: %v; want 500 of round 1", got)
	}
}

// TestBackupOpens: a copy is opened and written, whichever meta page had the last commit of the original.
func TestBackupOpens(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "v.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		storeNotes(t, s, i, 10, 10) // one commit
		var copied bytes.Buffer
		if err := s.Backup(t.Context(), func(context.Context, int64) io.Writer { return &copied }); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("copy%d.db", i))
		if err := os.WriteFile(name, copied.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		copy, err := Open(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			storeNotes(t, copy, i+10, 5, 10)
		}
		if notes := copy.Damage(); len(notes) > 0 {
			t.Error(notes)
		}
		if err := copy.Close(); err != nil {
			t.Fatal(err)
		}
		if got := rounds(t, name); got[int32(i)] != 5 || got[int32(i)+10] != 5 {
			t.Errorf("copy %d: notes by round: %v", i, got)
		}
	}
}

// TestBackupYields: a copy whose reader is stuck ends when a writer has to enlarge the mapping.
func TestBackupYields(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "v.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	storeNotes(t, s, 1, 10, 10)
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Backup(t.Context(), func(ctx context.Context, _ int64) io.Writer {
			return writerFunc(func([]byte) (int, error) {
				close(began)
				<-ctx.Done()
				return 0, io.ErrShortWrite
			})
		})
	}()
	<-began
	storeNotes(t, s, 2, 1000, 10_000) // returns only after the copy has ended
	if err := <-ended; !errors.Is(err, ErrYielded) {
		t.Errorf("the copy ended with %v; want ErrYielded", err)
	}
}

// TestBackupOfClosed copies a file that no process has open, and refuses others.
func TestBackupOfClosed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	storeNotes(t, s, 7, 50, 100)
	var copied bytes.Buffer
	to := func(context.Context, int64) io.Writer { return &copied }
	if err := Backup(t.Context(), path, to); !errors.Is(err, origin.ErrLocked) {
		t.Errorf("a store in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), path, to); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "copy.db"), copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := rounds(t, filepath.Join(dir, "copy.db")); got[7] != 50 {
		t.Errorf("notes of the copy by round: %v; want 50 of round 7", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Backup(ctx, path, to); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	if err := Backup(t.Context(), filepath.Join(dir, "none.db"), to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), empty, to); !errors.Is(err, origin.ErrDamaged) {
		t.Errorf("an empty file: %v", err)
	}
}

// writerFunc is an io.Writer that calls itself.
type writerFunc func(p []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

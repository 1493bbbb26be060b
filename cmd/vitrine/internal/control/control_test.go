package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// running is a server of a store.
type running struct {
	store    *bolt.Store
	path     string
	imported atomic.Int32
}

// serve serves a new store in a folder until the test ends, and waits until its socket is there.
func serve(t *testing.T, dir string) *running {
	t.Helper()
	r := &running{path: filepath.Join(dir, "v.db")}
	var err error
	if r.store, err = bolt.Open(r.path, bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	s := NewServer(Options{
		Path: r.path, Store: r.store, Backup: r.store.Backup, Builds: true, Log: slog.New(slog.DiscardHandler),
		Imported: func() { r.imported.Add(1) },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, r.store.Close()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(SocketOf(r.path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket after the end of the server: %v", err)
		}
	})
	await(t, "the socket is open", func() bool {
		c, err := Dial(t.Context(), r.path)
		if err == nil {
			err = c.Close()
		}
		return err == nil
	})
	return r
}

// await calls until again until it returns true, or the tests end.
func await(t *testing.T, what string, until func() bool) {
	t.Helper()
	for !until() {
		select {
		case <-t.Context().Done():
			t.Fatal("not so: ", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// connect begins an import that ends with the test.
func (r *running) connect(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(t.Context(), r.path)
	if err == nil {
		err = c.Import(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// documents returns documents with the ids 0 to n-1.
func documents(t *testing.T, n int) (docs []bson.Raw) {
	t.Helper()
	for i := range n {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "title", Value: fmt.Sprint("No. ", i)}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// ids returns the ids that the store has in a collection.
func (r *running) ids(t *testing.T, collection string) (ids []int32) {
	t.Helper()
	for doc, err := range r.store.Scan(t.Context(), collection) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, doc.Lookup("_id").Int32())
	}
	return ids
}

// TestImport: a client stores and deletes as the store itself does, also where the path is longer than that of a
// socket may be, and the end of its import is reported.
func TestImport(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("long", 30))} {
		r := serve(t, dir)
		c := r.connect(t)
		if !c.Info.Builds {
			t.Error("the server does not say that it builds views")
		}
		done, err := c.Upsert(t.Context(), "activities", documents(t, 10))
		if err != nil || done != (origin.UpsertCounts{Inserted: 10}) {
			t.Errorf("store 10: %+v, %v", done, err)
		}
		done, err = c.Upsert(t.Context(), "activities", documents(t, 12))
		if err != nil || done != (origin.UpsertCounts{Inserted: 2, Replaced: 10}) {
			t.Errorf("store 12: %+v, %v", done, err)
		}
		removed, err := c.Retain(t.Context(), "activities", func(id bson.RawValue) bool { return id.Int32() < 3 })
		if got := r.ids(t, "activities"); err != nil || removed != 9 || len(got) != 3 {
			t.Errorf("retain: %d removed, %v left, %v", removed, got, err)
		}
		if removed, err = c.Retain(t.Context(), "none", func(bson.RawValue) bool { return true }); err != nil ||
			removed != 0 {
			t.Errorf("retain in no collection: %d removed, %v", removed, err)
		}
		_, direct := r.store.Upsert(t.Context(), "a.$b", documents(t, 1))
		if _, err = c.Upsert(t.Context(), "a.$b", documents(t, 1)); err == nil || err.Error() != direct.Error() {
			t.Errorf("a bad name of a collection: %v; want %v", err, direct)
		}
		if n := r.imported.Load(); n != 0 {
			t.Errorf("%d imports have ended before their end", n)
		}
		_ = c.Close()
		await(t, "the end is reported", func() bool { return r.imported.Load() == 1 })
	}
}

// TestOneImport: a second import is refused while one runs, and begins when the other connection ends.
func TestOneImport(t *testing.T) {
	t.Parallel()
	r := serve(t, t.TempDir())
	first := r.connect(t)
	second, err := Dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })
	if err := second.Import(t.Context()); err == nil || !strings.Contains(err.Error(), "another import runs") {
		t.Errorf("a second import: %v", err)
	}
	if _, err := second.Upsert(t.Context(), "a", documents(t, 1)); err == nil ||
		!strings.Contains(err.Error(), "has begun no import") {
		t.Errorf("without an import: %v", err)
	}
	_ = first.Close()
	await(t, "the second import begins", func() bool { return second.Import(t.Context()) == nil })
	if n := r.imported.Load(); n != 0 {
		t.Errorf("%d imports reported that stored nothing", n)
	}
}

// TestHostile: bodies that are no documents, too large or cut store nothing, and the server goes on.
func TestHostile(t *testing.T) {
	t.Parallel()
	r := serve(t, t.TempDir())
	c := r.connect(t)
	good := join(documents(t, 2))
	nested := bson.Raw{5, 0, 0, 0, 0}
	for range 500 {
		nested, _ = bson.Marshal(bson.D{{Key: "a", Value: nested}})
	}
	for name, body := range map[string][]byte{
		"text":            []byte("hello"),
		"cut":             good[:len(good)-1],
		"length beyond":   {0xff, 0xff, 0xff, 0x7f, 0},
		"length negative": {0xff, 0xff, 0xff, 0xff, 0},
		"no id":           {5, 0, 0, 0, 0},
		"nested":          nested,
		"unknown type":    {12, 0, 0, 0, 0x7e, 'a', 0, 0, 0, 0, 0, 0},
		"too large":       make([]byte, maxBody+1),
		"second is bad":   append(bytes.Clone(good), 1, 2, 3),
	} {
		var done result
		if err := c.call(t.Context(), http.MethodPost, "/upsert", "activities", body, &done); err == nil {
			t.Errorf("%s: stored %+v", name, done)
		}
		_ = c.Close() // the server may have closed it
		await(t, "a new import begins", func() bool { return c.Import(t.Context()) == nil })
	}
	if got := r.ids(t, "activities"); len(got) != 0 {
		t.Errorf("stored: %v", got)
	}
	if _, err := c.Upsert(t.Context(), "activities", documents(t, 2)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestAborted: an upload that ends early stores nothing, and leaves the import to others.
func TestAborted(t *testing.T) {
	t.Parallel()
	r := serve(t, t.TempDir())
	conn, err := dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	body := join(documents(t, 3))
	begin := "POST /import HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	upload := fmt.Sprintf("POST /upsert?collection=activities HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
		len(body))
	if _, err := io.WriteString(conn, begin); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 15)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 200 OK" {
		t.Fatalf("begin: %q, %v", answer, err)
	}
	if _, err := conn.Write(append([]byte(upload), body[:len(body)-5]...)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	await(t, "another import begins", func() bool { return c.Import(t.Context()) == nil })
	if got := r.ids(t, "activities"); len(got) != 0 {
		t.Errorf("stored: %v", got)
	}
}

// TestSocket: only the user of the server may connect, and a stale socket is replaced, but no other file.
func TestSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: SocketOf(filepath.Join(dir, "v.db")), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as after a kill
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), filepath.Join(dir, "v.db")); err == nil {
		t.Error("a server answers at a stale socket")
	}
	r := serve(t, dir)
	at, err := os.Stat(SocketOf(r.path))
	if err != nil || at.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v", at.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".vitrine-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	other := filepath.Join(t.TempDir(), "v.db")
	if err := os.WriteFile(SocketOf(other), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(other); err == nil {
		t.Error("a file was replaced by a socket")
	}
}

// TestBackup: a copy comes whole, with its size announced, and gives way to a writer though its reader is stuck.
func TestBackup(t *testing.T) {
	t.Parallel()
	r := serve(t, t.TempDir())
	if _, err := r.store.Upsert(t.Context(), "activities", documents(t, 100)); err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var copied bytes.Buffer
	size := int64(0)
	err = c.Backup(t.Context(), func(_ context.Context, bytes int64) io.Writer {
		size = bytes
		return &copied
	})
	if err != nil || size == 0 || size != int64(copied.Len()) {
		t.Errorf("%d bytes of %d: %v", copied.Len(), size, err)
	}
	stuck, err := dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	if _, err := r.store.Upsert(t.Context(), "large", large(t, 2000)); err != nil { // more than the socket buffers
		t.Fatal(err)
	}
	if _, err := io.WriteString(stuck, "GET /backup HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stuck, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	// It returns only because the copy gives way.
	if _, err := r.store.Upsert(t.Context(), "more", large(t, 4000)); err != nil {
		t.Error(err)
	}
}

// large returns n documents of ten kilobytes.
func large(t *testing.T, n int) (docs []bson.Raw) {
	t.Helper()
	text := strings.Repeat("x", 10_000)
	for i := range n {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "text", Value: text}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// TestAnswers: what is no request of ours is refused as HTTP servers do.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := serve(t, t.TempDir())
	c, err := Dial(t.Context(), r.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for path, want := range map[string]int{"/": 404, "/import": 405, "/upsert": 405, "/store": 200} {
		res, err := c.send(t.Context(), http.MethodGet, path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if _ = res.Body.Close(); res.StatusCode != want {
			t.Errorf("GET %s: %d; want %d", path, res.StatusCode, want)
		}
	}
}

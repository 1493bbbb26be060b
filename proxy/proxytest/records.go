package proxytest

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// Refresh publishes rows and waits until they are visible.
func (s *Site) Refresh(view string, rows ...bson.Raw) {
	s.T.Helper()
	s.Store.Publish(view, rows...)
	meta, err := s.Store.Meta(s.T.Context(), view)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Views.Notify(view)
	for {
		snapshot, err := s.Views.Snapshot(view)
		if err != nil {
			s.T.Fatal(err)
		}
		if snapshot.Meta().Generation == meta.Generation {
			return
		}
		runtime.Gosched()
	}
}

// Many returns a store of n activities with citations of some length.
func Many(t testing.TB, n int) *Store {
	t.Helper()
	s := NewStore()
	docs := make([]bson.Raw, n)
	for i := range docs {
		web := fmt.Sprintf("<a href='/activities/view/%d'>Activity %d</a> %s", i, i, strings.Repeat("lorem ipsum ", 20))
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: i}, {Key: "type", Value: "publication"}, {Key: "year", Value: 1990 + i%35},
			{Key: "title", Value: fmt.Sprint("Activity ", i)},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: web}, {Key: "print", Value: web}, {Key: "icon", Value: "i"}, {Key: "type", Value: "Publications"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = doc
	}
	s.Publish(rules.ViewActivities, docs...)
	s.Publish(rules.ViewPersons)
	return s
}

// Plain returns the body of a response, decompressed.
func Plain(t *testing.T, res Response) string {
	t.Helper()
	var same fasthttp.Response
	same.Header.SetContentEncoding(res.Header.Get("Content-Encoding"))
	same.SetBodyRaw(res.Body)
	plain, err := same.BodyUncompressed()
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// LockedBuffer collects log lines from several goroutines.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Taken returns the text written since its last call.
func (l *LockedBuffer) Taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// Secret is part of every text that answers must not contain.
const Secret = "Xyzzyqua"

package citation

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fakeIndex is an index on a local server. Its answer can be changed at any time.
type fakeIndex struct {
	url string

	mu       sync.Mutex
	answer   http.HandlerFunc // guarded by mu
	requests []string         // guarded by mu: the URIs requested
}

func newIndex(t *testing.T, answer http.HandlerFunc) *fakeIndex {
	t.Helper()
	index := &fakeIndex{answer: answer}
	server := httptest.NewServer(index)
	t.Cleanup(server.Close)
	index.url = server.URL
	return index
}

func (x *fakeIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	x.requests = append(x.requests, r.URL.RequestURI())
	answer := x.answer
	x.mu.Unlock()
	answer(w, r)
}

func (x *fakeIndex) answers(answer http.HandlerFunc) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer = answer
}

func (x *fakeIndex) asked() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requests
}

// page answers with a page.
func page(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}
}

// status answers with a status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// clock is a clock that only moves when a test advances it, or when a caller waits.
type clock struct {
	mu    sync.Mutex
	now   time.Time       // guarded by mu
	waits []time.Duration // guarded by mu
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) sleep(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waits = append(c.waits, d)
	return nil
}

// newTestClient returns a client of an index with a driven clock. Unset options have the defaults of the settings,
// but the client does not wait between requests, and gives them an hour, which passes by no driven clock.
func newTestClient(t *testing.T, index *fakeIndex, o Options) (*Client, *clock) {
	t.Helper()
	c := newClock()
	o.Origin, o.Lifetime, o.Timeout = index.url, cmp.Or(o.Lifetime, 24*time.Hour), cmp.Or(o.Timeout, time.Hour)
	o.StaleFor = cmp.Or(o.StaleFor, 30*24*time.Hour)
	client := New(o)
	client.now, client.sleep = c.Now, c.sleep
	t.Cleanup(client.Close)
	return client, c
}

// read decodes an answer.
func read(t *testing.T, a Answer) (found struct {
	TotalCitations *string `json:"total_citations"`
	Publications   []publication
	Title, DOI     string
}) {
	t.Helper()
	if err := json.Unmarshal(a.Text, &found); err != nil {
		t.Fatalf("%q: %v", a.Text, err)
	}
	return found
}

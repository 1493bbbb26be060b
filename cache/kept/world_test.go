package kept_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
)

var errDown = errors.New("connection refused")

var client = netip.MustParsePrefix("192.0.2.1/32")

// server is the other server. Its answers have the number of its last change.
type server struct {
	mu       sync.Mutex
	version  int
	requests map[string]int
	all      []kept.Request
	answer   func(kept.Request) (kept.Answer, error) // nil: a JSON object with key and version
	wait     chan struct{}                           // if not nil, an answer takes until it is closed
}

func newServer() *server { return &server{requests: map[string]int{}} }

func (s *server) fetch(ctx context.Context, r kept.Request) (kept.Answer, error) {
	s.mu.Lock()
	s.requests[r.Target]++
	s.all = append(s.all, r)
	version, answer, wait := s.version, s.answer, s.wait
	s.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return kept.Answer{}, ctx.Err()
		}
	}
	if answer != nil {
		return answer(r)
	}
	return jsonAnswer(fmt.Sprintf(`{"key":%q,"version":%d}`, r.Target, version)), nil
}

func (s *server) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[key]
}

func (s *server) set(change func(s *server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func jsonAnswer(body string) kept.Answer {
	return kept.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
}

// views are what a front end shows.
type views struct {
	mu    sync.Mutex
	marks map[string]int64
}

func (v *views) all() map[string]int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.marks
}

// publish makes a view change now.
func (v *views) publish(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	next := map[string]int64{name: time.Now().UnixMilli()}
	for other, at := range v.marks {
		if other != name {
			next[other] = at
		}
	}
	v.marks = next
}

// world is a keeper and what it needs.
type world struct {
	*kept.Keeper
	server *server
	views  *views
	rule   *kept.Rule
}

func portfolio() kept.Rule {
	return kept.Rule{
		Paths: []string{"/portfolio/"}, Until: []string{"activities", "persons"},
		For: 24 * time.Hour, Stale: 7 * 24 * time.Hour,
		Parameters: []string{"limit", "lang"}, Rate: 1000, Connections: 100,
	}
}

// newWorld returns a keeper with one rule. change may alter options and rule.
func newWorld(t *testing.T, change func(*kept.Options, *kept.Rule)) *world {
	t.Helper()
	w := &world{server: newServer(), views: &views{}}
	o, rule := kept.Options{Fetch: w.server.fetch, Views: w.views.all, Holder: "test"}, portfolio()
	if change != nil {
		change(&o, &rule)
	}
	w.start(t, o, rule)
	return w
}

func (w *world) start(t *testing.T, o kept.Options, rule kept.Rule) {
	t.Helper()
	k, err := kept.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	if err := k.Adopt([]kept.Rule{rule}); err != nil {
		t.Fatal(err)
	}
	w.Keeper, w.rule = k, k.Match("/portfolio/unit/BIO")
}

// get returns the answer of a key, and its body.
func (w *world) get(t *testing.T, key string) (kept.Found, string) {
	t.Helper()
	found, err := w.Get(t.Context(), client, w.rule, key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	return found, w.body(t, found)
}

func (w *world) body(t *testing.T, found kept.Found) string {
	t.Helper()
	if found.Body != nil || found.Outcome == kept.Passed {
		return string(found.Body)
	}
	body, err := w.Body(t.Context(), found.Entry)
	if err != nil {
		t.Fatalf("body of %s: %v", found.Entry.Key, err)
	}
	return string(body)
}

// want fails unless the answer of a key has an outcome and a version of the server.
func (w *world) want(t *testing.T, key string, outcome kept.Outcome, version int) kept.Found {
	t.Helper()
	found, body := w.get(t, key)
	if want := fmt.Sprintf(`{"key":%q,"version":%d}`, key, version); found.Outcome != outcome || body != want {
		t.Fatalf("%s: %s (%s) %s, want %s %s", key, found.Outcome, found.Reason, body, outcome, want)
	}
	return found
}

func query(t *testing.T, text string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

var _ = origin.ErrNotFound

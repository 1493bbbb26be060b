package proxy_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/view"
	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// countingStore is a store that counts the calls that read rows or records, and records their deadlines. Each
// collection has one record.
type countingStore struct {
	origin.Store
	record bson.Raw
	calls  atomic.Int64

	mu        sync.Mutex
	deadlines []time.Time // of the calls so far, each once
}

func (s *countingStore) recordCall(ctx context.Context) {
	s.calls.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := ctx.Deadline(); ok && !slices.ContainsFunc(s.deadlines, d.Equal) {
		s.deadlines = append(s.deadlines, d)
	}
}

// forget returns the number of deadlines since the last call of forget.
func (s *countingStore) forget() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.deadlines = nil }()
	return len(s.deadlines)
}

func (s *countingStore) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	s.recordCall(ctx)
	return s.Store.Select(ctx, at, q)
}

func (s *countingStore) Find(ctx context.Context, _ string, _ origin.Query) iter.Seq2[bson.Raw, error] {
	s.recordCall(ctx)
	return func(yield func(bson.Raw, error) bool) { yield(s.record, nil) }
}

func (s *countingStore) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	s.recordCall(ctx)
	return s.Store.Count(ctx, at, filter)
}

func (s *countingStore) Distinct(
	ctx context.Context, at origin.Meta, filter bson.Raw, fields []string, fn func(bson.Raw, int) error,
) error {
	s.recordCall(ctx)
	return s.Store.Distinct(ctx, at, filter, fields, fn)
}

func (s *countingStore) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	s.recordCall(ctx)
	return s.Store.Scan(ctx, collection)
}

func (s *countingStore) Rows(
	ctx context.Context, name string, since uint64, fn func(origin.Row) error,
) (origin.Meta, error) {
	s.recordCall(ctx)
	return s.Store.Rows(ctx, name, since, fn)
}

// TestRequestsQueue: while other requests have all slots of the admission queue, no request of any kind reads rows
// from the store or records from the source: neither for its answer, nor to find the user of its session, nor to
// explain an answer. Health, metrics and the state of views do not wait. Once the slots are free, the same requests
// are answered, and all queries of one have the same deadline.
func TestRequestsQueue(t *testing.T) {
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	store := proxytest.ListStore(t, nil)
	inner := &countingStore{record: store.First("persons")}
	var queue *circuit.Store
	store.Queries = func(from view.Source) view.Source {
		inner.Store = from.(origin.Store)
		queue = circuit.New(inner, slog.New(slog.DiscardHandler), func(bool) {})
		return queue
	}
	o, secret := proxytest.ListOptions(t), []byte("secret")
	o.Auth.Session = auth.SessionOptions{Secret: secret}
	o.Limits.RequestTimeout = 200 * time.Millisecond // a request that would wait longer than half of this is refused
	o.Store = func() circuit.State { return queue.State() }
	o.Records = records(func(ctx context.Context, name string, q origin.Query) iter.Seq2[bson.Raw, error] {
		return queue.Find(ctx, name, q)
	})
	s := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	session := []string{"Authorization", "Bearer " + proxytest.Token(t, "evigilsk", secret)}
	id := store.First("activities").Lookup("_id").ObjectID().Hex()
	public := []string{
		"/api/users/unknown", "/api/user-units/unknown", "/lists/activities.json?q=soil", "/lists/activities.bib",
		"/items/" + id, "/sitemap.xml",
	}
	for _, q := range apiQuestions {
		public = append(public, q.target)
	}
	admin := []string{
		"/admin/query?view=activities&limit=3", "/admin/explain?url=/api/activities&user=evigilsk",
		"/admin/explain?url=/api/activities&id=" + id, "/admin/explain?url=/lists/activities.json&id=" + id,
	}
	ask := func(check func(question string, res proxytest.Response)) {
		for _, target := range public {
			check(target, s.Get(target))
		}
		check("a session", s.Get("/api/activities?limit=1", session...))
		for _, target := range admin {
			check(target, s.Admin(http.MethodGet, target))
		}
	}
	var stops []func()
	for s.Metric("vitrine_store_queue_waiting") == 0 && len(stops) < 4 {
		next, stop := iter.Pull2(queue.Find(t.Context(), "persons", origin.Query{}))
		stops = append(stops, stop)
		next() // has a slot until stop
	}
	if n := s.Metric("vitrine_store_queue_slots_used"); n != len(stops) {
		t.Fatalf("%d slots are in use, want %d", n, len(stops))
	}
	before, questions := inner.calls.Load(), 0
	ask(func(question string, res proxytest.Response) {
		questions++
		if n := inner.calls.Load() - before; n > 0 || res.StatusCode != http.StatusServiceUnavailable {
			before += n
			t.Errorf("%s: status %d, %d queries pass by the queue", question, res.StatusCode, n)
		}
	})
	if s.Metric("vitrine_store_queue_refused_total") == 0 {
		t.Error("no request counts as refused")
	}
	for _, target := range []string{"/healthz", "/livez", "/readyz", "/openapi.json"} {
		if res := s.Get(target); res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d while the slots are in use: %s", target, res.StatusCode, res.Body)
		}
	}
	for _, target := range []string{"/admin/views", "/metrics"} {
		if res := s.Admin(http.MethodGet, target); res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d while the slots are in use: %s", target, res.StatusCode, res.Body)
		}
	}
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	inner.forget()
	o.Views, o.Limits.RequestTimeout = s.Views, proxytest.Patience
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s.Server = server
	ask(func(question string, res proxytest.Response) {
		if n := inner.forget(); res.StatusCode != http.StatusOK || n > 1 {
			t.Errorf("%s: status %d, and its queries have %d deadlines", question, res.StatusCode, n)
		}
	})
	if n := inner.calls.Load() - before; n < int64(questions) {
		t.Errorf("%d queries for %d questions", n, questions)
	}
}

// records implements api.Records.
type records func(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error]

func (r records) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return r(ctx, collection, q)
}

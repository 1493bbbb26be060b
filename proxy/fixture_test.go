package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.uber.org/goleak"

	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/cache/view"
	viewindex "vitrine/cache/view/index"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The clock of fasthttp's Date header, one for the process, started with the first server.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// It looks only every ten seconds whether its server has ended.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		// The backtracking engine's clock stops by itself when no expression has run for a while.
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"),
	)
}

// wholeOnly skips a test in a short run, such as that under the race detector: it asks one thing
// after the other, many times.
func wholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to a whole run")
	}
}

// store is the reading half of origin.Views, held in memory.
type store struct {
	origin.Views // the writing half is not called

	mu    sync.Mutex
	rows  map[string][]origin.Row
	metas map[string]origin.Meta

	embedded *embedded // where the rows are as well, for views that stay in the store
	twinned  bool      // views in memory are made of embedded, too
}

// published is when the fixture's views were published, and the tests' now.
var published = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func newStore() *store {
	return &store{rows: map[string][]origin.Row{}, metas: map[string]origin.Meta{}}
}

// publish makes the next generation of a view from documents.
func (s *store) publish(view string, docs ...bson.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := s.metas[view]
	meta.View, meta.Epoch, meta.Published = view, "epoch", published
	meta.Generation++
	for _, doc := range docs {
		s.rows[view] = append(s.rows[view], origin.Row{ID: doc.Lookup("_id"), Generation: meta.Generation, Doc: doc})
	}
	ids := map[string]bool{}
	for _, r := range s.rows[view] {
		ids[r.ID.String()] = true
	}
	meta.Rows = len(ids)
	s.metas[view] = meta
	if s.embedded != nil {
		s.embedded.publish(view, s.rows[view], meta.Generation)
	}
}

func (s *store) Meta(_ context.Context, view string) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.metas[view], nil
}

func (s *store) Rows(_ context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows[view] {
		if r.Generation > since {
			if err := fn(r); err != nil {
				return origin.Meta{}, err
			}
		}
	}
	return s.metas[view], nil
}

// complete publishes the views that a test does not care for, empty.
func (s *store) complete() {
	for _, def := range api.Views() {
		if s.metas[def.Name].Generation == 0 {
			s.publish(def.Name)
		}
	}
}

// documents reads a fixture, one Extended JSON document a line.
func documents(t testing.TB, file string) []bson.Raw {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []bson.Raw
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		doc, err := ejson.Parse(lines.Bytes(), ejson.Options{Param: file})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// institute is the fixture's store.
func institute(t testing.TB) *store {
	t.Helper()
	s := newStore()
	s.publish(rules.ViewActivities, documents(t, "testdata/activities.jsonl")...)
	s.publish(rules.ViewPersons, documents(t, "testdata/persons.jsonl")...)
	return s
}

// site is a running front end without a listener.
type site struct {
	t     testing.TB
	store *store
	views *view.Set
	*proxy.Server
}

// options are those of the golden answers.
func options(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{Restricted: map[string][]string{"review": {"admin"}}})
	return proxy.Options{
		Options: api.Options{Filter: filter.Options{MaxNodes: 1000}, Access: rights, StartYear: 2000, Now: func() time.Time { return published }},
		Cache:   result.Options{Budget: 8 << 20},
	}
}

// open loads a store's views and serves them as options say.
func open(t testing.TB, s *store, o proxy.Options) *site {
	t.Helper()
	return openIndexed(t, s, o, 0)
}

// openIndexed is open with a budget for indexes.
func openIndexed(t testing.TB, s *store, o proxy.Options, budget int64) *site {
	t.Helper()
	return openViews(t, s, o, api.Views(), budget)
}

// openViews is openIndexed with views of the caller.
func openViews(t testing.TB, s *store, o proxy.Options, defs []viewindex.Definition, budget int64) *site {
	t.Helper()
	s.complete()
	loaded := make(chan struct{}, 64)
	of := view.Options{
		Store: s.behind(t), Mode: viewsAre, Views: defs, Poll: time.Hour, IndexBudget: budget,
		OnSwap: func(*view.Snapshot) { loaded <- struct{}{} },
	}
	if o.Hidden != nil {
		of.Strip = o.Hidden.Strip
	}
	views, err := view.New(of)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- views.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for !views.Ready() {
		<-loaded
	}
	o.Views = views
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &site{t: t, store: s, views: views, Server: server}
}

// response is an answer read to its end.
type response struct {
	*http.Response
	body []byte
}

// do sends a request with headers given as name, value pairs.
func (s *site) do(method, target string, headers ...string) response {
	s.t.Helper()
	req := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return s.send(req)
}

func (s *site) send(req *http.Request) response {
	s.t.Helper()
	answer := s.exchange(req)
	described(s.t, req, answer)
	return answer
}

// exchange is send for records that no description covers.
func (s *site) exchange(req *http.Request) response {
	s.t.Helper()
	res, err := s.App().Test(req, -1)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response{res, body}
}

func (s *site) get(target string, headers ...string) response {
	s.t.Helper()
	return s.do(http.MethodGet, target, headers...)
}

// envelope is the standard envelope, with what only errors or pages have.
type envelope struct {
	Status int             `json:"status"`
	Count  *int            `json:"count"`
	Data   json.RawMessage `json:"data"`
	Limit  *int            `json:"limit"`
	Offset *int            `json:"offset"`
	Error  string          `json:"error"`
	Msg    string          `json:"msg"`
}

// envelope decodes the body and checks what holds of every envelope.
func (r response) envelope(t testing.TB) envelope {
	t.Helper()
	var e envelope
	d := json.NewDecoder(strings.NewReader(string(r.body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("no envelope: %v\n%s", err, r.body)
	}
	if e.Status != r.StatusCode {
		t.Errorf("envelope says %d, HTTP %d", e.Status, r.StatusCode)
	}
	if e.Count == nil {
		t.Error("envelope without count")
	}
	if (e.Error != "") != (e.Status >= 400) || (e.Msg != "") != (e.Status >= 400) {
		t.Errorf("status %d with error %q, msg %q", e.Status, e.Error, e.Msg)
	}
	return e
}

// rows decodes data as a list of objects.
func (e envelope) rows(t testing.TB) []map[string]any {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(e.Data, &rows); err != nil {
		t.Fatalf("data is no list of objects: %v\n%s", err, e.Data)
	}
	return rows
}

// ids returns the last digits of the rows' ids, which tell the fixture's records apart.
func (e envelope) ids(t testing.TB) string {
	t.Helper()
	var ids []string
	for _, row := range e.rows(t) {
		id, _ := row["id"].(string)
		ids = append(ids, strings.TrimPrefix(id, "64a00000000000000000000"))
	}
	return strings.Join(ids, " ")
}

// Package proxytest serves the whole front end to tests: from its own records or those of the test, with or without a
// network. It checks every answer against the API's description.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package proxytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/cache/view"
	viewindex "vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// WholeOnly skips a test that sends many requests in a short run, for example under the race detector.
func WholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("only in a full run")
	}
}

// Store is the reading half of origin.Views, in memory.
type Store struct {
	view.Source // neither the writing half nor queries are called

	mu    sync.Mutex
	rows  map[string][]origin.Row
	metas map[string]origin.Meta

	stored  *embedded // a copy of the rows, for views that stay in the store
	Twinned bool      // views in memory are loaded from stored, too
	// Queries replaces the answers of stored, if it is not nil.
	Queries func(view.Source) view.Source

	directory *mark.Directory                                    // makes the marks of PublicStore
	finish    func(view string, made bson.Raw) (bson.Raw, error) // finishes them; nil: they are as they are
}

// Published is when the fixture's views were published, and the current time of tests.
var Published = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// NewStore returns a store without views.
func NewStore() *Store {
	return &Store{rows: map[string][]origin.Row{}, metas: map[string]origin.Meta{}}
}

// Publish makes the next generation of a view from documents.
func (s *Store) Publish(view string, docs ...bson.Raw) {
	rows := make([]origin.Row, len(docs))
	for i, doc := range docs {
		rows[i] = origin.Row{ID: doc.Lookup("_id"), Doc: doc}
	}
	s.publish(view, rows)
}

// Withdraw makes the next generation of a view, without the record with an id.
func (s *Store) Withdraw(view string, id bson.RawValue) {
	s.publish(view, []origin.Row{{ID: id}})
}

func (s *Store) publish(view string, rows []origin.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := s.metas[view]
	meta.View, meta.Epoch, meta.Published = view, "epoch", Published
	meta.Generation++
	for i := range rows {
		rows[i].Generation = meta.Generation
	}
	s.rows[view] = append(s.rows[view], rows...)
	ids := map[string]bool{}
	for _, r := range s.rows[view] {
		if ids[r.ID.String()] = true; r.Doc == nil {
			delete(ids, r.ID.String())
		}
	}
	meta.Rows = len(ids)
	s.metas[view] = meta
	if s.stored != nil {
		publish(s.stored, view, s.rows[view], meta.Generation)
	}
}

// First returns the first document of a view.
func (s *Store) First(view string) bson.Raw { return s.rows[view][0].Doc }

// Meta implements origin.Views.
func (s *Store) Meta(_ context.Context, view string) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.metas[view], nil
}

// Metas implements origin.Views.
func (s *Store) Metas(context.Context) (metas []origin.Meta, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.metas)) {
		metas = append(metas, s.metas[name])
	}
	return metas, nil
}

// Rows implements origin.Views.
func (s *Store) Rows(_ context.Context, view string, since uint64, fn func(origin.Row) error) (origin.Meta, error) {
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

// complete publishes empty views in place of those that the test does not set.
func (s *Store) complete() {
	for _, def := range api.Views() {
		if s.metas[def.Name].Generation == 0 {
			s.Publish(def.Name)
		}
	}
}

// Documents reads a file with one Extended JSON document per line.
func Documents(t testing.TB, file string) (all []bson.Raw) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		doc, err := ejson.Parse(line, ejson.Options{Param: file})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	return all
}

// Parse parses documents written in a test.
func Parse(t testing.TB, texts ...string) []bson.Raw {
	t.Helper()
	docs := make([]bson.Raw, len(texts))
	for i, text := range texts {
		if err := bson.UnmarshalExtJSON([]byte(text), false, &docs[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return docs
}

// Institute returns the fixture's store.
func Institute(t testing.TB) *Store {
	t.Helper()
	s, records := NewStore(), InRepo("proxy", "proxytest", "testdata")
	s.Publish(rules.ViewActivities, Documents(t, filepath.Join(records, "activities.jsonl"))...)
	s.Publish(rules.ViewPersons, Documents(t, filepath.Join(records, "persons.jsonl"))...)
	return s
}

// Many returns a store of n activities with citations of some length.
func Many(t testing.TB, n int) *Store {
	t.Helper()
	s := NewStore()
	docs := make([]bson.Raw, n)
	for i := range docs {
		web := fmt.Sprintf("<a href='/activities/view/%d'>Activity %d</a> %s", i, i,
			strings.Repeat("lorem ipsum ", 20))
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: i}, {Key: "type", Value: "publication"}, {Key: "year", Value: 1990 + i%35},
			{Key: "title", Value: fmt.Sprint("Activity ", i)},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: web}, {Key: "print", Value: web},
				{Key: "icon", Value: "i"}, {Key: "type", Value: "Publications"}}},
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

// Secret is part of every text that answers must not contain.
const Secret = "Xyzzyqua"

// Site is a running front end without a listener.
type Site struct {
	T      testing.TB
	Store  *Store
	Views  *view.Set
	Server *proxy.Server
}

// Options returns the options for the golden answers. Their limits of time are Patience.
func Options(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{Restricted: map[string][]string{"review": {"admin"}}})
	o := proxy.Options{
		Options: api.Options{Access: rights},
		Limits: proxy.Limits{
			Limits: configs.Limits{RequestTimeout: Patience}, Shutdown: configs.Shutdown{Grace: Patience},
			FilterNodes: 1000, Read: Patience, Write: Patience,
		},
		Cache: result.Options{Budget: 8 << 20, Timeout: Patience},
		Now:   func() time.Time { return Published },
	}
	o.Language, o.StartYear, o.Portfolio.Enabled = "en", 2000, true
	o.Affiliation.Fields = []string{"affiliated", "aoi"}
	return o
}

// Open loads a store's views and serves them with the given options.
func Open(t testing.TB, s *Store, o proxy.Options) *Site {
	t.Helper()
	return OpenViews(t, s, o, api.Views(), 0)
}

// OpenViews is Open with the caller's views and a budget for indexes.
func OpenViews(t testing.TB, s *Store, o proxy.Options, defs []viewindex.Definition, budget int64) *Site {
	t.Helper()
	s.complete()
	loaded := make(chan struct{}, 64)
	of := view.Options{
		Store: s.behind(t), Mode: ViewsAre, Views: defs, Poll: time.Hour, IndexBudget: budget,
		OnSwap: func(*view.Snapshot) {
			select {
			case loaded <- struct{}{}:
			default: // a test with many generations does not wait for them
			}
		},
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
	return &Site{T: t, Store: s, Views: views, Server: server}
}

// Refresh publishes rows and waits until they are visible.
func (s *Site) Refresh(view string, rows ...bson.Raw) {
	s.T.Helper()
	s.Store.Publish(view, rows...)
	s.Await(view)
}

// Await waits until the newest generation of a view in the store is visible.
func (s *Site) Await(view string) {
	s.T.Helper()
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

// Token signs a session token for a user.
func Token(t testing.TB, user string, secret []byte) string {
	t.Helper()
	tok, err := auth.MintToken(user, secret, auth.SessionOptions{}, Published, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Response is an answer read to its end.
type Response struct {
	*http.Response
	Body []byte
}

// Do sends a request with headers given as name, value pairs.
func (s *Site) Do(method, target string, headers ...string) Response {
	s.T.Helper()
	return s.Send(newRequest(method, target, headers))
}

// newRequest makes a request with headers given as name, value pairs.
func newRequest(method, target string, headers []string) *http.Request {
	req := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// Send sends a request and checks the answer against the description.
func (s *Site) Send(req *http.Request) Response {
	s.T.Helper()
	answer := s.Exchange(req)
	described(s.T, req, answer)
	return answer
}

// Exchange is Send for records that the description does not cover.
func (s *Site) Exchange(req *http.Request) Response {
	s.T.Helper()
	return exchange(s.T, s.Server.App(), req)
}

func exchange(t testing.TB, app *fiber.App, req *http.Request) Response {
	t.Helper()
	res, err := app.Test(req, -1)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, res)
}

func read(t testing.TB, res *http.Response) Response {
	t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Response{res, body}
}

// Get sends a GET request.
func (s *Site) Get(target string, headers ...string) Response {
	s.T.Helper()
	return s.Do(http.MethodGet, target, headers...)
}

// Envelope is the standard envelope, with the members that only errors or pages have.
type Envelope struct {
	Status int             `json:"status"`
	Count  *int            `json:"count"`
	Data   json.RawMessage `json:"data"`
	Limit  *int            `json:"limit"`
	Offset *int            `json:"offset"`
	Error  string          `json:"error"`
	Msg    string          `json:"msg"`
}

// Envelope decodes the body and checks the rules for every envelope.
func (r Response) Envelope(t testing.TB) Envelope {
	t.Helper()
	var e Envelope
	d := json.NewDecoder(strings.NewReader(string(r.Body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("no envelope: %v\n%s", err, r.Body)
	}
	if e.Status != r.StatusCode {
		t.Errorf("status %d in the envelope, %d in HTTP", e.Status, r.StatusCode)
	}
	if e.Count == nil {
		t.Error("envelope without count")
	}
	if (e.Error != "") != (e.Status >= 400) || (e.Msg != "") != (e.Status >= 400) {
		t.Errorf("status %d with error %q, msg %q", e.Status, e.Error, e.Msg)
	}
	return e
}

// Rows decodes data as a list of objects.
func (e Envelope) Rows(t testing.TB) []map[string]any {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(e.Data, &rows); err != nil {
		t.Fatalf("data is not a list of objects: %v\n%s", err, e.Data)
	}
	return rows
}

// IDs returns the last digits of the rows' ids, which distinguish the fixture's records.
func (e Envelope) IDs(t testing.TB) string {
	t.Helper()
	var ids []string
	for _, row := range e.Rows(t) {
		id, _ := row["id"].(string)
		ids = append(ids, strings.TrimPrefix(id, "64a00000000000000000000"))
	}
	return strings.Join(ids, " ")
}

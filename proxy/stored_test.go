package proxy_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/rules"
)

// viewsAre is where open has its views. Tests run one after the other.
var viewsAre = view.Memory

// TestInStore runs the suites that fix what is answered with views that stay in the
// store: where rows are makes no difference.
func TestInStore(t *testing.T) {
	wholeOnly(t)
	viewsAre = view.Store
	defer func() { viewsAre = view.Memory }()
	for name, test := range map[string]func(*testing.T){
		"golden": TestGolden, "department": TestDepartmentGolden, "holdings": TestHoldingsGolden, "coverage": TestCoverage,
		"fields": TestFieldsOfRecords, "ids": TestIDs, "every page": TestEveryPage, "no pages": TestNoPages,
		"filter forms": TestFilterForms, "raw": TestWithoutRaw, "hidden": TestHiddenIsNoFilter,
		"all persons": TestAllPersonsAreFound, "formatted": TestFormatted, "formatted anew": TestFormattedCountsAnew,
		"public": TestPublicCast, "funding numbers": TestFundingNumbers, "own": TestOwnOnly, "search": TestSearch,
		"figures": TestFigures, "titles": TestLevenshtein, "no titles": TestLevenshteinOfNothing,
		"titles of the newest": TestLevenshteinFollowsTheView, "visibility": TestVisibility, "display": TestDisplayForm,
		"brackets": TestBracketReadings, "languages": TestActivityLabelsInAnotherLanguage, "midnight": TestMidnight,
		"new year": TestNewYear, "persons": TestWhoIsMeant, "newcomer": TestNewcomerAppearsInTheView,
		"new generation": TestNewGenerationIsAnswered, "large compressed": TestLargeCompressed, "popular": TestPopularAnswersArePrepared,
	} {
		t.Run(name, test)
	}
}

// TestModeIsTold: an operator sees where the rows of each view are.
func TestModeIsTold(t *testing.T) {
	viewsAre = view.Store
	defer func() { viewsAre = view.Memory }()
	s := open(t, institute(t), options(t))
	if body := string(s.admin(http.MethodGet, "/admin/views").body); strings.Count(body, `"mode":"store"`) != len(api.Views()) {
		t.Errorf("modes are not reported: %s", body)
	}
	if text := string(s.admin(http.MethodGet, "/metrics").body); !strings.Contains(text, `vitrine_view_stored{view="activities"} 1`) {
		t.Error("the metrics do not tell the mode")
	}
}

// TestAnswerCatchesUp asks while the front end knows of an older generation only: it
// finds out, and answers from the newest.
func TestAnswerCatchesUp(t *testing.T) {
	viewsAre = view.Store
	defer func() { viewsAre = view.Memory }()
	s := open(t, institute(t), options(t))
	const query = "/api/search/persons?limit=1"
	if n := *s.get(query).envelope(t).Count; n == 0 {
		t.Fatal("there is no person")
	}
	for n := range 3 {
		before := *s.get(query + "&columns[]=first").envelope(t).Count
		until(t, "the answer is kept", func() bool { // it is put away beside the request
			return strings.HasSuffix(s.get(query+"&columns[]=first").Header.Get("Cache-Status"), "hit")
		})
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: n}, {Key: "first", Value: "Ada"}})
		if err != nil {
			t.Fatal(err)
		}
		s.store.publish(rules.ViewPersons, doc)
		// The view may have been refreshed by now.
		if kept := *s.get(query + "&columns[]=first").envelope(t).Count; kept != before && kept != before+1 {
			t.Errorf("count %d of an answer that is kept, want %d", kept, before)
		}
		if got := *s.get(query + fmt.Sprintf("&columns[]=last&columns[]=x%d", n)).envelope(t).Count; got != before+1 {
			t.Errorf("count %d after a publication, want %d", got, before+1)
		}
	}
}

// embedded is a store's twin in a file: the real one, which answers queries.
type embedded struct {
	*bolt.Store
	t     testing.TB
	lease origin.Lease
	twin  *store

	breaks atomic.Bool // rows are given, then the view has gone on
}

// Select breaks off before the last row, as it does where a view goes on meanwhile.
func (e *embedded) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	if !e.breaks.Load() {
		return e.Store.Select(ctx, at, q)
	}
	return func(yield func(bson.Raw, error) bool) {
		var last bson.Raw
		for doc, err := range e.Store.Select(ctx, at, q) {
			if err != nil || last != nil && !yield(last, nil) {
				return
			}
			last = doc
		}
		yield(nil, origin.ErrStale)
	}
}

// TestBrokenOff lets a view go on while it is read, again and again: what is kept
// fails as a whole, and what is on its way already never looks complete.
func TestBrokenOff(t *testing.T) {
	viewsAre = view.Store
	defer func() { viewsAre = view.Memory }()
	o := options(t)
	o.Limits.Request = 200 * time.Millisecond
	s := open(t, many(t, 300), o)
	s.store.embedded.breaks.Store(true)
	if res := s.get("/api/activities?limit=1000"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d of an answer that is kept, want 503", res.StatusCode)
	}
	o.Limits.KeptBytes = 1
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	streaming := open(t, many(t, 300), o)
	at := serveLive(t, streaming)
	whole, err := client.Get("http://" + at.addr + "/api/all-activities")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Body.Close()
	if _, err := io.ReadAll(whole.Body); err != nil {
		t.Fatal(err)
	}
	streaming.store.embedded.breaks.Store(true)
	broken, err := client.Get("http://" + at.addr + "/api/all-activities?type=")
	if err != nil {
		return // broken off before anything was sent
	}
	defer broken.Body.Close()
	if text, err := io.ReadAll(broken.Body); err == nil && broken.StatusCode == http.StatusOK {
		t.Errorf("%d bytes look complete: …%s", len(text), text[max(len(text)-100, 0):])
	}
}

// behind returns what views are made of: the store, or its twin.
func (s *store) behind(t testing.TB) origin.Views {
	if viewsAre == view.Memory && !s.twinned {
		return s
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "twin.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	lease, err := db.Acquire(context.Background(), "materialize", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embedded = &embedded{Store: db, t: t, lease: lease, twin: s}
	for name, meta := range s.metas {
		for generation := range meta.Generation {
			s.embedded.publish(name, s.rows[name], generation+1)
		}
	}
	return s.embedded
}

// publish publishes the rows of a generation.
func (e *embedded) publish(name string, rows []origin.Row, generation uint64) {
	e.t.Helper()
	ctx := context.Background()
	p, err := e.Begin(ctx, name, e.lease)
	if err != nil {
		e.t.Fatal(err)
	}
	var fresh []origin.Row
	ids := map[string]bool{}
	for _, r := range rows {
		if r.Generation == generation {
			fresh = append(fresh, r)
		}
		if r.Generation <= generation {
			ids[r.ID.String()] = true
		}
	}
	if err := p.Put(ctx, fresh); err != nil {
		e.t.Fatal(err)
	}
	if _, err := p.Commit(ctx, len(ids), "rules"); err != nil {
		e.t.Fatal(err)
	}
}

// Meta has the times of the fixture.
func (e *embedded) Meta(ctx context.Context, name string) (origin.Meta, error) {
	meta, err := e.Store.Meta(ctx, name)
	if meta.Generation > 0 {
		meta.Published, meta.Past = published, nil
	}
	return meta, err
}

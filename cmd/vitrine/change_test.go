package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy/health"
)

// running is the whole program in this process, so that a test can change its source records while
// it serves.
type running struct {
	t           *testing.T
	store       origin.Store
	program     *program
	base, admin string
	key         string // the API key that sane sends
}

// runProgram serves a store of three activities and stops at the end of the test.
func runProgram(t *testing.T) *running {
	t.Helper()
	return runConfigured(t, configs.Default(), func(r *running) {
		r.put("persons", bson.D{{Key: "_id", Value: "p1"}, {Key: "username", Value: "ada"}})
		r.put("activities", activity("a1", "First"), activity("a2", "Second"), activity("a3", "Third"))
	})
}

// runConfigured serves a new store that fill has filled.
func runConfigured(t *testing.T, cfg configs.Config, fill func(*running)) *running {
	t.Helper()
	return runOver(t, cfg, fill, func(s origin.Store) origin.Store { return s })
}

// slowAnswer is how long a tested program may take for an answer: a busy machine may need more than the default.
const slowAnswer = 10 * time.Minute

// runOver is runConfigured on what wrap makes of the store.
func runOver(t *testing.T, cfg configs.Config, fill func(*running), wrap func(origin.Store) origin.Store) *running {
	t.Helper()
	cfg.Store = configs.URI("bolt://" + t.TempDir() + "/v.db")
	cfg.Listen, cfg.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.Materialize.MaxShrink = 0.5
	cfg.Views.Poll = time.Hour // so that views change only when the materializer reports it
	// So that jobs run only at the start and on request: a run replaces the outcome of the one before.
	cfg.Materialize.Schedule, cfg.Materialize.Full = nil, ""
	cfg.Limits.RequestTimeout = slowAnswer
	cfg.Shutdown.Delay = 0
	store, err := openStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, store: store}
	fill(r)
	p, err := assemble(t.Context(), cfg, wrap(store), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r.program = p
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	r.base, r.admin = "http://"+listeners[0].Addr().String(), "http://"+listeners[1].Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.run(ctx, listeners[0], listeners[1]) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func activity(id, title string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: title}, {Key: "year", Value: int32(2024)}}
}

func (r *running) put(collection string, docs ...bson.D) {
	r.t.Helper()
	raws := make([]bson.Raw, len(docs))
	for i, d := range docs {
		raw, err := bson.Marshal(d)
		if err != nil {
			r.t.Fatal(err)
		}
		raws[i] = raw
	}
	if _, err := r.store.Upsert(r.t.Context(), collection, raws); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) remove(collection, id string) {
	r.t.Helper()
	_, err := r.store.Retain(r.t.Context(), collection, func(v bson.RawValue) bool { return v.StringValue() != id })
	if err != nil {
		r.t.Fatal(err)
	}
}

// titles returns the ids and titles that the program serves.
func (r *running) titles() map[string]string {
	r.t.Helper()
	_, body := fetch(r.t, http.MethodGet, r.base+"/api/activities?columns[]=title")
	got := map[string]string{}
	for _, row := range decode(r.t, body).Data {
		got[row["id"].(string)], _ = row["title"].(string)
	}
	return got
}

// refreshed asks for a refresh and waits until the view is at a generation.
func (r *running) refreshed(generation int) {
	r.t.Helper()
	if status, body := fetch(r.t, http.MethodPost, r.admin+"/admin/refresh?view=activities"); status/100 != 2 {
		r.t.Fatalf("refresh: %d %s", status, body)
	}
	await(r.t, fmt.Sprintf("generation %d is served", generation), func() string {
		_, body := fetch(r.t, http.MethodGet, r.admin+"/admin/views")
		var views struct {
			Data []health.ViewStatus
		}
		if err := json.Unmarshal([]byte(body), &views); err != nil {
			r.t.Fatal(err)
		}
		for _, v := range views.Data {
			if v.View == "activities" && int(v.Generation) == generation {
				return ""
			}
		}
		return body
	})
}

// TestChangesShowUp changes, adds and deletes source records: each change shows after the next job,
// which renders only the changed records.
func TestChangesShowUp(t *testing.T) {
	t.Parallel()
	r := runProgram(t)
	if got := r.titles(); len(got) != 3 || got["a1"] != "First" {
		t.Fatalf("at start: %v", got)
	}
	r.put("activities", activity("a2", "Second, revised"))
	r.refreshed(2)
	if got := r.titles(); len(got) != 3 || got["a2"] != "Second, revised" {
		t.Errorf("after a change: %v", got)
	}
	r.put("activities", activity("a4", "Fourth"))
	r.refreshed(3)
	if got := r.titles(); len(got) != 4 || got["a4"] != "Fourth" {
		t.Errorf("after an addition: %v", got)
	}
	r.remove("activities", "a1")
	r.refreshed(4)
	if got := r.titles(); len(got) != 3 || got["a1"] != "" {
		t.Errorf("after a deletion: %v", got)
	}
	if meta := r.reported(); meta.Rows != 3 || meta.Health.Scanned != 3 || meta.Health.Changed != 0 {
		t.Errorf("after the deletion the view's meta is %+v", meta)
	}
}

// TestRefreshTellsTheOutcome requests refreshes that succeed, are held, and are forced.
func TestRefreshTellsTheOutcome(t *testing.T) {
	t.Parallel()
	r := runProgram(t)
	refresh := func(query string, wantStatus int, want string) {
		t.Helper()
		status, body := fetch(t, http.MethodPost, r.admin+"/admin/refresh?wait=1&"+query)
		if status != wantStatus || !strings.Contains(body, `"done":true`) || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %d with %s", query, status, body, wantStatus, want)
		}
	}
	refresh("full=1", 200, `"view":"spectrum","result":"unchanged"`)
	r.put("activities", activity("a4", "Fourth"))
	refresh("view=activities", 200,
		`"runs":[{"view":"activities","result":"published","ok":true,"generation":2,"rows":4,"scanned":4,"changed":1,`)
	for _, id := range []string{"a1", "a2", "a3"} {
		r.remove("activities", id)
	}
	refresh("view=activities", 500, `"result":"held","ok":false,"error":"would remove 3 of 4 rows`)
	refresh("view=activities&force=1", 200, `"result":"published","ok":true,"generation":3,"rows":1,`)
}

// TestRefreshWaitsUntilShown: what a refresh with wait=1 has published is in the next answer of this instance,
// however long the new snapshot takes.
func TestRefreshWaitsUntilShown(t *testing.T) {
	t.Parallel()
	r := runProgram(t)
	made := make(chan struct{})
	r.program.views.Prepare(func(context.Context, *view.Snapshot, []index.Change) func() {
		<-made
		return nil
	})
	for n := range 10 {
		title := fmt.Sprint("Revision ", n)
		r.put("activities", activity("a2", title))
		go func() {
			await(t, "the job has published", func() string {
				meta, err := r.store.Meta(t.Context(), "activities")
				return unless(err == nil && int(meta.Generation) == n+2)
			})
			runtime.Gosched() // an answer that does not wait for the snapshot most probably comes now
			made <- struct{}{}
		}()
		status, body := fetch(t, http.MethodPost, r.admin+"/admin/refresh?view=activities&wait=1")
		if got := r.titles()["a2"]; status != http.StatusOK || got != title || strings.Contains(body, "not_shown") {
			t.Errorf("%d %s, shows %q, want %q", status, body, got, title)
		}
	}
}

// reported waits until the run that removed a row has recorded its outcome, which it does after
// readers have switched to the new rows.
func (r *running) reported() (meta origin.Meta) {
	r.t.Helper()
	await(r.t, "a row is removed", func() string {
		var err error
		if meta, err = r.store.Meta(r.t.Context(), "activities"); err != nil {
			r.t.Fatal(err)
		}
		return unless(meta.Health.Removed == 1)
	})
	return meta
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/rules/label"
	"vitrine/rules/osiris"
)

// TestOsirisChanges: changes in the database take effect while the program runs.
func TestOsirisChanges(t *testing.T) {
	t.Parallel()
	r := runOsiris(t)
	if got := r.since(); got != 2 {
		t.Fatalf("at start: %d publications, want 2", got)
	}
	r.general("startyear", "2021")
	r.check()
	if got := r.since(); got != 1 {
		t.Errorf("since 2021: %d publications, want 1", got)
	}
	r.general("apikey", bson.D{{Key: "odd", Value: 1}})
	r.check()
	for _, key := range []string{"", "odd", "%7B%7D"} {
		if status, _ := r.get("/api/html?apikey=" + key); status != http.StatusForbidden {
			t.Errorf("the key in the database is not a string: with %q: status %d", key, status)
		}
	}
	r.general("apikey", "new")
	r.check()
	if status, _ := r.get("/api/html?apikey=new"); status != http.StatusOK {
		t.Errorf("with the new key: status %d", status)
	}
	r.general("apikey", nil)
	r.put(osiris.Projects, bson.D{{Key: "_id", Value: 1}, {Key: "id", Value: "own"}, {Key: "name", Value: "Ours"}})
	r.put(osiris.Rights, bson.D{{Key: "_id", Value: 1}, {Key: "role", Value: "x"},
		{Key: "right", Value: "projects.view"}, {Key: "value", Value: true}})
	r.check()
	if status, _ := r.get("/api/html"); status != http.StatusOK {
		t.Errorf("without a key again: status %d", status)
	}
	if got := r.program.settings.labels.Label(label.ProjectType, "own", "en"); got != "Ours" {
		t.Errorf("label %q", got)
	}
	if got := r.program.settings.Access.Roles["x"]; !reflect.DeepEqual(got, []string{"projects.view"}) {
		t.Errorf("rights of a role: %v", got)
	}
	before := r.program.settings
	if r.check(); !reflect.DeepEqual(before, r.program.settings) {
		t.Error("settings changed, though the database did not")
	}
}

// TestOsirisDepartments: /api/html names the units of a record that are departments, by the units in the database.
func TestOsirisDepartments(t *testing.T) {
	t.Parallel()
	r := runOsiris(t)
	named := func(want string) {
		t.Helper()
		r.check()
		if _, body := r.get("/api/html"); strings.Count(body, `"departments":`+want) != 2 {
			t.Errorf("got %s, want twice %s", body, want)
		}
	}
	unit := func(id string, parent any, inactive bool) bson.D {
		return bson.D{{Key: "_id", Value: id}, {Key: "id", Value: id}, {Key: "parent", Value: parent},
			{Key: "inactive", Value: inactive}}
	}
	named(`["INST","BIO","BOT"]`) // nothing is known of units
	r.put(osiris.Groups, unit("INST", nil, false), unit("BIO", "INST", false), unit("BOT", "BIO", false))
	named(`["BIO"]`)
	r.put(osiris.Groups, unit("BIO", "INST", true))
	named(`[]`)
}

// TestOsirisUpstreamKey: the other server gets the key in its own database, unless a setting names one, or the key is
// unusable.
func TestOsirisUpstreamKey(t *testing.T) {
	t.Parallel()
	var last atomic.Pointer[http.Request]
	old := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") { // the preset also refreshes pages of the portal
			last.Store(r)
		}
	}))
	defer old.Close()
	for _, tt := range []struct {
		own        string // the setting
		stored     any    // in the database
		key, asked string
	}{
		{"", "key-in-the-database", "key-in-the-database", "key-in-the-database"},
		{"a-key-of-its-own", "key-in-the-database", "key-in-the-database", "a-key-of-its-own"},
		{"", nil, "", ""},
		{"", bson.D{{Key: "odd", Value: 1}}, "configured-key", ""},
	} {
		environ := []string{"VITRINE_PRESET=osiris", "VITRINE_UPSTREAM_URL=" + old.URL,
			"VITRINE_ROUTES=/api/projects=upstream", "VITRINE_UPSTREAM_KEY=" + tt.own}
		if tt.key == "configured-key" {
			environ = append(environ, "VITRINE_AUTH_API_KEY="+tt.key)
		}
		cfg, err := configs.Load(configs.Sources{Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		r := &osirisRun{runConfigured(t, cfg, func(*running) {})}
		r.general("apikey", tt.stored)
		r.check()
		status, body := r.get("/api/projects?apikey=" + tt.key)
		if status != http.StatusOK {
			t.Fatalf("%+v: %d %s", tt, status, body)
		}
		if got := last.Load(); got.Header.Get("X-API-Key") != tt.asked || got.URL.RawQuery != "" {
			t.Errorf("%+v: the other server is asked for %s with %q", tt, got.RequestURI, got.Header.Get("X-API-Key"))
		}
	}
}

// TestOsirisTemplatesChange: a run renders all rows again after a change of templates, and none
// after a change of other settings.
func TestOsirisTemplatesChange(t *testing.T) {
	t.Parallel()
	r := runOsiris(t)
	if got, want := r.prints(), "(2021) First./(2020) Second."; got != want {
		t.Errorf("without templates: got %q, want %q", got, want)
	}
	r.template("{title}!")
	if got := r.publishedBy(2); got != 2 {
		t.Errorf("a new template: %d rows published, want 2", got)
	}
	if got, want := r.prints(), "First!/Second!"; got != want {
		t.Errorf("with a template: got %q, want %q", got, want)
	}
	r.general("coins", true)
	r.general("apikey", nil)
	r.put("activities", osirisActivity("a1", "Third", 2021))
	if got := r.publishedBy(3); got != 1 {
		t.Errorf("a changed record, and unrelated settings: %d rows published, want 1", got)
	}
	r.template("{title} <h1>{nonsense")
	r.publishedBy(4)
	if got, want := r.prints(), "Third {nonsense/Second {nonsense"; got != want {
		t.Errorf("with a broken template: got %q, want %q", got, want)
	}
}

// osirisRun is the program on a small OSIRIS database, in this process.
type osirisRun struct {
	*running
}

func runOsiris(t *testing.T) *osirisRun {
	t.Helper()
	cfg, err := configs.Load(configs.Sources{Environ: []string{"VITRINE_PRESET=osiris"}})
	if err != nil {
		t.Fatal(err)
	}
	r := runConfigured(t, cfg, func(r *running) {
		r.put("activities", osirisActivity("a1", "First", 2021), osirisActivity("a2", "Second", 2020))
	})
	return &osirisRun{r}
}

func osirisActivity(id, title string, year int32) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: title}, {Key: "year", Value: year},
		{Key: "authors", Value: bson.A{bson.D{{Key: "aoi", Value: true}}}},
		{Key: "units", Value: bson.A{"INST", "BIO", "BOT"}}}
}

func (r *osirisRun) get(path string) (int, string) {
	r.t.Helper()
	return fetch(r.t, http.MethodGet, r.base+path)
}

// check looks for changed settings, as follow does at intervals.
func (r *osirisRun) check() { r.program.check(r.t.Context()) }

func (r *osirisRun) general(key string, value any) {
	r.t.Helper()
	r.put(osiris.General, bson.D{{Key: "_id", Value: key}, {Key: "key", Value: key}, {Key: "value", Value: value}})
}

func (r *osirisRun) template(src string) {
	r.t.Helper()
	r.put(osiris.Types,
		bson.D{{Key: "_id", Value: 1}, {Key: "id", Value: "article"}, {Key: "parent", Value: "publication"},
			{Key: "template", Value: bson.D{{Key: "print", Value: src}}}})
}

// since returns how many publications /api/html shows.
func (r *osirisRun) since() int {
	r.t.Helper()
	_, body := r.get("/api/html")
	return decode(r.t, body).Count
}

// publishedBy refreshes until the program serves a generation, and returns how many rows the
// generation changed.
func (r *osirisRun) publishedBy(generation uint64) (rows int) {
	r.t.Helper()
	r.refreshed(int(generation))
	_, err := r.store.Rows(r.t.Context(), "activities", generation-1, func(origin.Row) error { rows++; return nil })
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}

// prints returns the citations that the program serves.
func (r *osirisRun) prints() string {
	r.t.Helper()
	_, body := r.get("/api/activities?columns[]=print")
	var prints []string
	for _, row := range decode(r.t, body).Data {
		prints = append(prints, fmt.Sprint(row["print"]))
	}
	return strings.Join(prints, "/")
}

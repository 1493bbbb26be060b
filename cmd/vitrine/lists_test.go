package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// writeFile writes a configuration file and returns its name.
func writeFile(t *testing.T, dir, content string) string {
	t.Helper()
	name := filepath.Join(dir, "vitrine.yml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// public returns the ids of the activities that are public.
func (r *running) public() string {
	r.t.Helper()
	r.checked()
	if _, err := r.program.runner.Refresh(r.t.Context(), materialize.Request{Views: []string{"activities"}}); err != nil {
		r.t.Fatal(err)
	}
	ids := map[string]bool{}
	_, err := r.store.Rows(r.t.Context(), "activities", 0, func(row origin.Row) error {
		ids[ejson.IDText(row.ID)] = mark.Of(row.Doc) != nil
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, id := range []string{"a1", "a2", "a3"} {
		if ids[id] {
			all = append(all, id)
		}
	}
	return strings.Join(all, " ")
}

// TestReloadedLists: what is public follows the configuration file, all of it or nothing.
func TestReloadedLists(t *testing.T) {
	t.Parallel()
	r := runProgram(t)
	dir := t.TempDir()
	tests := []struct{ name, file, public, wrong string }{
		{"the defaults", "", "a1 a2 a3", ""},
		{"a rule", "lists:\n  public: '{\"title\": {\"$ne\": \"First\"}}'\n", "a2 a3", ""},
		{"a filter that is none", "lists:\n  public: '{\"title\": {\"$in\": 7}}'\n", "a2 a3", "vitrine.yml:2: lists.public: title.$in: "},
		{"a filter by the clock", "lists:\n  public: '{\"$expr\": {\"$gt\": [\"$$NOW\", \"$day\"]}}'\n", "a2 a3", "vitrine.yml:2: lists.public: may not use $$NOW"},
		{"a mistake elsewhere", "lists:\n  public: '{}'\n  named: {papers: {view: personen}}\n", "a2 a3", "vitrine.yml:3: lists.named.papers.view: "},
		{"a filter of a list", "lists:\n  named:\n    papers:\n      filter: '{\"a\": {\"$lt\": 1, \"$foo\": 2}}'\n", "a2 a3", "vitrine.yml:4: lists.named.papers.filter: a.$foo: "},
		{"no lists", "lists: {enabled: false}\n", "", ""},
		{"lists again", "lists:\n  named: {papers: {}}\n", "a1 a2 a3", ""},
	}
	for _, tt := range tests {
		name := writeFile(t, dir, tt.file)
		err := r.program.reload(t.Context(), func() (configs.Config, error) {
			return configs.Load(configs.Sources{Environ: []string{"VITRINE_CONFIG=" + name}, Checks: checks})
		})
		if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.wrong)
		}
		if got := r.public(); got != tt.public {
			t.Errorf("%s: public are %q, want %q", tt.name, got, tt.public)
		}
	}
}

// TestHangupReloads sends SIGHUP to a server with a configuration file: it reads the file
// again, and a bad one costs a line in the log.
func TestHangupReloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, dir, "store: bolt://v.db\n")
	writeDump(t, dir)
	s := startServer(t, dir, "--config", file).ready()
	for _, step := range []struct{ content, logged string }{
		{"lists: {public: '{'}\n", `"msg":"configuration not reloaded, all settings stay"`},
		{"lists: {named: {papers: {group: year}}}\n", `"msg":"lists reloaded"`},
	} {
		writeFile(t, dir, step.content)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		await(t, step.logged, func() string { return unless(strings.Contains(s.logged(), step.logged)) })
		if status, body := s.get("/api/activities?limit=1"); status != http.StatusOK {
			t.Errorf("after SIGHUP: %d %s", status, body)
		}
	}
	if n := strings.Count(s.logged(), `"level":"ERROR"`); n != 1 {
		t.Errorf("%d errors in the log, want 1", n)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.logged())
	}
}

// TestReloadNamesOthers: settings that a reload does not adopt are named in the log, without
// their values, as long as they differ from those of the start.
func TestReloadNamesOthers(t *testing.T) {
	t.Parallel()
	const stale = `"msg":"changed settings keep their old values until a restart","settings":`
	dir := t.TempDir()
	file := writeFile(t, dir, "store: bolt://v.db\nauth: {api_key: first-secret}\nlists: {enabled: false}\n")
	writeDump(t, dir)
	s := startServer(t, dir, "--config", file).ready()
	for i, step := range []struct{ content, settings string }{
		{"store: bolt://v.db\nauth: {api_key: second-secret}\nlists: {enabled: false}\n", `["auth.api_key"]`},
		{"store: bolt://v.db\nauth: {api_key: second-secret}\nlimits: {rate: 7}\nmaterialize: {schedule: {activities: '@every 9m'}}\n",
			`["auth.api_key","materialize.schedule","limits.rate","lists.enabled"]`},
		{"store: bolt://v.db\nauth: {api_key: first-secret}\nlists: {enabled: false, base_url: 'https://a.example'}\n", ""},
	} {
		writeFile(t, dir, step.content)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		await(t, "lists are reloaded", func() string {
			return unless(strings.Count(s.logged(), `"msg":"lists reloaded"`) == i+1)
		})
		if step.settings != "" && !strings.Contains(s.logged(), stale+step.settings) {
			t.Errorf("the log lacks %s:\n%s", step.settings, s.logged())
		}
		for path, want := range map[string]int{"/api/activities?apikey=first-secret": http.StatusOK, "/lists/activities.bib": http.StatusNotFound} {
			if status, body := s.get(path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
	if log := s.logged(); strings.Count(log, stale) != 2 || strings.Contains(log, "secret\"") {
		t.Errorf("the log tells too much: %s", log)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// writeDump makes a store with one activity in a folder.
func writeDump(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "activities.jsonl"), []byte(`{"_id":"a1","title":"First"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
}

// TestTitles: a list that has a title in one language alone has it in both.
func TestTitles(t *testing.T) {
	for given, want := range map[[2]string][2]string{
		{"Papers", "Aufsätze"}: {"Papers", "Aufsätze"}, {"", "Aufsätze"}: {"Aufsätze", "Aufsätze"}, {"Papers", ""}: {"Papers", "Papers"}, {}: {},
	} {
		l := listOptions(configs.Config{Lists: configs.Lists{Named: map[string]*configs.NamedList{"x": {Title: map[string]string{"en": given[0], "de": given[1]}}}}}, nil).Named[0]
		if got := [2]string{l.Title["en"], l.Title["de"]}; got != want {
			t.Errorf("%v: got %q, want %q", given, got, want)
		}
	}
}

// TestTrackingByDefault: links from newsletters and posts work without a setting, all else is strict.
func TestTrackingByDefault(t *testing.T) {
	t.Parallel()
	s := listHost(t)
	for _, path := range []string{"/lists", "/lists/activities", "/lists/unit/ECO.html", "/lists/activities.rss"} {
		for query, want := range map[string]int{
			"?utm_source=letter&utm_id=1": 200, "?fbclid=1": 200, "?gclid=1": 200, "?mc_cid=1&mc_eid=2": 200, "?_ga=1": 200, "?msclkid=1": 200, "?utm=1": 400, "?_gat=1": 400,
		} {
			if res, _ := askedAs(t, s.base+path+query, "localhost"); res.StatusCode != want {
				t.Errorf("%s%s: %s, want %d", path, query, res.Status, want)
			}
		}
	}
}

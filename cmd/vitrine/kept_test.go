package main

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"vitrine/cache/kept"
	"vitrine/configs"
	"vitrine/proxy/proxytest/osiristest"
)

// TestPresetKeepsThePortal: each of the portal's paths has a rule of the preset, and it depends on exactly what the
// page is made from.
func TestPresetKeepsThePortal(t *testing.T) {
	t.Parallel()
	k := presetKeeper(t)
	daily := []string{"/staff", "/numbers", "/infrastructures"} // and pages of persons
	for _, page := range osiristest.Examples() {
		rule := k.Match(page.Target)
		if rule == nil {
			t.Errorf("%s has no rule", page.Target)
			continue
		}
		want := append(slices.Clone(osiristest.Common), page.Reads...)
		dated := slices.ContainsFunc(daily, func(end string) bool { return strings.HasSuffix(page.Target, end) }) ||
			strings.Count(page.Target, "/") == 3 && strings.HasPrefix(page.Target, "/portfolio/person/")
		if dated && slices.Contains(rule.Until, kept.Today) {
			want = append(want, kept.Today)
		}
		got, names := map[string]bool{}, map[string]bool{}
		for _, name := range rule.Until {
			got[name] = true
		}
		for _, name := range want {
			names[name] = true
		}
		if !maps.Equal(got, names) || rule.Auth != "portfolio" {
			t.Errorf("%s: rule %s depends on %v for %q, want %v", page.Target, rule.Name, rule.Until, rule.Auth, want)
		}
	}
	unkept := append(slices.Clone(osiristest.SessionPaths),
		"/user/login", "/portal/unit/BIO", "/api/users", "/api/google")
	for _, path := range unkept {
		if rule := k.Match(path); rule != nil {
			t.Errorf("%s has the rule %s", path, rule.Name)
		}
	}
}

// presetKeeper returns a keeper with the rules of the preset.
func presetKeeper(t *testing.T) *kept.Keeper {
	t.Helper()
	environ := []string{"VITRINE_PRESET=osiris", "VITRINE_UPSTREAM_URL=http://osiris.internal"}
	cfg, err := configs.Load(configs.Sources{Environ: environ, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kept.New(kept.Options{
		Fetch: func(context.Context, kept.Request) (kept.Answer, error) {
			return kept.Answer{}, http.ErrServerClosed
		},
		Views: func() map[string]int64 { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	if err := k.Adopt(keepRules(cfg.Upstream.Keep)); err != nil {
		t.Fatal(err)
	}
	return k
}

// TestKeptByReload: rules of a reload count from the next request on, and a reload without them ends them.
func TestKeptByReload(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	old := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.Header().Set("Cache-Control", "no-store")
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"status": 200, "data": []}`))
	}))
	defer old.Close()
	site := "upstream:\n  url: " + old.URL + "\n"
	r := runFile(t, site)
	get := func(want int64) {
		t.Helper()
		for range 3 {
			if status, body := fetch(t, http.MethodGet, r.base+"/portal/x"); status != http.StatusOK {
				t.Fatal(status, body)
			}
		}
		if n := asked.Swap(0); n != want {
			t.Errorf("the other server was asked %d times, want %d", n, want)
		}
	}
	get(3)
	adopt := func(text string) {
		t.Helper()
		status, done, msg := r.reload(t, text)
		if status != http.StatusOK || !slices.Equal(done.Adopted, []string{"upstream.keep"}) {
			t.Fatalf("%d %s, adopted %q, refused %q", status, msg, done.Adopted, done.Refused)
		}
	}
	adopt(site + "  keep:\n    - paths: [/portal/]\n")
	get(1)
	status, _, msg := r.reload(t, site+"  keep:\n    - paths: [/portal/]\n    - paths: [portal]\n")
	if status != http.StatusBadRequest ||
		!strings.Contains(msg, ":11: upstream.keep[1].paths: want a path from the root") {
		t.Errorf("a wrong rule: %d %s", status, msg)
	}
	get(0)
	if _, done, _ := r.reload(t, "language: de\n"); !slices.Contains(done.Refused, "upstream.keep") {
		t.Errorf("a file without the other server: refused %q", done.Refused)
	}
	get(0)
	if status, _, msg := r.reload(t, site); status != http.StatusOK {
		t.Fatal(status, msg)
	}
	get(3)
}

// TestStatusOfRules: vitrine status shows what is kept by each rule, and why the other server fails.
func TestStatusOfRules(t *testing.T) {
	t.Parallel()
	// It hangs up: the port of a server that has closed may be that of another test's by now.
	old := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer old.Close()
	r := runFile(t, "upstream:\n  url: "+old.URL+"\n  keep:\n    - paths: [/portal/]\n")
	if status, body := fetch(t, http.MethodGet, r.base+"/portal/x"); status < 500 {
		t.Fatal(status, body)
	}
	cfg := configs.Default()
	cfg.Admin.Listen = strings.TrimPrefix(r.admin, "http://")
	report, err := servedStatus(t.Context(), cfg, r.store.Name(), slowAnswer)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printTable(&out, "status of rules", report.Kept); err != nil {
		t.Fatal(err)
	}
	if err := output.ExecuteTemplate(&out, "failures of rules", report.Kept); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.Contains(text, "\n/portal/ ") || !strings.Contains(text, "kept: /portal/: the last request failed ") {
		t.Error(text)
	}
}

// TestMaterializeRefreshes: vitrine materialize fetches what rules name as warm, and the next run nothing again,
// unless what it depends on has changed.
func TestMaterializeRefreshes(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var failing atomic.Bool
	old := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		if failing.Load() {
			_, _ = rw.Write([]byte(`{"status": 500, "msg": "no database"}`))
			return
		}
		_, _ = rw.Write([]byte(`{"status": 200, "data": []}`))
	}))
	defer old.Close()
	dir := t.TempDir()
	file, groups := filepath.Join(dir, "vitrine.yml"), filepath.Join(dir, "groups.jsonl")
	for name, text := range map[string]string{
		file: "store: bolt://" + dir + "/v.db\nupstream:\n  url: " + old.URL + "\n  keep:\n" +
			"    - {paths: [/portal/], until: [groups, persons], rate: 1000, refresh: '@every 1h',\n" +
			"       warm: ['/portal/units', '/portal/unit/{groups.id}']}\n",
		groups: `{"_id": 1, "id": "BIO"}` + "\n" + `{"_id": 2, "id": "ECO"}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do := func(args ...string) string {
		t.Helper()
		var out, wrong strings.Builder
		if code := run(t.Context(), append(args, "--config", file), &out, &wrong); code != 0 {
			t.Fatalf("%q: %d %s", args, code, wrong.String())
		}
		return out.String()
	}
	do("import", groups)
	for _, step := range []struct {
		args []string
		want int64
	}{
		{[]string{"materialize"}, 3}, {[]string{"materialize"}, 0}, {[]string{"materialize", "--view", "persons"}, 0},
		{[]string{"import", groups}, 0}, {[]string{"materialize", "--view", "upstream"}, 3},
	} {
		out := do(step.args...)
		if n := asked.Swap(0); n != step.want {
			t.Errorf("%q: asked %d times, want %d: %s", step.args, n, step.want, out)
		}
	}
	do("import", groups)
	failing.Store(true)
	var table, failed strings.Builder // the log writes to the second beside the command
	if code := run(
		t.Context(), []string{"materialize", "--view", "upstream", "--config", file}, &table, &failed,
	); code != 1 ||
		!strings.Contains(failed.String(),
			"rule /portal/: the other server sent no answer to keep to any of 3 requests") {
		t.Errorf("while all requests fail: %d %s", code, failed.String())
	}
	var out, wrong strings.Builder
	if err := os.WriteFile(file, []byte("store: bolt://"+dir+"/v.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := run(t.Context(), []string{"materialize", "--view", "upstream", "--config", file}, &out, &wrong)
	if code != 1 || !strings.Contains(wrong.String(), "upstream.keep has no rules") {
		t.Errorf("without rules: %d %s", code, wrong.String())
	}
}

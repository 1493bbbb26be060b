package programtest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

// TestHangupReloads sends SIGHUP to a server with a configuration file: the server reads the file
// again, and logs an error if it is bad.
func TestHangupReloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, dir, "store: bolt://v.db\n")
	writeDump(t, dir)
	s := startServer(t, dir, "--config", file).ready()
	for _, step := range []struct{ content, logged string }{
		{"lists: {public: '{'}\n", `"msg":"configuration not reloaded, all settings stay"`},
		{"lists: {named: {papers: {group: year}}}\n", `"msg":"configuration reloaded"`},
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

// TestReloadNamesOthers: the log names settings that a reload does not adopt, without their values,
// as long as they differ from those of the start.
func TestReloadNamesOthers(t *testing.T) {
	t.Parallel()
	const stale = `"msg":"changed settings keep their old values until a restart","settings":`
	dir := t.TempDir()
	file := writeFile(t, dir, "store: bolt://v.db\nadmin: {token: first-secret}\nlists: {enabled: false}\n")
	writeDump(t, dir)
	s := startServer(t, dir, "--config", file).ready()
	for i, step := range []struct{ content, settings string }{
		{"store: bolt://v.db\nadmin: {token: second-secret}\nlists: {enabled: false}\n", `["admin.token"]`},
		{"store: bolt://v.db\nadmin: {token: second-secret}\nviews: {poll: 7s}\nmaterialize: {schedule: " +
			"{activities: '@every 9m'}}\nlists: {enabled: true}\n",
			`["admin.token","views.poll","materialize.schedule","lists.enabled"]`},
		{"store: bolt://v.db\nadmin: {token: first-secret}\nlists: {enabled: false, base_url: 'https://a.example'}\n",
			""},
	} {
		writeFile(t, dir, step.content)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		await(t, "the configuration is reloaded", func() string {
			return unless(strings.Count(s.logged(), `"msg":"configuration reloaded"`) == i+1 &&
				(step.settings == "" || strings.Contains(s.logged(), stale+step.settings)))
		})
		for path, want := range map[string]int{"/api/activities": http.StatusOK,
			"/lists/activities.bib": http.StatusNotFound} {
			if status, body := s.get(path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
	if log := s.logged(); strings.Count(log, stale) != 2 || strings.Contains(log, "secret\"") {
		t.Errorf("the log reveals too much: %s", log)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// writeDump makes a store with one activity in a folder.
func writeDump(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "activities.jsonl"), []byte(`{"_id":"a1","title":"First"}`+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
}

// TestTrackingByDefault: links from newsletters and posts work without a setting; pages ignore other
// unknown parameters, too.
func TestTrackingByDefault(t *testing.T) {
	t.Parallel()
	s := listHost(t)
	for path, strange := range map[string]int{"/lists": 200, "/lists/activities": 200, "/lists/unit/ECO.html": 400,
		"/lists/activities.rss": 400} {
		for query, want := range map[string]int{
			"?utm_source=letter&utm_id=1": 200, "?fbclid=1": 200, "?gclid=1": 200, "?mc_cid=1&mc_eid=2": 200,
			"?_ga=1": 200, "?msclkid=1": 200, "?mtm_campaign=1&pk_kwd=2": 200, "?li_fat_id=1&ttclid=2&ScCid=3": 200,
			"?yaer=1": 400,
			"?utm=1":  strange, "?_gat=1": strange,
		} {
			if res, _ := askedAs(t, s.base+path+query, "localhost"); res.StatusCode != want {
				t.Errorf("%s%s: %s, want %d", path, query, res.Status, want)
			}
		}
	}
}

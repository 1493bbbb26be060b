package lists

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestHangupReloads sends SIGHUP to a server with a configuration file: the server reads the file
// again, and logs an error if it is bad.
func TestHangupReloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := programtest.WriteFile(t, dir, "store: bolt://v.db\n")
	programtest.WriteDump(t, dir)
	s := programtest.Start(t, dir, "--config", file).Ready()
	for _, step := range []struct{ content, logged string }{
		{"lists: {public: '{'}\n", `"msg":"configuration not reloaded, all settings stay"`},
		{"lists: {named: {papers: {group: year}}}\n", `"msg":"configuration reloaded"`},
	} {
		programtest.WriteFile(t, dir, step.content)
		if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		programtest.Await(t, step.logged,
			func() string { return programtest.Unless(strings.Contains(s.Log(), step.logged)) })
		if status, body := s.Get("/api/activities?limit=1"); status != http.StatusOK {
			t.Errorf("after SIGHUP: %d %s", status, body)
		}
	}
	if n := strings.Count(s.Log(), `"level":"ERROR"`); n != 1 {
		t.Errorf("%d errors in the log, want 1", n)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
}

// TestReloadNamesOthers: the log names settings that a reload does not adopt, without their values,
// as long as they differ from those of the start.
func TestReloadNamesOthers(t *testing.T) {
	t.Parallel()
	const stale = `"msg":"changed settings keep their old values until a restart","settings":`
	dir := t.TempDir()
	file := programtest.WriteFile(t, dir,
		"store: bolt://v.db\nadmin: {token: first-secret}\nlists: {enabled: false}\n")
	programtest.WriteDump(t, dir)
	s := programtest.Start(t, dir, "--config", file).Ready()
	for i, step := range []struct{ content, settings string }{
		{"store: bolt://v.db\nadmin: {token: second-secret}\nlists: {enabled: false}\n", `["admin.token"]`},
		{"store: bolt://v.db\nadmin: {token: second-secret}\nviews: {poll: 7s}\nmaterialize: {schedule: " +
			"{activities: '@every 9m'}}\nlists: {enabled: true}\n",
			`["admin.token","views.poll","materialize.schedule","lists.enabled"]`},
		{"store: bolt://v.db\nadmin: {token: first-secret}\nlists: {enabled: false, base_url: 'https://a.example'}\n",
			""},
	} {
		programtest.WriteFile(t, dir, step.content)
		if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		programtest.Await(t, "the configuration is reloaded", func() string {
			return programtest.Unless(strings.Count(s.Log(), `"msg":"configuration reloaded"`) == i+1 &&
				(step.settings == "" || strings.Contains(s.Log(), stale+step.settings)))
		})
		for path, want := range map[string]int{"/api/activities": http.StatusOK,
			"/lists/activities.bib": http.StatusNotFound} {
			if status, body := s.Get(path); status != want {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
	if log := s.Log(); strings.Count(log, stale) != 2 || strings.Contains(log, "secret\"") {
		t.Errorf("the log reveals too much: %s", log)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestTrackingByDefault: links from newsletters and posts work without a setting; pages ignore other
// unknown parameters, too.
func TestTrackingByDefault(t *testing.T) {
	t.Parallel()
	s := programtest.ListHost(t)
	for path, strange := range map[string]int{"/lists": 200, "/lists/activities": 200, "/lists/unit/ECO.html": 400,
		"/lists/activities.rss": 400} {
		for query, want := range map[string]int{
			"?utm_source=letter&utm_id=1": 200, "?fbclid=1": 200, "?gclid=1": 200, "?mc_cid=1&mc_eid=2": 200,
			"?_ga=1": 200, "?msclkid=1": 200, "?mtm_campaign=1&pk_kwd=2": 200, "?li_fat_id=1&ttclid=2&ScCid=3": 200,
			"?yaer=1": 400,
			"?utm=1":  strange, "?_gat=1": strange,
		} {
			if res, _ := programtest.AskAs(t, s.Base+path+query, "localhost"); res.StatusCode != want {
				t.Errorf("%s%s: %s, want %d", path, query, res.Status, want)
			}
		}
	}
}

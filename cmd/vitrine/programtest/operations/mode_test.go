package operations

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestServeModes serves the demo institute from memory, from the store, and in memory as far as it
// fits: the answers are the same, byte by byte.
func TestServeModes(t *testing.T) {
	t.Parallel()
	serve := func(mode string) *programtest.Server {
		dir := t.TempDir()
		programtest.Setenv(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
		programtest.Setenv(dir, "VITRINE_VIEWS_BUDGET", "600KiB")
		return programtest.Start(t, dir, "--demo", "--views-mode", mode).Ready()
	}
	memory, store, auto := serve("memory"), serve("store"), serve("auto")
	for _, path := range []string{
		"/api/activities?limit=20&offset=10",
		"/api/activities?aggregate=authors.user",
		"/api/activities?full=1&limit=30",
		"/api/activities?filter[title][$regex]=soil&filter[title][$options]=i",
		"/api/html?limit=10",
		"/api/all-activities?type=publication",
		"/api/projects?formatted",
		"/api/search/activities?columns[]=title&columns[]=authors.last&limit=30",
		"/api/search/journals?aggregate=publisher",
		"/api/events",
		"/api/levenshtein?title=moths%20around%20lamps",
		"/portfolio/spectrum?limit=5",
		"/lists/activities.json?facets=year,type,subtype,unit,person,project,topic,keyword",
		"/lists/activities.json?q=of+moth&sort=relevance&facets=unit,type&deep=1",
		"/lists/activities.html?q=l&group=person&limit=7&page=2",
		"/lists/activities.json?year=last3,missing&not.type=poster&not.unit=MOTH&deep=1&oa=0,1&sort=-added&" +
			"facets=oa,unit&limit=500",
		"/lists/activities.json?q=doi:10.5555/HINS.2024.1007&not.oa=0",
		"/lists/activities.bib?not.year=missing,..2015&not.person=0000-0009-3666-8279&not.topic=T90015",
		"/lists/projects.json?facets=person,unit&group=year",
		"/lists.json",
	} {
		_, want := memory.Served(path)
		for name, s := range map[string]*programtest.Server{"store": store, "auto": auto} {
			if status, got := s.Served(path); status != 200 ||
				programtest.Unstamped(got) != programtest.Unstamped(want) {
				t.Errorf("%s, mode %s: status %d, %d bytes, want %d", path, name, status, len(got), len(want))
			}
		}
	}
	_, views := programtest.Fetch(t, http.MethodGet, auto.Admin+"/admin/views")
	if !strings.Contains(views, `"mode":"store"`) || !strings.Contains(views, `"mode":"memory"`) {
		t.Errorf("mode auto keeps all views in one place: %s", views)
	}
	for _, s := range []*programtest.Server{memory, store, auto} {
		if code := s.Stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d", code)
		}
	}
}

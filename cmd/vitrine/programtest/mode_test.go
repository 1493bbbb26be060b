package programtest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// stamps match the times in a list at which its records were published, which differ between
// stores.
var stamps = regexp.MustCompile(`"as_of": ?"[^"]*"`)

// unstamped returns a list without its stamps.
func unstamped(list string) string { return stamps.ReplaceAllString(list, "") }

// TestServeModes serves the demo institute from memory, from the store, and in memory as far as it
// fits: the answers are the same, byte by byte.
func TestServeModes(t *testing.T) {
	t.Parallel()
	serve := func(mode string) *server {
		dir := t.TempDir()
		set(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
		set(dir, "VITRINE_VIEWS_BUDGET", "600KiB")
		return startServer(t, dir, "--demo", "--views-mode", mode).ready()
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
		_, want := memory.get(path)
		for name, s := range map[string]*server{"store": store, "auto": auto} {
			if status, got := s.get(path); status != 200 || unstamped(got) != unstamped(want) {
				t.Errorf("%s, mode %s: status %d, %d bytes, want %d", path, name, status, len(got), len(want))
			}
		}
	}
	_, views := fetch(t, http.MethodGet, auto.admin+"/admin/views")
	if !strings.Contains(views, `"mode":"store"`) || !strings.Contains(views, `"mode":"memory"`) {
		t.Errorf("mode auto keeps all views in one place: %s", views)
	}
	for _, s := range []*server{memory, store, auto} {
		if code := s.stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d", code)
		}
	}
}

package lists_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestNearestPath: the response to an unknown path names the nearest known path, and no other.
func TestNearestPath(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for target, want := range map[string]string{
		"/api/activites":                "There is nothing at this path. Did you mean /api/activities?",
		"/api/activity?limit=1":         "There is nothing at this path. Did you mean /api/activities?",
		"/API/Persons":                  "There is nothing at this path.",
		"/api/HTML":                     "There is nothing at this path. Did you mean /api/html?",
		"/api/search/person":            "There is nothing at this path. Did you mean /api/search/persons?",
		"/portfolio/spectra":            "There is nothing at this path. Did you mean /portfolio/spectrum?",
		"/openapi.yaml":                 "There is nothing at this path.",
		"/wp-login.php":                 "There is nothing at this path.",
		"/" + strings.Repeat("a", 9000): "There is nothing at this path.",
		"/lists/activites": "There is no list of this name. /lists has all, did you mean " +
			"activities?",
		"/lists/activites.json": "There is no list of this name. /lists has all, did you mean " +
			"activities?",
		"/lists/nothing-like-it":   "There is no list of this name. /lists has all.",
		"/listss/activities":       "There is nothing at this path. Did you mean /lists/activities?",
		"/item/x":                  "There is nothing at this path. Did you mean /items/x?",
		"/lists/unit/x/y":          "There is nothing at this path.",
		"/lists/activities.bibtex": "This list has no such format, did you mean activities.bib?",
		"/lists/activities.htlm":   "This list has no such format, did you mean activities.html?",
		"/lists/activities.xml": "This list has no such format, only .json, .html, .bib, .ris, .csl.json, .csv, " +
			".jsonld, .atom, .rss, .feed.json.",
		"/lists/publications": "There is no list of this name. /lists has all, " +
			"did you mean activities?",
		"/lists/publications.bib": "There is no list of this name. /lists has all, " +
			"did you mean activities?",
		"/lists/authors/ada":                   "There is no such list. /lists has all, did you mean person?",
		"/lists/departments/BIO":               "There is no such list. /lists has all, did you mean unit?",
		"/api/publications":                    "There is nothing at this path. Did you mean /api/activities?",
		"/api/papers?limit=1":                  "There is nothing at this path. Did you mean /api/activities?",
		"/api/persons":                         "There is nothing at this path. Did you mean /api/search/persons?",
		"/api/search/publications":             "There is nothing at this path. Did you mean /api/search/activities?",
		"/api/works/x":                         "There is nothing at this path.",
		"/api/projects/x":                      "There is nothing at this path. Did you mean /api/projects?",
		"/api/status":                          "There is nothing at this path.",
		"/api/v1":                              "There is nothing at this path.",
		"/api/units":                           "There is nothing at this path.",
		"/api/groups":                          "There is nothing at this path.",
		"/feed.xml":                            "There is nothing at this path.",
		"/sitemap_index.xml":                   "There is nothing at this path.",
		"/sitemap.xm":                          "There is nothing at this path. Did you mean /sitemap.xml?",
		"/robot.txt":                           "There is nothing at this path. Did you mean /robots.txt?",
		"/lists/unit/MTOH":                     "No public record knows MTOH, did you mean MOTH?",
		"/lists/person/nothing-like-it":        "No public record knows nothing-like-it.",
		"/listss/" + strings.Repeat("a", 9000): "There is nothing at this path.",
		"/api/users/none":                      "User not found",
	} {
		res := s.Get(target)
		var failure struct{ Msg string }
		if err := json.Unmarshal(res.Body, &failure); err != nil || res.StatusCode != http.StatusNotFound ||
			failure.Msg != want {
			t.Errorf("%.60s: %d %q (%v), want %q", target, res.StatusCode, failure.Msg, err, want)
		}
	}
}

// TestErrorsForBrowsers: a browser gets an error at the path of a page, or near one, as a page in its language.
func TestErrorsForBrowsers(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for target, want := range map[string]string{
		"/lists/nolist": "de", "/lists/activities?yaer=2": "de", "/listss": "de", "/listss/activities": "de",
		"/?yaer=1": "de", "/lists/nolist?lang=en": "en",
		"/lists/nolist.json": "", "/api/nothing": "", "/wp-login.php": "",
	} {
		res := s.Get(target, "Accept", "text/html", "Accept-Language", "de-AT,de;q=0.9,en;q=0.5")
		isPage := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
		if isPage != (want != "") || isPage &&
			(!strings.Contains(string(res.Body), `<html lang="`+want+`"`) ||
				!strings.Contains(res.Header.Get("Vary"), "Accept, Accept-Language")) {
			t.Errorf("%s: %s, Vary %q, want %q: %s", target, res.Status, res.Header.Get("Vary"), want, res.Body)
		}
	}
}

// TestIcon: the server has the icon that browsers request by themselves, and caches may keep it.
func TestIcon(t *testing.T) {
	res := proxytest.OpenLists(t, nil).Get("/favicon.ico")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.HasPrefix(string(res.Body), "<svg ") || res.Header.Get("Cache-Control") == "" {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, res.Body)
	}
}

// TestKeyNotRead: the answer reports a key as ignored only if the server needs no key, and if no
// session's visibility depends on it.
func TestKeyNotRead(t *testing.T) {
	o := proxytest.Options(t)
	o.Auth.APIKey = "right"
	keyed, none := proxytest.Open(t, proxytest.Institute(t), o), proxytest.Open(t, proxytest.Institute(t),
		proxytest.Options(t))
	for _, tt := range []struct {
		s            *proxytest.Site
		target, want string
	}{
		{keyed, "/api/activities?limit=1&apikey=right", ""},
		{keyed, "/portfolio/spectrum?apikey=wrong", "apikey"},
		{none, "/api/activities?limit=1&apikey=wrong", "apikey"},
		{none, "/api/activities?limit=1", ""},
	} {
		res := tt.s.Get(tt.target)
		if got := res.Header.Get("Vitrine-Ignored"); res.StatusCode != http.StatusOK || got != tt.want {
			t.Errorf("%s: %d, ignored %q, want %q", tt.target, res.StatusCode, got, tt.want)
		}
	}
}

// TestIDsAreUnique: every id on a page or fragment is unique, whatever the groups.
func TestIDsAreUnique(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	for _, target := range []string{
		"/", "/lists", "/docs", "/lists/activities", "/lists/activities?group=person&limit=200",
		"/lists/activities.html?group=person&limit=200",
		"/lists/activities?group=person&limit=200&page=2", "/lists/projects?group=person", "/lists/events?group=year",
	} {
		res := s.Get(target, "Accept", "text/html")
		ids := map[string]bool{}
		for _, part := range strings.Split(string(res.Body), ` id="`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if ids[id] {
				t.Errorf("%s has two of %s", target, id)
			}
			ids[id] = true
		}
		if len(ids) == 0 && target != "/lists" {
			t.Errorf("%s has no ids", target)
		}
	}
}

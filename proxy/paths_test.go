package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestPaths: Paths lists what the server has routes for.
func TestPaths(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	var want []string
	for _, r := range s.Server.App().GetRoutes(true) {
		if r.Method == fiber.MethodGet {
			want = append(want, r.Path)
		}
	}
	got := proxy.Paths()
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestCheckPath(t *testing.T) {
	for path, want := range map[string]string{
		"/": "", "/api": "", "/api/": "", "/api/html/": "", "/portfolio": "", "/api/users": "", "/api/users/ada": "",
		"/api/search/activities": "", "/lists/activities.bib": "", "/items": "",
		"/api/project": "did you mean /api/projects?", "/api/user/ada": `"/api/user/ada"`,
		"/api/html/x": "did you mean /api/html?", "/apis": "did you mean /api?",
		"/media": `no path of Vitrine: "/media"`,
	} {
		err := proxy.CheckPath(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestCheckMoved: a path moves if something is there or below it; another is refused with the nearest that could.
func TestCheckMoved(t *testing.T) {
	const none, fixed = "there is no such path", "this server always answers it itself"
	for path, want := range map[string]string{
		"/api/projects": "", "/api/projects/": none + ", did you mean /api/projects?", "/api": "", "/api/": "",
		"/portfolio": "", "/lists": "", "/items": "", "/api/search": "", "/lists/unit/": "",
		"/api/users": "", "/api/users/ada": "", "/lists/bio-papers": "", "/lists/unit": "", "/lists/unit/BIO": "",
		"/api/citation-index": "", "/robots.txt": "",
		"/api/project":  none + ", did you mean /api/projects?",
		"/api/Projects": none + ", did you mean /api/projects?", "/portfolios": none + ", did you mean /portfolio?",
		"/api/projects/x": none + ", did you mean /api/projects?", "/media": none, "": none, "//": none,
		"/lists//BIO": none, "/readyz": fixed, "/": fixed, "/docs": fixed, "/openapi.json": fixed,
	} {
		if got := proxy.CheckMoved(path); got == nil && want != "" || got != nil && got.Error() != want {
			t.Errorf("%q: %v, want %q", path, got, want)
		}
	}
}

// TestMovedPathsMove: for each path that the check accepts or refuses as fixed, a server does what it says.
func TestMovedPathsMove(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	defer old.Close()
	paths := []string{"/", "/healthz", "/livez", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json",
		"/favicon.ico",
		"/docs/embedding", "/docs/records", "/robots.txt",
		"/api/activities", "/api/citation-index", "/portfolio/spectrum", "/lists", "/lists.json", "/lists/activities",
		"/items/x", "/sitemap.xml", "/oembed"}
	o := proxytest.ListOptions(t)
	o.Upstream.URL, o.Upstream.Routes = old.URL, paths
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for _, path := range paths {
		res := s.Exchange(httptest.NewRequest(http.MethodGet, path, nil))
		if moved := res.StatusCode == http.StatusTeapot; moved != (proxy.CheckMoved(path) == nil) {
			t.Errorf("%s: status %d, and the check says %v", path, res.StatusCode, proxy.CheckMoved(path))
		}
	}
}

// TestCheckUnkept: a rule for kept answers names no path that the server answers itself, and none whose subpaths are
// all such.
func TestCheckUnkept(t *testing.T) {
	for path, own := range map[string]bool{
		"/api/activities": true, "/readyz": true, "/": false,
		"/api/users/": true, "/api/users/*": true, "/items/": true,
		"/portfolio/spectrum": true, "/portfolio/": false, "/portfolio": false, "/api/": false, "/api/users": false,
		"/api/activities/": false, "/portfolio/unit/*/staff": false, "/media": false,
	} {
		if err := proxy.CheckUnkept(path); (err != nil) != own {
			t.Errorf("%s: %v", path, err)
		}
	}
}

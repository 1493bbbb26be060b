package proxy_test

import (
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
		"/": "", "/api": "", "/api/": "", "/portfolio": "", "/api/users": "", "/api/users/ada": "", "/api/search/activities": "", "/lists/activities.bib": "", "/items": "",
		"/api/project": "did you mean /api/projects?", "/api/user/ada": `"/api/user/ada"`, "/api/html/x": "did you mean /api/html?", "/apis": "did you mean /api?", "/media": `no path of Vitrine: "/media"`,
	} {
		err := proxy.CheckPath(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

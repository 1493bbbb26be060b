package urlpath_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"vitrine/rules/urlpath"
)

var routes = urlpath.NewRoutes([]string{"/", "/api/activities", "/api/users/:id", "/api/search/html",
	"/portfolio/spectrum", "/lists/:kind/:id"})

// TestSpells: what a server may read as a route is one, and nothing else is.
func TestSpells(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/activities":               "/api/activities",
		"/api/activities/":              "/api/activities",
		"/api//activities":              "/api/activities",
		"//api/activities":              "/api/activities",
		"//host/api/activities":         "/api/activities",
		"/%2fhost/api/activities":       "/api/activities",
		"/api%2factivities":             "/api/activities",
		"/api%252Factivities":           "/api/activities",
		"/api%25252Factivities":         "/api/activities",
		`/api\activities`:               "/api/activities",
		"/api%5cactivities":             "/api/activities",
		"/API/activities":               "/api/activities",
		"/api/activitie%C5%BF":          "/api/activities",
		"/api/activities;x":             "/api/activities",
		"/api;v=1/activities;x=2":       "/api/activities",
		"/api/activities%3Bx":           "/api/activities",
		"/api/activities;x%2fy":         "/api/activities",
		"/api/activities%3bx%252fy":     "/api/activities",
		"/api/activities%3fx":           "/api/activities",
		"/api/activities%23x":           "/api/activities",
		"/api/activities%20":            "/api/activities",
		"/api/activities%0a":            "/api/activities",
		"/api/activities.":              "/api/activities",
		"/api./activities":              "/api/activities",
		"/api/activities.php":           "/api/activities",
		"/api/activities.PHP/":          "/api/activities",
		"/api/activities.php/x/y":       "/api/activities",
		"/api/index.php/activities":     "/api/activities",
		"/index.php/api/activities":     "/api/activities",
		"/x/y.php/api/activities":       "/api/activities",
		"/api.php/index.php/activities": "/api/activities",
		"/api/activities.json":          "/api/activities",
		"/Api%2fUsers/ada;x":            "/api/users/:id",
		"//LISTS/unit/BIO":              "/lists/:kind/:id",
		"//":                            "/",
		"/;x":                           "/",
		"/%20":                          "/",
		"/index.php":                    "",
		"/index.php/":                   "",
		"//host":                        "",
		"/api/activities/x":             "",
		"/api/activitiesx":              "",
		"/api/users":                    "",
		"/lists/unit":                   "",
		"/portfolio/unit/BIO":           "",
		"/portfolio/spectrum.x":         "",
	} {
		p, err := urlpath.Parse(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if got := p.Spells(routes); got != want {
			t.Errorf("%s spells %q, want %q", path, got, want)
		}
	}
}

// TestBelow: a path is below a prefix only if all servers think so, and near one if any does.
func TestBelow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, prefix string
		below, near  bool
	}{
		{"/portal/x", "/portal", true, true},
		{"/portal", "/portal", true, true},
		{"/portal/", "/portal/", true, true},
		{"/portal", "/portal/", false, true},
		{"/portals", "/portal", false, false},
		{"/x", "/", true, true},
		{"/portal//x", "/portal", true, true},
		{"/portal/%C3%84%20b", "/portal/Ä b", true, true},
		{"/%C3%84/x", "/%c3%84", true, true},
		{"/portal/a%2fb", "/portal", true, true},
		{"/portal%2fb", "/portal", false, true},
		{`/portal\b`, "/portal", false, true},
		{"/Portal/x", "/portal", false, true},
		{"/portal;x/y", "/portal", false, true},
		{"/%70ortal", "/portal", true, true},
		{"/%2570ortal", "/portal", false, true},
		{"//portal/x", "/portal", false, true},
		{"/portal%20/x", "/portal", false, true},
		{"/portal.php/x", "/portal", false, true},
		{"/admin%3f/portal", "/portal", false, false},
	} {
		p, err := urlpath.Parse(tt.path)
		if err != nil || p.Below(tt.prefix) != tt.below || p.Near(tt.prefix) != tt.near {
			t.Errorf("%+v: below %v, near %v, error %v", tt, p.Below(tt.prefix), p.Near(tt.prefix), err)
		}
	}
	if p, _ := urlpath.Parse("//a/b"); !p.Below("/a", "/b") {
		t.Error("every reading is below one of two prefixes")
	}
	if (urlpath.Path{}).Below("/") || (urlpath.Path{}).Near("/") {
		t.Error("the zero Path is somewhere")
	}
}

// TestRefused: no server gets a path that leads upwards or ends early in any reading.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"", "portal", "*", "/..", "/portal/../admin", "/portal/..;/admin", "/portal/..;x=1/admin",
		"/portal/.%2e/admin", "/portal/..%3b/admin",
		"/portal/%2e%2e/admin", "/portal/%252e%252e/admin", "/portal/..%2fadmin", "/portal/..%252fadmin",
		`/portal/..\admin`, "/portal/x%5c..%5cadmin",
		"/portal/..%20/admin", "/portal/..%09/admin", "/portal/.../admin", "/portal/..%00/admin", "/portal/.",
		"/portal/%2e%20", "/portal/..%3fx",
		"/portal/%zz", "/portal/%", "/portal/%4", "/portal/a%00", "/portal/a%2500.php", "/portal/%c0%ae%c0%ae/admin",
		"/portal/%c0%af", "/portal/%e0%80%af", "/portal/%f0%80%80%af",
		"/portal/%2525252525252525" + strings.Repeat("25", 100) + "2e", "/" + strings.Repeat("a.php/", 300),
	} {
		if _, err := urlpath.Parse(path); err == nil {
			t.Errorf("%.60q is accepted", path)
		}
		if got, ok := urlpath.Normalised(path); ok {
			t.Errorf("%.60q is %q", path, got)
		}
	}
}

// TestNormalised: what all servers read alike has one normal form.
func TestNormalised(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/": "/", "/portfolio/unit/BIO": "/portfolio/unit/BIO", "/portfolio//unit/BIO/": "/portfolio/unit/BIO",
		"/portal/unit/%C3%84%20b": "/portal/unit/Ä b",
		"/a/100%25":               "/a/100%", "/a/x.y.z": "/a/x.y.z", "/.well-known/x": "/.well-known/x",
		"/a/%E4": "/a/\xe4",
		"/a/C++": "/a/C++",
		"/a%2fb": "", "/a;b": "", "//a/b": "", "/a/b.": "", "/a/%2541": "", "/a%3fb": "",
	} {
		if got, ok := urlpath.Normalised(path); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", path, got, ok)
		}
	}
}

// FuzzParse: the readings of an ordinary path are the path itself, however it is escaped, and a path that Parse
// accepts stays where the standard library thinks it is.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/a/b", "//a;x/%2e", "/%25%32%65", "/a.php/%5c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := urlpath.Parse(text)
		if err != nil {
			return
		}
		u, err := url.ParseRequestURI(text)
		if strings.ContainsAny(text, "?") || err != nil && strings.ContainsFunc(text,
			func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		clean := u.JoinPath().Path // without dots
		if strings.Trim(clean, "/") != strings.Trim(collapsed(u.Path), "/") {
			t.Errorf("%q leads to %q", text, clean)
		}
		if first, _ := urlpath.Normalised(text); first != "" && !p.Near(strings.ReplaceAll(first, "%", "%25")) {
			t.Errorf("%q is not near %q", text, first)
		}
	})
}

func collapsed(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

func BenchmarkParse(b *testing.B) {
	for _, path := range []string{"/portfolio/unit/BIO", "/portal/unit/%C3%84%20b", "/a;b%3fc%20/%252f;d"} {
		b.Run(fmt.Sprintf("%.20s", path), func(b *testing.B) {
			for b.Loop() {
				p, _ := urlpath.Parse(path)
				_ = p.Spells(routes)
			}
		})
	}
}

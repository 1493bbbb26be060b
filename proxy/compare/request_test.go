package compare_test

import (
	"errors"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// comparison returns the comparison of a server at an address with another, which has a key and keeps some paths.
func comparison(t *testing.T, address string, kept func(path string) bool) *compare.Comparison {
	t.Helper()
	old, oldErr := compare.NewSide("old", address, compare.Keys{}, nil)
	new, newErr := compare.NewSide("new", "https://new.example", compare.Keys{Portfolio: "Geheim7"}, nil)
	if err := errors.Join(oldErr, newErr); err != nil {
		t.Fatal(err)
	}
	return compare.NewComparison(old, new, compare.Settings{Examples: 3, Kept: kept})
}

func TestRequest(t *testing.T) {
	c := comparison(t, "https://x.example", nil)
	tests := []struct {
		logged, want string
		err          error
	}{
		{"/api/html?limit=3&lang=de", "/api/html?limit=3&lang=de", nil},
		{"https://other.example:8443/api/html?a#b", "/api/html?a", nil},
		{"https://user:pass@other.example/api/html", "/api/html", nil},
		{"http://other.example", "", compare.ErrPath},
		{"//other.example/api/html", "", compare.ErrURL},
		{"mailto:a@b", "", compare.ErrURL},
		{"javascript:alert(1)", "", compare.ErrURL},
		{"api/html", "", compare.ErrURL},
		{"*", "", compare.ErrURL},
		{"", "", compare.ErrPath},
		{"/api/html?apikey=x&limit=1", "/api/html?limit=1", nil},
		{"/api/html?limit=1&APIKEY[]=x", "/api/html?limit=1", nil},
		{"/api/html?%61pi%6Bey=x", "/api/html", nil},
		{"/api/html?%2561pikey=x", "/api/html", nil},
		{"/api/html?api_key=x&access_token=y&token=z&key=k&password=p", "/api/html", nil},
		{"/api/html?url=https%3A%2F%2Fh%2Fapi%3Fapikey%3Dx&a=1", "/api/html?a=1", nil},
		{"/api/html?a=Geheim7&b=1", "/api/html?b=1", nil},
		{"/api/users/Geheim7", "", compare.ErrURL},
		{"/api/html?…&limit=1", "/api/html?limit=1", nil},
		{"/api/html?limit=1&…", "/api/html?limit=1", nil},
		{"/api/html?limit=1&json=%7B%22a…", "", compare.ErrURL},
		{"/api/users/…", "", compare.ErrURL},
		{`/api/activities?json={"title":{"$regex":"a b"}}`,
			"/api/activities?json=%7B%22title%22:%7B%22$regex%22:%22a%20b%22%7D%7D", nil},
		{"/api/users/Jörg'", "/api/users/J%C3%B6rg%27", nil},
		{"/api/html?q=%E4%zz", "/api/html?q=%E4%zz", nil},
		{"/api/%zz", "", compare.ErrURL},
		{"/api/activities?limit=2&sort=-year", "", compare.ErrOwn},
		{"/api/search/persons?q[]=ann", "", compare.ErrOwn},
		{"/api/activities?sort=&q=", "/api/activities?sort=&q=", nil},
		{"/api/projects?sort=name", "/api/projects?sort=name", nil},
		{"/api/html?a=\x00\x1b[2J\xff\r\nX: y", "/api/html?a=%00%1B[2J%FF%0D%0AX:%20y", nil},
		{"/api/../admin", "", compare.ErrPath},
		{"/api/%2e%2e/admin", "", compare.ErrPath},
		{"/api//html", "", compare.ErrPath},
		{"/api/html/", "/api/html/", nil},
		{"/", "", compare.ErrPath},
		{"/" + strings.Repeat("x", 70_000), "", compare.ErrURL},
	}
	for _, tt := range tests {
		r, err := c.Request("GET", tt.logged)
		if r.Target != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%.80q: %q, %v; want %q, %v", tt.logged, r.Target, err, tt.want, tt.err)
		}
	}
	for _, method := range []string{"POST", "DELETE", "get", "", "GET\r\n"} {
		if _, err := c.Request(method, "/api/html"); !errors.Is(err, compare.ErrMethod) {
			t.Errorf("%q: %v", method, err)
		}
	}
}

// TestKeptRequests: paths whose answers the new side keeps are compared, wherever they are.
func TestKeptRequests(t *testing.T) {
	c := comparison(t, "https://x.example/old",
		func(path string) bool { return strings.HasPrefix(path, "/portal/ä") })
	for logged, want := range map[string]string{
		"/old/portal/%C3%A4/x?a=1": "/portal/%C3%A4/x?a=1", "/old/portal/x": "", "/portal/ä": "/portal/%C3%A4",
		"/old/portal/ä/../x": "",
		"/old/portfolio/x":   "/portfolio/x",
	} {
		r, err := c.Request("GET", logged)
		if r.Target != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", logged, r.Target, err, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for target, want := range map[string]string{
		"/": "/", "/api/html?a/b": "/api/html", "/api/users/64a0": "/api/users/{…}",
		"/api/user-units/a.b": "/api/user-units/{…}.b",
		"/portfolio/spectrum": "/portfolio/spectrum", "/lists/activities.bib": "/lists/activities.bib",
		"/lists/unit/BIO.csl.json": "/lists/unit/{…}.csl.json",
		"/items/64a0.ris":          "/items/{…}.ris", "/a/b/c/d/e": "/a/b/{…}",
		"/api/search/persons": "/api/search/persons",
		"/api/":               "/api",
	} {
		if got := (compare.Request{Method: "GET", Target: target}).Endpoint(); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	c := comparison(t, "https://x.example/osiris/", nil)
	for logged, want := range map[string]string{
		"/osiris/api/x": "/api/x", "/api": "/api", "/api?x": "/api?x", "/portfolio/a": "/portfolio/a",
		"https://y.example/osiris/lists/a": "/lists/a",
		"/apix":                            "", "/": "", "/x/api": "", "/osiris": "", "/osirisx/api": "",
		"/admin/refresh": "",
	} {
		r, err := c.Request("GET", logged)
		if err == nil && r.Target != want || err != nil && (want != "" || !errors.Is(err, compare.ErrPath)) {
			t.Errorf("%s: %q, %v; want %q", logged, r.Target, err, want)
		}
	}
}

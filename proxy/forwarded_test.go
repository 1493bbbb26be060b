package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/compare"
)

// TestCompareForwarded: answers of the old server that come through this one are counted apart, however they come.
// Those that a rule keeps are compared.
func TestCompareForwarded(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Upstream.Keep[0].Most, o.Upstream.Routes = 10_000, []string{"/api/projects"}
	})
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/portfolio/long":
			php(`{"data":"`+strings.Repeat("0123456789", 2000)+`"}`)(w, r)
		case "/portfolio/broken":
			php("broken", "Status", "500")(w, r)
		case "/portfolio/cached", "/cached":
			php(`{"data":[]}`, "Cache-Control", "max-age=60", "Set-Cookie", "", "Expires", "", "Pragma", "")(w, r)
		default:
			php(`{"status":200,"count":0,"data":[]}`)(w, r)
		}
	})
	old, oldErr := compare.NewSide("old", s.old.URL, compare.Keys{}, nil)
	new, newErr := compare.NewSide("new", "http://"+s.Addr, compare.Keys{}, nil)
	if oldErr != nil || newErr != nil {
		t.Fatal(oldErr, newErr)
	}
	both := compare.NewComparison(old, new, compare.Settings{Examples: 1})
	for target, want := range map[string]string{
		"/portfolio/units":  "agree",     // kept by rule
		"/api/activities":   "differ",    // this server's own
		"/api/projects":     "forwarded", // a moved route
		"/api/calendar":     "forwarded", // no route
		"/cached":           "forwarded", // in the shared cache
		"/portfolio/long":   "forwarded", // of a rule, but too long
		"/portfolio/broken": "forwarded", // of a rule, but an error
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
			outcome, err := both.Ask(t.Context(), compare.Request{Method: method, Target: target})
			if method == http.MethodHead && want == "differ" {
				continue // only the media type might
			}
			if err != nil || outcome != want {
				t.Errorf("%s %s: %s, %v; want %s", method, target, outcome, err, want)
			}
		}
	}
	r := both.Report()
	if n := r.Total; n.Forwarded != 15 || n.Kept != 3 ||
		n.Asked != n.Agree+n.Purpose+n.Differ+n.Failed+n.Forwarded {
		t.Errorf("%+v", n)
	}
}

package proxy_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/explain"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/proxytest/osiristest"
	"vitrine/proxy/upstream/traffic"
)

// oldSite is a site before a server like OSIRIS.
type oldSite struct {
	*keptSite
	osiris *osiristest.Server
}

// newOldSite serves a site that keeps what is below /portfolio/ of the other server.
func newOldSite(t *testing.T, change func(*proxy.Options)) *oldSite {
	osiris := osiristest.Start(t)
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Upstream.URL, o.Upstream.Recheck = osiris.URL(), 5*time.Millisecond
		o.Upstream.Keep[0].Type = "application/json"
		if change != nil {
			change(o)
		}
	})
	return &oldSite{s, osiris}
}

// readiness is the answer of /readyz.
type readiness struct {
	Status   int
	State    string
	Msg      string
	Upstream *traffic.Public
}

func (s *oldSite) readyz() (r readiness) {
	s.T.Helper()
	res := s.get("/readyz")
	if err := json.Unmarshal(res.Body, &r); err != nil || res.StatusCode != 200 {
		s.T.Fatalf("/readyz: %d %s", res.StatusCode, res.Body)
	}
	return r
}

// status returns what operators see of the other server.
func (s *oldSite) status() traffic.Status {
	s.T.Helper()
	var all struct{ Upstream *traffic.Status }
	res := s.Admin(http.MethodGet, "/admin/views")
	if err := json.Unmarshal(res.Body, &all); err != nil || all.Upstream == nil {
		s.T.Fatalf("%v in %s", err, res.Body)
	}
	return *all.Upstream
}

// row returns the traffic of a path.
func (s *oldSite) row(path string) traffic.Row {
	s.T.Helper()
	all := s.status().Traffic
	i := slices.IndexFunc(all, func(r traffic.Row) bool { return r.Path == path })
	if i < 0 {
		s.T.Fatalf("no row %s in %+v", path, all)
	}
	return all[i]
}

// until waits until the other server is in a state.
func (s *oldSite) until(state string) {
	s.T.Helper()
	proxytest.Until(s.T, "the other server is "+state, func() bool { return s.status().State == state })
}

const (
	failingSince = "vitrine_upstream_failing_since_timestamp_seconds"
	lastSuccess  = "vitrine_upstream_last_success_timestamp_seconds"
)

// TestOtherServerFails: each failure of the other server is seen with its reason, by requests for kept and for other
// answers. The site stays ready. The end is seen without a client's request.
func TestOtherServerFails(t *testing.T) {
	reasons := map[osiristest.Failure]string{
		osiristest.Stopped: "connection refused", osiristest.DatabaseAway: "status 500",
		osiristest.Hangs: "no answer in time", osiristest.Truncated: "incomplete answer",
		osiristest.LoginRedirect: "status 302, a redirect away from the paths of the rule",
		osiristest.LoginPage:     `media type "text/html" instead of application/json`,
		osiristest.ErrorPage:     `media type "text/html" instead of application/json`,
		osiristest.Warning:       "the body is no whole JSON",
		osiristest.Refused:       "status 403", osiristest.Broken: "status 500",
	}
	for _, failure := range osiristest.Failures() {
		t.Run(failure.String(), func(t *testing.T) {
			t.Parallel()
			s := newOldSite(t, func(o *proxy.Options) {
				if failure == osiristest.Hangs {
					o.Upstream.Timeout = 100 * time.Millisecond
				}
			})
			if state := s.status().State; state != traffic.NotAsked || s.Metric(failingSince) != 0 {
				t.Errorf("before the first request: %s", state)
			}
			want(t, "good", s.get("/portfolio/units"), 200)
			if r := s.readyz(); r.Upstream.State != traffic.Answering || r.State != "" || r.Msg != "" ||
				s.Metric(lastSuccess) == 0 {
				t.Errorf("good: %+v", r)
			}
			s.pass(25 * time.Hour)
			s.osiris.Fail(failure)
			want(t, "old", s.get("/portfolio/units"), 200)
			s.until(traffic.Failing)
			r, status := s.readyz(), s.status()
			if r.State != "ready" || r.Upstream.State != traffic.Failing || r.Upstream.Reason != reasons[failure] ||
				!strings.Contains(r.Msg, reasons[failure]) || strings.Contains(r.Msg, s.osiris.URL()[len("http://"):]) {
				t.Errorf("failing: %+v", r)
			}
			if status.URL != s.osiris.URL() || status.Failures == 0 || status.LastSuccess == nil ||
				status.LastFailure == nil || s.Metric(failingSince) == 0 {
				t.Errorf("failing: %+v", status)
			}
			if row := s.row("/portfolio/"); row.Rule != "/portfolio/" || row.Asked != 2 || row.Stale == 0 ||
				row.Failed == 0 || row.FailingSince == nil || row.Reason != reasons[failure] || row.P99 == nil {
				t.Errorf("failing: %+v", row)
			}
			s.osiris.Fail(osiristest.Healthy)
			s.until(traffic.Answering)
			if s.Metric(failingSince) != 0 || s.row("/portfolio/").FailingSince != nil {
				t.Errorf("after its end: %+v", s.status())
			}
		})
	}
}

// TestOtherServerUnfit: a whole answer that no rule could keep is said to be one, not a connection that broke.
func TestOtherServerUnfit(t *testing.T) {
	const key = "key-of-the-other-server"
	for name, answer := range map[string]http.HandlerFunc{
		"key":    php(`{"status": 200, "data": "` + key + `"}`),
		"coding": php(`{"status": 200}`, "Content-Encoding", "zz"),
		"part":   php(`{"status": 200}`, "Status", "206"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &oldSite{keptSite: newKeptSite(t, func(o *proxy.Options) {
				o.Upstream.Keys = auth.Upstream{Key: key, PortfolioKey: key}
			})}
			s.answers(answer)
			s.get("/portfolio/units")
			s.until(traffic.Failing)
			r := s.readyz()
			if r.Upstream.Reason != "an answer that may not be kept" || strings.Contains(r.Msg, key) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestForwardedTraffic: requests that are forwarded count by the first parts of their path, what is unknown to the
// other server by the setting that forwards it, and moved routes by themselves, also after a reload.
func TestForwardedTraffic(t *testing.T) {
	var options proxy.Options
	s := newOldSite(t, func(o *proxy.Options) {
		o.Upstream.Routes, o.Upstream.Recheck = []string{"/api/projects"}, time.Hour
		options = *o
	})
	for range 3 {
		s.get("/portal/unit/BIO")
	}
	for _, path := range []string{"/api/users", "/api/users?x=1", "/wp-login.php", "/.env", "/api/projects?limit=1"} {
		s.get(path)
	}
	s.osiris.FailAt("/api/users", osiristest.DatabaseAway)
	want(t, "failing", s.get("/api/users"), 500)
	check := func() {
		t.Helper()
		status := s.status()
		if !slices.Equal(status.Routes, []string{"/api/projects"}) || !slices.Equal(status.Paths, []string{"/"}) {
			t.Errorf("%+v", status)
		}
		for path, want := range map[string][3]uint64{
			"/portal": {3, 3, 0}, "/api/users": {3, 3, 1}, "/": {2, 2, 0}, "/api/projects": {1, 1, 0},
		} {
			row := s.row(path)
			if got := [3]uint64{row.Asked, row.Forwarded, row.Failed}; got != want || row.Rule != "" ||
				row.Moved != (path == "/api/projects") || row.P50 == nil || *row.P50 <= 0 || *row.P99 < *row.P50 {
				t.Errorf("%s: %+v, want %v", path, row, want)
			}
		}
	}
	check()
	if row := s.status().Traffic[0]; row.Path != "/api/users" || row.Reason != "status 500" {
		t.Errorf("first %+v", row)
	}
	if err := s.Server.Adopt(options); err != nil {
		t.Fatal(err)
	}
	check()
	text := string(s.Admin(http.MethodGet, "/metrics").Body)
	for _, line := range []string{
		`vitrine_request_seconds_count{class="5xx",endpoint="forwarded /api/users"} 1`,
		`vitrine_upstream_requests_total{endpoint="forwarded /portal",outcome="miss"} 3`,
		`vitrine_upstream_seconds_count{endpoint="forwarded /"} 2`,
		`vitrine_upstream_failures_total{endpoint="forwarded /api/users",reason="status"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no metric %s", line)
		}
	}
}

// TestManyPaths: clients cannot make counts without end.
func TestManyPaths(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Limits.Rate = 0 })
	for i := range 200 {
		s.get("/page" + strings.Repeat("x", i))
	}
	old := &oldSite{keptSite: s}
	if rows := old.status().Traffic; len(rows) > 70 || old.row("other").Asked < 100 {
		t.Errorf("%d rows, %d in other", len(rows), old.row("other").Asked)
	}
}

// TestExplainForwarded: explain says of a forwarded path where it goes, by which setting, and why it is not kept; of
// one that nothing answers, why. It asks no server.
func TestExplainForwarded(t *testing.T) {
	s := newOldSite(t, func(o *proxy.Options) {
		o.Upstream.Routes, o.Upstream.Paths = []string{"/api/projects"}, []string{"/portfolio", "/portal", "/api"}
		o.Auth.APIKey = "api-key-of-this-server"
	})
	ask := func(url string) (int, explain.Explanation, string) {
		res := s.Admin(http.MethodGet, "/admin/explain?url="+url)
		var e explain.Explanation
		var failure struct{ Msg string }
		if err := errors.Join(json.Unmarshal(res.Body, &e), json.Unmarshal(res.Body, &failure)); err != nil {
			t.Fatalf("%s: %v: %s", url, err, res.Body)
		}
		return res.StatusCode, e, failure.Msg
	}
	const noRoute = "Vitrine has no route for the path, and upstream.paths has "
	for url, want := range map[string]explain.Forwarded{
		"/portal/x%3Fy=1": {To: "/portal/x", By: noRoute + "/portal", Why: "no rule in upstream.keep is for the path",
			Callers: "everyone; the other server decides whom it answers"},
		"/portfolio/units/": {To: "/portfolio/units/", By: noRoute + "/portfolio",
			Why:     "the path ends with a slash; rules are for /portfolio/units",
			Callers: "everyone; the other server decides whom it answers"},
		"/api/projects": {To: "/api/projects", By: "routes has /api/projects: upstream",
			Why:     "no rule in upstream.keep is for the path",
			Callers: "callers with the API key, a named key for the path, or a session"},
	} {
		want.To, want.Server = s.osiris.URL()+want.To, "The other server was not asked yet."
		status, e, _ := ask(url)
		if status != 200 || e.Forwarded == nil || *e.Forwarded != want || e.Upstream != nil ||
			(e.Error != "") != (url == "/api/projects") {
			t.Errorf("%s: %d %+v %q, want %+v", url, status, e.Forwarded, e.Error, want)
		}
	}
	for url, want := range map[string]string{
		"/staff/x": "Vitrine has no route for this path, and none of upstream.paths (/portfolio, /portal, /api) is " +
			"above it, so it is not forwarded.",
		"/API/Activities": "", "/items/none": "",
	} {
		if status, e, msg := ask(url); status != 404 || e.Forwarded != nil || want != "" && msg != want ||
			strings.Contains(msg, "is forwarded") {
			t.Errorf("%s: %d %q, want %q", url, status, msg, want)
		}
	}
	if _, e, _ := ask("/portfolio/units"); e.Upstream == nil || e.Forwarded != nil || s.osiris.Total() != 0 {
		t.Errorf("kept: %+v, %d requests", e, s.osiris.Total())
	}
}

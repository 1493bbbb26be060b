package proxy_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/explain"
	"vitrine/proxy/keptadmin"
	"vitrine/rules"
)

// TestKeptRefreshed: an operator fetches kept answers again, or drops them, by path.
func TestKeptRefreshed(t *testing.T) {
	s := newKeptSite(t, nil)
	refresh := func(query string) (res keptadmin.RefreshResult) {
		t.Helper()
		s.pass(time.Second) // an answer of the same moment would do
		answer := s.Admin(http.MethodPost, "/admin/refresh?"+query)
		if err := json.Unmarshal(answer.Body, &res); err != nil || res.Status != answer.StatusCode {
			t.Fatalf("%s: %d, %v: %s", query, answer.StatusCode, err, answer.Body)
		}
		return res
	}
	results := func(res keptadmin.RefreshResult) (all []string) {
		for _, run := range res.Data {
			all = append(all, run.Key+" "+run.Result)
		}
		slices.Sort(all)
		return all
	}
	check := func(query string, status int, want ...string) {
		t.Helper()
		if res := refresh(query); res.Status != status || !slices.Equal(results(res), want) ||
			res.Count != len(want) {
			t.Errorf("%s: %+v, want %d %v", query, res, status, want)
		}
	}
	s.get("/portfolio/unit/BIO")
	s.get("/portfolio/unit/BIO?limit=5")
	check("path=/portfolio/unit/BIO", 200, "/portfolio/unit/BIO unchanged", "/portfolio/unit/BIO?limit=5 unchanged")
	check("path=/portfolio/unit/BIO?limit=5", 200, "/portfolio/unit/BIO?limit=5 unchanged")
	check("path=/portfolio/unit/NEW", 200, "/portfolio/unit/NEW new")
	s.answers(php(`{"data": "changed"}`))
	check("path=/portfolio/unit/NEW", 200, "/portfolio/unit/NEW changed")
	s.answers(php("", "Status", "500"))
	check("path=/portfolio/unit/NEW", 502, "/portfolio/unit/NEW failed")
	res := refresh("path=/portfolio/unit/NEW")
	if !strings.HasSuffix(res.Msg, "/portfolio/unit/NEW: status 500.") || res.Data[0].Error != "status 500" {
		t.Errorf("a failure without its cause alone: %+v", res)
	}
	if res := refresh("path=/portfolio/unit/FIRST"); res.Data[0].Result != "passed" ||
		res.Data[0].Error != "status 500" {
		t.Errorf("a first answer that is not kept: %+v", res)
	}
	s.pass(time.Hour)
	if res := s.get("/portfolio/unit/NEW"); !strings.Contains(string(res.Body), "changed") {
		t.Errorf("after a failure: %d %s", res.StatusCode, res.Body)
	}
	check("path=/portfolio/unit/*&drop=1", 200,
		"/portfolio/unit/BIO dropped", "/portfolio/unit/BIO?limit=5 dropped", "/portfolio/unit/NEW dropped")
	check("path=/portfolio/*&drop=1", 200)
	for _, query := range []string{"path=/portal", "drop=1", "path=portfolio", "path=/portfolio/units&full=1"} {
		check(query, 400)
	}
}

// TestKeptExplained: explain says what is kept and why, and sends no request to the other server.
func TestKeptExplained(t *testing.T) {
	s := newKeptSite(t, func(o *proxy.Options) { o.Auth.PortfolioKey = "folio-key-of-this" })
	ask := func(key string) (e explain.Explanation, err error) {
		return s.server.Explain(t.Context(), explain.Request{URL: "/portfolio/unit/BIO?limit=5&utm=1", Key: key})
	}
	if e, err := ask(""); err != nil || e.Upstream == nil || !strings.Contains(e.Error, "API key is needed") {
		t.Errorf("without the key: %+v, %v", e, err)
	}
	e, err := ask("folio-key-of-this")
	if err != nil || e.Upstream == nil || e.Ignored != "utm" {
		t.Fatalf("nothing kept: %+v, %v", e, err)
	}
	if e.Upstream.Answer != nil || e.Upstream.Key != "/portfolio/unit/BIO?limit=5" {
		t.Errorf("nothing kept: %+v", e.Upstream)
	}
	if len(s.asked()) != 0 {
		t.Error("explain asked the other server")
	}
	s.get("/portfolio/unit/BIO?limit=5", "X-API-Key", "folio-key-of-this")
	e, _ = ask("folio-key-of-this")
	answer := e.Upstream.Answer
	if answer == nil || !answer.Fresh || !slices.Equal(answer.Memory, []string{""}) {
		t.Fatalf("kept: %+v", answer)
	}
	if e.Upstream.Rule != "/portfolio/" || !strings.Contains(e.Upstream.Callers, "portfolio key") {
		t.Errorf("kept: %+v", e.Upstream)
	}
	s.Refresh(rules.ViewActivities)
	e, _ = ask("folio-key-of-this")
	if answer = e.Upstream.Answer; answer.Fresh || answer.WhyStale() != "changed since: activities" {
		t.Errorf("stale: %+v", answer)
	}
	if len(s.asked()) != 1 {
		t.Error("explain asked the other server")
	}
	if e, err := s.server.Explain(t.Context(), explain.Request{URL: "/api/activities"}); err != nil ||
		e.Upstream != nil {
		t.Errorf("a path of this server: %+v, %v", e.Upstream, err)
	}
}

// TestKeptReported: the operator sees the state of each rule.
func TestKeptReported(t *testing.T) {
	s := newKeptSite(t, nil)
	s.get("/portfolio/units")
	s.get("/portfolio/units")
	s.pass(time.Minute)
	s.get("/portfolio/unit/BIO")
	s.answers(php("", "Status", "500"))
	s.get("/portfolio/never")
	var views struct{ Kept []keptadmin.Status }
	if err := json.Unmarshal(s.Admin(http.MethodGet, "/admin/views").Body, &views); err != nil ||
		len(views.Kept) != 1 {
		t.Fatalf("%v: %+v", err, views)
	}
	got := views.Kept[0]
	if got.Oldest == nil || !got.Oldest.Equal(s.time().Add(-time.Minute)) || got.Bytes < 2*4096 || got.Last != nil {
		t.Errorf("got %+v", got)
	}
	if got.FailedAt == nil || !strings.Contains(got.Failed, "/portfolio/never") || got.Failures != 1 {
		t.Errorf("got %+v", got)
	}
	if got.Answers != 2 || got.Hits != 1 || got.Misses != 3 || got.Stale != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestKeptPurged: caches in front drop the answers of a path that has changed, and those that depend on a view that
// has.
func TestKeptPurged(t *testing.T) {
	got := make(chan []string, 100)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- strings.Fields(r.Header.Get("Surrogate-Key"))
	}))
	defer target.Close()
	next := func(tag string) {
		t.Helper()
		for tags := range got {
			if slices.Contains(tags, tag) {
				return
			}
		}
	}
	s := newKeptSite(t, func(o *proxy.Options) {
		o.Purge.Targets = map[string]string{"front": "purge " + target.URL}
	})
	next("view-upstream") // what caches kept before the start
	res := s.get("/portfolio/unit/BIO?limit=5")
	want(t, "tags", res, 200, "Surrogate-Key",
		"view-upstream upstream-%2Fportfolio%2Funit%2FBIO view-activities any-activities view-date any-date")
	s.answers(php(`{"data": "changed"}`))
	s.pass(time.Second)
	s.Admin(http.MethodPost, "/admin/refresh?path=/portfolio/unit/BIO")
	next("upstream-%2Fportfolio%2Funit%2FBIO")
}

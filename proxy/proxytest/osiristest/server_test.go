package osiristest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/proxy/proxytest/osiristest"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// get sends a request with headers given as name, value pairs, and follows no redirect.
func get(t *testing.T, s *osiristest.Server, target string, headers ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// good gets a target that has an answer.
func good(t *testing.T, s *osiristest.Server, target string) string {
	t.Helper()
	res, body, err := get(t, s, target)
	if err != nil || res.StatusCode != http.StatusOK || statusOf(t, body) != 200 {
		t.Fatalf("%s: %v, %v %s", target, err, res, body)
	}
	return body
}

// statusOf returns the status in an envelope.
func statusOf(t *testing.T, body string) int {
	t.Helper()
	var e struct{ Status int }
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return e.Status
}

// TestDependences: every page changes with the collections that it reads, and with no others.
func TestDependences(t *testing.T) {
	s := osiristest.Start(t)
	if n := len(osiristest.Paths()); n != 28 {
		t.Errorf("%d paths, want 28", n)
	}
	before := map[string]string{}
	for _, e := range osiristest.Examples() {
		before[e.Target] = good(t, s, e.Target)
	}
	for collection := range s.Institute() {
		s.Edit(func(i osiristest.Institute) { i.Touch(collection) })
		for _, e := range osiristest.Examples() {
			now := good(t, s, e.Target)
			if changed := now != before[e.Target]; changed != e.Depends(collection) {
				t.Errorf("%s: changed %t with %s, depends %t", e.Target, changed, collection, e.Depends(collection))
			}
			before[e.Target] = now
		}
	}
	s.Edit(func(i osiristest.Institute) { i.Rename("activities", i["activities"][1].ID, "of another unit") })
	for _, e := range osiristest.Examples() {
		if now := good(t, s, e.Target); strings.Contains(e.Target, osiristest.Unit) && now != before[e.Target] {
			t.Errorf("%s changed with an activity of another unit", e.Target)
		}
	}
}

// TestHeaders: answers carry what PHP sends with a session, and a caller with a session gets no other.
func TestHeaders(t *testing.T) {
	s := osiristest.Start(t)
	for _, target := range append(slices.Clone(osiristest.APIPaths), "/portfolio/units", "/portfolio/unit/none") {
		res, _, err := get(t, s, target)
		if err != nil {
			t.Fatal(err)
		}
		h, portfolio := res.Header, strings.HasPrefix(target, "/portfolio")
		expires := map[bool]string{true: "Thu, 19 Nov 1981 08:52:00 GMT", false: "0"}[portfolio]
		if !strings.HasPrefix(h.Get("Set-Cookie"), "PHPSESSID=") || h.Get("Expires") != expires ||
			h.Get("Cache-Control") != "no-store, no-cache, must-revalidate" || h.Get("Pragma") != "no-cache" ||
			h.Get("Content-Type") != "application/json" ||
			(h.Get("Access-Control-Allow-Origin") == "*") != portfolio ||
			h.Get("ETag")+h.Get("Last-Modified")+h.Get("Vary") != "" {
			t.Errorf("%s: %v", target, h)
		}
	}
	one, _, _ := get(t, s, "/portfolio/units")
	two, _, _ := get(t, s, "/portfolio/units")
	if one.Header.Get("Set-Cookie") == two.Header.Get("Set-Cookie") {
		t.Error("two callers have one session")
	}
	if res, _, _ := get(t, s, "/portfolio/units", "Cookie", "PHPSESSID=mine"); res.Header.Get("Set-Cookie") != "" {
		t.Error("a caller with a session gets another")
	}
	for _, target := range osiristest.SessionPaths {
		res, _, _ := get(t, s, target)
		if res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/user/login" {
			t.Errorf("%s without a session: %s", target, res.Status)
		}
		if _, body, _ := get(t, s, target, "Cookie", "PHPSESSID=mine"); !strings.Contains(body, "mine") {
			t.Errorf("%s with a session: %s", target, body)
		}
	}
}

// TestEnvelopes: what is wrong with a request is in the envelope only; limit and offset select rows.
func TestEnvelopes(t *testing.T) {
	s := osiristest.Start(t)
	s.SetKey("secret")
	for target, want := range map[string]int{
		"/portfolio/units":                                         403,
		"/portfolio/units?apikey=other":                            403,
		"/portfolio/units?apikey=secret":                           200,
		"/portfolio/unit/none?apikey=secret":                       404,
		"/portfolio/person/none?apikey=secret":                     400,
		"/portfolio/person/6500000000000000000000ff?apikey=secret": 404,
		"/portfolio/none?apikey=secret":                            404,
		"/api/none":                                                404,
	} {
		res, body, err := get(t, s, target)
		if err != nil || res.StatusCode != http.StatusOK || statusOf(t, body) != want {
			t.Errorf("%s: %v %s, want an envelope of %d", target, err, body, want)
		}
	}
	var all, some struct {
		Count int
		Data  []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(good(t, s, "/portfolio/persons?apikey=secret")), &all); err != nil {
		t.Fatal(err)
	}
	page := good(t, s, "/portfolio/persons?limit=2&offset=1&apikey=secret&x=y")
	if err := json.Unmarshal([]byte(page), &some); err != nil {
		t.Fatal(err)
	}
	if some.Count != 2 || !slices.Equal(some.Data, all.Data[1:3]) {
		t.Errorf("limit 2, offset 1: %v of %v", some, all)
	}
}

// TestFailures: in no failure comes a good answer, and after each the server answers at the same address.
func TestFailures(t *testing.T) {
	s := osiristest.Start(t)
	want := good(t, s, "/portfolio/units")
	for _, failure := range osiristest.Failures() {
		s.Fail(failure)
		var ending sync.WaitGroup
		if failure == osiristest.Hangs {
			arrived := s.Total() + 1
			ending.Go(func() {
				s.Await(t.Context(), arrived)
				s.Fail(osiristest.Healthy)
			})
		}
		res, body, err := get(t, s, "/portfolio/units")
		ending.Wait() // Fail lets the request go before it returns
		if err == nil && res.StatusCode == http.StatusOK && body == want {
			t.Errorf("%s: a good answer", failure)
		}
		t.Log(failure, err, body)
		s.Fail(osiristest.Healthy)
		if got := good(t, s, "/portfolio/units"); got != want {
			t.Errorf("after %s: %s", failure, got)
		}
	}
	s.FailAt("/portfolio/units", osiristest.DatabaseAway)
	if res, body, err := get(t, s, "/portfolio/units?limit=1"); err != nil || res.StatusCode != 500 || body != "" {
		t.Errorf("a path that fails: %v %s", err, body)
	}
	good(t, s, "/portfolio/topics")
	s.Fail(osiristest.Slow)
	if got := good(t, s, "/portfolio/units"); got != want {
		t.Errorf("slow: %s", got)
	}
}

// TestRecords: the server records all of a request, and how many ran at a time.
func TestRecords(t *testing.T) {
	s := osiristest.Start(t)
	release := s.Hold()
	bodies := make(chan string)
	const callers = 3
	for range callers {
		go func() {
			_, body, _ := get(t, s, "/portfolio/units?limit=1", "X-Secret", "mine")
			bodies <- body
		}()
	}
	s.Await(t.Context(), callers)
	s.Edit(func(i osiristest.Institute) { i.Touch("groups") })
	release()
	for range callers {
		if body := <-bodies; strings.Contains(body, "Biology'") {
			t.Errorf("not of the time of arrival: %s", body)
		}
	}
	if now := good(t, s, "/portfolio/units?limit=1"); !strings.Contains(now, "Biology'") {
		t.Errorf("not of now: %s", now)
	}
	const target = "/portfolio/units?limit=1"
	n, path, of := s.Count(target), s.CountPath("/portfolio/units"), s.Counts()[target]
	if n != callers+1 || path != n || of != n {
		t.Errorf("%d requests, %d for the path, %d of all", n, path, of)
	}
	if _, most := s.Running(); most != callers {
		t.Errorf("%d at a time, want %d", most, callers)
	}
	for i, r := range s.Requests() {
		if strings.Contains(r.Text(), "mine") != (i < callers) {
			t.Errorf("request %d: %s", i, r.Text())
		}
	}
	if s.Forget(); s.Total() != 0 || s.Accepted() == 0 {
		t.Errorf("%d requests after Forget, %d connections", s.Total(), s.Accepted())
	}
}

// TestCallBack: pages of units ask the site for what they show of others.
func TestCallBack(t *testing.T) {
	s, site := osiristest.Start(t), osiristest.Start(t)
	s.CallBack(site.URL())
	good(t, s, "/portfolio/unit/"+osiristest.Unit)
	if site.Count("/portfolio/topics") != 1 || site.Count("/portfolio/units") != 1 {
		t.Errorf("asked for %v", site.Counts())
	}
	site.Fail(osiristest.Stopped)
	if res, _, _ := get(t, s, "/portfolio/unit/"+osiristest.Unit); res.StatusCode != http.StatusInternalServerError {
		t.Errorf("without the site: %s", res.Status)
	}
}

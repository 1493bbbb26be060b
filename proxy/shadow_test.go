package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/compare"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// compared returns the report on the operator's listener.
func compared(t *testing.T, s *proxytest.Site) (r compare.Report) {
	t.Helper()
	if err := json.Unmarshal(s.Admin("GET", "/admin/compare").Body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestShadow: live requests are compared with the old system, and nothing of it shows in answers, counts and the log.
func TestShadow(t *testing.T) {
	oldOptions := proxytest.Options(t)
	oldOptions.Auth.APIKey = "Geheim7"
	behind := proxytest.Open(t, proxytest.Institute(t), oldOptions)
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" ||
			strings.Contains(r.RequestURI, "Geheim7") {
			t.Errorf("asked with more than a key: %v", r.Header)
		}
		res := behind.Do(r.Method, r.RequestURI, "X-API-Key", r.Header.Get("X-API-Key"))
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = w.Write(res.Body) // the client may have gone
	}))
	defer old.Close()
	o := proxytest.Options(t)
	o.Auth.APIKey = "Geheim7"
	o.Limits.Rate = 50
	o.Limits.KeptBytes = 2000 // so that some are streamed
	o.Shadow.URL, o.Shadow.Share = old.URL, 1
	store := proxytest.Institute(t)
	changed := append(bson.Raw(nil), store.First(rules.ViewActivities)...)
	s := proxytest.ServeLive(t, proxytest.Open(t, store, o))
	get := func(target string) {
		t.Helper()
		req, _ := http.NewRequest("GET", "http://"+s.Addr+target, nil) // cannot fail: the URL is plain
		req.Header.Set("Cookie", "vitrine_session=x")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only the status is of interest
	}
	for _, target := range []string{"/api/html?apikey=Geheim7", "/api/activities?apikey=Geheim7&full=1",
		"/api/users/unknown?apikey=Geheim7", "/api/users/ada?apikey=Geheim7&x=Geheim7", "/portfolio/spectrum"} {
		get(target)
	}
	for _, target := range []string{"/api/html", "/api/html?apikey=wrong", "/healthz", "/lists/activities", "/"} {
		get(target) // not compared
	}
	proxytest.Until(t, "five answers are compared", func() bool { return compared(t, s.Site).Total.Asked == 5 })
	if r := compared(t, s.Site); r.Total.Agree != 5 {
		t.Errorf("%+v", r.Differences())
	}
	var doc bson.D
	if err := bson.Unmarshal(changed, &doc); err != nil {
		t.Fatal(err)
	}
	for i := range doc {
		if doc[i].Key == "title" {
			doc[i].Value = "Planted"
		}
	}
	raw, _ := bson.Marshal(doc) // cannot fail: it was BSON
	s.Refresh(rules.ViewActivities, raw)
	get("/api/activities?apikey=Geheim7&full=1")
	proxytest.Until(t, "six answers are compared", func() bool { return compared(t, s.Site).Total.Asked == 6 })
	r := compared(t, s.Site)
	if r.Total.Differ != 1 || len(r.Differences()) != 1 || r.Differences()[0].Path != "$.data[*].title" ||
		r.Differences()[0].Examples[0].New != "Planted" {
		t.Errorf("%+v %+v", r.Total, r.Differences())
	}
	for _, line := range []string{
		`vitrine_compare_answers_total{outcome="agree"} 5`, `vitrine_compare_answers_total{outcome="differ"} 1`,
		`vitrine_request_seconds_count{class="2xx",endpoint="activities"} 2`,
	} { // which follow the report
		proxytest.Until(t, line, func() bool {
			return strings.Contains(string(s.Admin("GET", "/metrics").Body), line)
		})
	}
	page := s.Admin("GET", "/admin/compare", "Accept", "text/html")
	if !strings.Contains(string(page.Body), "Planted") || strings.Contains(string(page.Body), "Geheim") ||
		page.Header.Get("Content-Security-Policy") != compare.Policy {
		t.Errorf("%s", page.Body)
	}
	if none := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Admin("GET",
		"/admin/compare"); none.StatusCode != 404 {
		t.Errorf("without an old system: %d", none.StatusCode)
	}
}

// TestShadowOfHead: requests for the header alone are compared as such.
func TestShadowOfHead(t *testing.T) {
	behind := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)))
	o := proxytest.Options(t)
	o.Shadow.URL, o.Shadow.Share = "http://"+behind.Addr, 1
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	res, err := http.Head("http://" + s.Addr + "/api/html")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the comparison is of interest
	proxytest.Until(t, "the answer is compared", func() bool { return compared(t, s.Site).Total.Asked == 1 })
	if r := compared(t, s.Site); r.Total.Agree != 1 {
		t.Errorf("%+v", r.Differences())
	}
}

// TestShadowOfMovedRoute: a route that the old system still answers is compared with Vitrine's own answer.
func TestShadowOfMovedRoute(t *testing.T) {
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":200,"count":0,"data":[]}`)) // the client may have gone
	}))
	defer old.Close()
	o := proxytest.Options(t)
	o.Upstream.URL, o.Upstream.Routes = old.URL, []string{"/api/html"}
	o.Shadow.URL, o.Shadow.Share = old.URL, 1
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	res, err := http.Get("http://" + s.Addr + "/api/html")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the comparison is of interest
	proxytest.Until(t, "the answer is compared", func() bool { return compared(t, s.Site).Total.Asked == 1 })
	if r := compared(t, s.Site); r.Total.Differ != 1 || r.Differences()[0].Kind != compare.RowAdded {
		t.Errorf("%+v", r.Differences())
	}
}

// TestShadowOfForwarded: a path that this server forwards to the old system is not compared with itself.
func TestShadowOfForwarded(t *testing.T) {
	old := httptest.NewServer(php("{}"))
	defer old.Close()
	o := proxytest.Options(t)
	o.Upstream.URL, o.Upstream.Paths = old.URL, []string{"/"}
	o.Shadow.URL, o.Shadow.Share = old.URL, 1
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	res, err := http.Get("http://" + s.Addr + "/portfolio/units")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // only the comparison is of interest
	proxytest.Until(t, "the answer is compared", func() bool { return compared(t, s.Site).Total.Asked == 1 })
	if r := compared(t, s.Site); r.Total.Forwarded != 1 || r.Total.Agree != 0 {
		t.Errorf("%+v", r.Total)
	}
	const line = `vitrine_compare_answers_total{outcome="forwarded"} 1`
	proxytest.Until(t, line, func() bool { return strings.Contains(string(s.Admin("GET", "/metrics").Body), line) })
}

// TestShadowOfItself: a server that is set to compare with itself does not ask for ever.
func TestShadowOfItself(t *testing.T) {
	ln := proxytest.Listen(t)
	o := proxytest.Options(t)
	o.Shadow.URL, o.Shadow.Share = "http://"+ln.Addr().String(), 1
	s := proxytest.ServeOn(t, proxytest.Open(t, proxytest.Institute(t), o), ln)
	for asked := range 5 {
		res, err := http.Get(fmt.Sprintf("http://%s/api/html?n=%d", s.Addr, asked))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only the comparison is of interest
		proxytest.Until(t, "the answer is compared",
			func() bool { return compared(t, s.Site).Total.Asked >= asked+1 })
	}
	if r := compared(t, s.Site); r.Total.Agree != 5 || r.Total.Asked != 5 {
		t.Errorf("%+v", r.Total)
	}
}

// TestShadowNeverDelays: clients have their answers while the old system does not answer, and what is too much for it
// is dropped and counted.
func TestShadowNeverDelays(t *testing.T) {
	var release sync.Once
	stuck := make(chan struct{})
	free := func() { release.Do(func() { close(stuck) }) }
	var under atomic.Int64
	old := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		under.Add(1)
		<-stuck
	}))
	defer old.Close()
	defer free()
	o := proxytest.Options(t)
	o.Shadow.URL, o.Shadow.Share = old.URL, 1
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for i := range 100 {
		res, err := http.Get(fmt.Sprintf("http://%s/api/html?n=%d", s.Addr, i))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only the answer is of interest
	}
	if r := compared(t, s.Site); r.Dropped < 100-64-2 || r.Total.Asked > 0 {
		t.Errorf("%d dropped, %d asked", r.Dropped, r.Total.Asked)
	}
	if n := under.Load(); n > 2 {
		t.Errorf("%d answers of the old system are held at a time", n)
	}
}

// TestShadowOfHostileAnswers: answers made to cost as much as possible take little more memory than their bytes.
func TestShadowOfHostileAnswers(t *testing.T) {
	var hostile strings.Builder
	for i := range 7 {
		fmt.Fprintf(&hostile, "<%s%d>", strings.Repeat("x", 300), i)
	}
	hostile.WriteString(strings.Repeat("<br>", 375_000))
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(hostile.String())) // the client may have gone
	}))
	defer old.Close()
	o := proxytest.Options(t)
	o.Shadow.URL, o.Shadow.Share = old.URL, 1
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 4 {
		res, err := http.Get(fmt.Sprintf("http://%s/api/html?n=%d", s.Addr, i))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only the comparison is of interest
	}
	// To ask for the report takes memory, too: longer and longer pauses make that little, however long it takes.
	for pause := 5 * time.Millisecond; compared(t, s.Site).Total.Asked < 4; pause *= 2 {
		<-time.After(pause)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*64*uint64(hostile.Len()) {
		t.Errorf("%d MB for four answers of %d MB", took>>20, hostile.Len()>>20)
	}
	if r := compared(t, s.Site); r.Total.Differ != 4 {
		t.Errorf("%+v", r.Total)
	}
}

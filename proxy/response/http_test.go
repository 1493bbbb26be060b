package response_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/rules"
)

func TestConditionalRequests(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	const target = "/api/activities?limit=5"
	first := s.Get(target)
	etag := first.Header.Get("ETag")
	if !strings.HasPrefix(etag, `"`) || strings.Contains(etag, "W/") {
		t.Fatalf("ETag = %s, want a strong one", etag)
	}
	tests := []struct {
		name, match string
		want        int
	}{
		{"the tag", etag, 304},
		{"weak", "W/" + etag, 304},
		{"in a list", `"other", ` + etag + `,"more"`, 304},
		{"any", "*", 304},
		{"another", `"other"`, 200},
		{"without quotes", strings.Trim(etag, `"`), 200},
		{"empty", "", 200},
		{"rubbish", `,,"",W/`, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(target, "If-None-Match", tt.match)
			if res.StatusCode != tt.want {
				t.Fatalf("status = %d, want %d", res.StatusCode, tt.want)
			}
			if got := res.Header.Get("ETag"); got != etag {
				t.Errorf("ETag = %s, want %s", got, etag)
			}
			if tt.want == 304 && len(res.Body) != 0 {
				t.Errorf("304 with a body of %d bytes", len(res.Body))
			}
			if tt.want == 304 && (res.Header.Get("Cache-Control") == "" || res.Header.Get("Vary") == "") {
				t.Errorf("304 lacks headers a cache needs: %v", res.Header)
			}
		})
	}
	if other := s.Get("/api/activities?limit=4").Header.Get("ETag"); other == etag {
		t.Error("different answers have the same tag")
	}
}

func TestHead(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for _, target := range []string{"/api/activities", "/api/html", "/api/all-activities",
		"/api/spectrum-activities?spectrum=Soil", "/healthz"} {
		t.Run(target, func(t *testing.T) {
			get, head := s.Get(target), s.Do(http.MethodHead, target)
			if head.StatusCode != 200 || len(head.Body) != 0 {
				t.Errorf("status %d, %d bytes", head.StatusCode, len(head.Body))
			}
			for _, name := range []string{"ETag", "Content-Type", "Content-Length", "Cache-Control", "Vary"} {
				if h, g := head.Header.Get(name), get.Header.Get(name); h != g {
					t.Errorf("%s = %q, GET has %q", name, h, g)
				}
			}
			if head.ContentLength != int64(len(get.Body)) {
				t.Errorf("Content-Length = %d, body has %d", head.ContentLength, len(get.Body))
			}
		})
	}
}

func TestCodings(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	want := string(s.Get("/api/all-activities").Body)
	tests := []struct{ accept, coding string }{
		{"", ""},
		{"gzip", "gzip"},
		{"br", "br"},
		{"zstd", "zstd"},
		{"gzip, deflate, br, zstd", "zstd"},
		{"gzip, br;q=0.9", "gzip"},
		{"gzip;q=0.5, br;q=0.8, zstd;q=0", "br"},
		{"GZIP", "gzip"},
		{"x-gzip", "gzip"},
		{"*", "zstd"},
		{"*;q=0.1, gzip", "gzip"},
		{"identity, gzip;q=0.5", ""},
		{"identity;q=0.5, gzip;q=0.4", ""},
		{"deflate", ""},
		{"gzip;q=0", ""},
		{"gzip;q=nonsense", ""},
		{"gzip;q=2", ""},
		{";;,,q=1", ""},
	}
	tags := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			res := s.Get("/api/all-activities", "Accept-Encoding", tt.accept)
			if got := res.Header.Get("Content-Encoding"); got != tt.coding {
				t.Fatalf("Content-Encoding = %q, want %q", got, tt.coding)
			}
			if got := proxytest.Plain(t, res); got != want {
				t.Errorf("decodes to other bytes: %s", got)
			}
			if !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("Vary = %q", res.Header.Get("Vary"))
			}
			etag := res.Header.Get("ETag")
			for coding, other := range tags {
				if (other == etag) != (coding == tt.coding) {
					t.Errorf("tag %s of %q and %s of %q", etag, tt.coding, other, coding)
				}
			}
			tags[tt.coding] = etag
		})
	}
	t.Run("tiny answers stay plain", func(t *testing.T) {
		res := s.Get("/api/spectrum-activities?spectrum=none", "Accept-Encoding", "gzip")
		if got := res.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("Content-Encoding = %q", got)
		}
	})
	t.Run("errors stay plain", func(t *testing.T) {
		s.Get("/api/activities?limit=x", "Accept-Encoding", "gzip").Envelope(t)
	})
}

// TestStreams: an answer too large to cache is streamed while it is made, with the same bytes.
func TestStreams(t *testing.T) {
	store := proxytest.Many(t, 2000)
	kept := proxytest.Open(t, store, proxytest.Options(t))
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 4 << 10
	streaming := proxytest.Open(t, store, o)
	for _, target := range []string{"/api/activities", "/api/activities?full=1", "/api/activities?columns=web,year",
		"/api/all-activities", "/api/all-activities?page=portal"} {
		want := string(kept.Get(target).Body)
		for _, coding := range []string{"", "gzip", "br", "zstd"} {
			t.Run(target+" "+coding, func(t *testing.T) {
				res := streaming.Get(target, "Accept-Encoding", coding)
				if !strings.Contains(res.Header.Get("Cache-Status"), "streamed") {
					t.Fatalf("not streamed: %d %s %.300s", res.StatusCode, res.Header, res.Body)
				}
				if n := res.ContentLength; n != -1 && n != int64(len(res.Body)) {
					t.Errorf("Content-Length %d before %d bytes", n, len(res.Body))
				}
				if got := proxytest.Plain(t, res); got != want {
					t.Errorf("streamed %d bytes, cached %d", len(got), len(want))
				}
				etag := res.Header.Get("ETag")
				again := streaming.Get(target, "Accept-Encoding", coding, "If-None-Match", etag)
				if again.StatusCode != 304 || etag == "" {
					t.Errorf("status = %d for tag %s", again.StatusCode, etag)
				}
				head := streaming.Do(http.MethodHead, target, "Accept-Encoding", coding)
				if head.StatusCode != 200 || len(head.Body) != 0 || head.Header.Get("ETag") != etag {
					t.Errorf("HEAD: %d, %d bytes, tag %s", head.StatusCode, len(head.Body), head.Header.Get("ETag"))
				}
			})
		}
	}
}

// TestLargeCompressed: an answer too large to cache is streamed at first. If it fits the cache when
// compressed, it is cached on the second request, and prepared for the next generation.
func TestLargeCompressed(t *testing.T) {
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 4 << 10
	s := proxytest.Open(t, proxytest.Many(t, 2000), o)
	codings := []string{"gzip", "br", "zstd"}
	for _, coding := range codings {
		want := string(s.Get("/api/all-activities").Body)
		get := func() string {
			res := s.Get("/api/all-activities", "Accept-Encoding", coding)
			status := res.Header.Get("Cache-Status")
			if proxytest.Plain(t, res) != want || status == "vitrine; hit" && res.ContentLength < 0 {
				t.Fatalf("%s: %q of length %d has other content", coding, status, res.ContentLength)
			}
			if got := s.Get("/api/all-activities", "Accept-Encoding", coding, "If-None-Match",
				res.Header.Get("ETag")).StatusCode; got != 304 {
				t.Errorf("%s: status %d for the tag of %q", coding, got, status)
			}
			return status
		}
		before := s.Metric("vitrine_results_bytes")
		if got := get(); !strings.Contains(got, "streamed") {
			t.Errorf("%s: Cache-Status = %q at first", coding, got)
		}
		// A request makes the background compress, unless it has not quite ended with the answer before: then a later
		// one does. The background makes way for requests: to ask for the answer all the time would hold it up. What
		// says that the answer is too large takes less than 4 kB, and the answer more.
		looks := 0
		proxytest.Until(t, "the compressed answer is kept", func() bool {
			if looks++; looks%100 == 1 {
				get()
			}
			return s.Metric("vitrine_results_bytes") > before+4<<10
		})
		// the metric is a moment ahead
		proxytest.Until(t, "the kept answer is sent", func() bool { return get() == "vitrine; hit" })
	}
	if proxytest.ViewsAre == view.Store {
		return // no snapshot is prepared
	}
	noise := make([]byte, 40<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: 1},
		{Key: "rendered", Value: bson.D{{Key: "web", Value: fmt.Sprintf("%x", noise)}}}})
	if err != nil {
		t.Fatal(err)
	}
	before := s.Metric("vitrine_results_bytes")
	s.Refresh(rules.ViewActivities, doc)
	proxytest.Until(t, "all codings are made",
		func() bool { return s.Metric("vitrine_results_bytes") > before+len(codings)*len(noise) })
	for _, coding := range codings {
		proxytest.Until(t, "the answer of the refresh is sent", func() bool {
			return s.Get("/api/all-activities", "Accept-Encoding", coding).Header.Get("Cache-Status") ==
				"vitrine; hit"
		})
	}
}

func TestCacheHeaders(t *testing.T) {
	secret := []byte("session secret")
	const shared = "max-age=60, stale-while-revalidate=600, stale-if-error=86400"
	tests := []struct {
		name          string
		change        func(*proxy.Options)
		headers       []string
		control, vary string
	}{
		{"open to all", func(*proxy.Options) {}, nil, "public, " + shared, "Accept-Encoding"},
		{"behind a key", func(o *proxy.Options) { o.Auth.APIKey = "k" }, []string{"X-API-Key", "k"},
			"private, max-age=60", "Accept-Encoding, X-API-Key"},
		{"behind a key, for shared caches", func(o *proxy.Options) { o.Auth.APIKey, o.Fresh.Keyed = "k", "public" },
			[]string{"X-API-Key", "k"},
			"public, " + shared, "Accept-Encoding, X-API-Key"},
		{"with sessions, without one", func(o *proxy.Options) {
			o.Auth.Session.Secret = secret
			o.Auth.Session.Cookie = "c"
		}, nil,
			"public, " + shared, "Accept-Encoding, Authorization, Cookie"},
		{"to a session", func(o *proxy.Options) { o.Auth.Session.Secret = secret },
			[]string{"Authorization", "Bearer " + proxytest.Token(t, "ada", secret)},
			"private, max-age=60", "Accept-Encoding, Authorization"},
		{"with a cookie that does not count",
			func(o *proxy.Options) { o.Auth.Session.Secret = secret; o.Auth.Session.Cookie = "c" },
			[]string{"Cookie", "c=" + proxytest.Token(t, "ada", secret), "Sec-Fetch-Site", "cross-site"},
			"private, max-age=60", "Accept-Encoding, Authorization, Cookie"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Fresh.MaxAge, o.Fresh.StaleWhileRevalidate, o.Fresh.StaleIfError =
				time.Minute, 10*time.Minute, 24*time.Hour
			tt.change(&o)
			res := proxytest.Open(t, proxytest.Institute(t), o).Get("/api/activities", tt.headers...)
			if got := res.Header.Get("Cache-Control"); got != tt.control {
				t.Errorf("Cache-Control = %q, want %q", got, tt.control)
			}
			if got := res.Header.Get("Vary"); got != tt.vary {
				t.Errorf("Vary = %q, want %q", got, tt.vary)
			}
			if got := res.Header.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options = %q", got)
			}
			if res.Header.Get("Age") == "" || res.Header.Get("Server-Timing") == "" {
				t.Errorf("Age = %q, Server-Timing = %q", res.Header.Get("Age"), res.Header.Get("Server-Timing"))
			}
		})
	}
}

func TestCacheStatus(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	if got := s.Get("/api/html").Header.Get("Cache-Status"); got != "vitrine; fwd=miss; stored" {
		t.Errorf("first: %q", got)
	}
	if got := s.Get("/api/html").Header.Get("Cache-Status"); got != "vitrine; hit" {
		t.Errorf("second: %q", got)
	}
}

// TestNewGenerationIsAnswered: a cached answer belongs to one generation.
func TestNewGenerationIsAnswered(t *testing.T) {
	store := proxytest.Institute(t)
	s := proxytest.Open(t, store, proxytest.Options(t))
	if got := *s.Get("/api/activities").Envelope(t).Count; got != 15 {
		t.Fatalf("count = %d", got)
	}
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "new"}, {Key: "year", Value: 2030}})
	if err != nil {
		t.Fatal(err)
	}
	store.Publish(rules.ViewActivities, doc)
	before, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		t.Fatal(err)
	}
	s.Views.Notify(rules.ViewActivities)
	for now := before; now == before; {
		if now, err = s.Views.Snapshot(rules.ViewActivities); err != nil {
			t.Fatal(err)
		}
	}
	if e := s.Get("/api/activities").Envelope(t); *e.Count != 16 || !strings.Contains(e.IDs(t), " new ") {
		t.Errorf("count = %d, ids = %s", *e.Count, e.IDs(t))
	}
}

// TestPopularAnswersArePrepared: a popular answer is in memory as soon as a new generation is
// visible, and shows that generation. A busy machine may have no time to prepare all of them; then
// the test tries the next generation.
func TestPopularAnswersArePrepared(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	const target = "/api/activities"
	codings := []string{"", "gzip"}
	for _, coding := range codings {
		for range 1000 { // the cache records only a sample of requests
			s.Get(target, "Accept-Encoding", coding)
		}
	}
	checked := func() time.Time {
		all := s.Views.Status()
		return all[slices.IndexFunc(all, func(st view.Status) bool {
			return st.View == rules.ViewActivities
		})].Checked
	}
	for generation, hits := 0, 0; hits < len(codings); generation++ {
		id := fmt.Sprintf("new%d", generation)
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "year", Value: 2030}})
		if err != nil {
			t.Fatal(err)
		}
		before := checked()
		s.Refresh(rules.ViewActivities, doc)
		for checked().Equal(before) { // until the prepared answers are cached too
			runtime.Gosched()
		}
		hits = 0
		for _, coding := range codings {
			res := s.Get(target, "Accept-Encoding", coding)
			if text := proxytest.Plain(t, res); !strings.Contains(text, `"`+id+`"`) {
				t.Fatalf("%q: generation %d is not answered: %s", coding, generation, text)
			}
			if res.Header.Get("Cache-Status") == "vitrine; hit" {
				hits++
			}
		}
	}
}

func TestCORS(t *testing.T) {
	o := proxytest.Options(t)
	o.CORS = configs.CORS{Origins: []string{"https://www.example.org", "https://*.example.net"}}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for origin, want := range map[string]string{
		"https://www.example.org":  "https://www.example.org",
		"https://cms.example.net":  "https://cms.example.net",
		"https://evil.example.com": "",
	} {
		res := s.Get("/api/html", "Origin", origin)
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want || res.StatusCode != 200 {
			t.Errorf("%s: allowed %q, want %q, status %d", origin, got, want, res.StatusCode)
		}
		if !strings.Contains(res.Header.Get("Vary"), "Origin") {
			t.Errorf("Vary = %q", res.Header.Get("Vary"))
		}
	}
	preflight := s.Do(http.MethodOptions, "/api/html", "Origin", "https://www.example.org",
		"Access-Control-Request-Method", "GET")
	if preflight.StatusCode != 204 || preflight.Header.Get("Access-Control-Allow-Methods") != "GET,HEAD" {
		t.Errorf("preflight: %d, %v", preflight.StatusCode, preflight.Header)
	}
	if res := s.Do(http.MethodOptions, "/api/html"); res.StatusCode != 405 {
		t.Errorf("OPTIONS without CORS: %d", res.StatusCode)
	}
	if res := s.Get("/api/activities?limit=x", "Origin",
		"https://www.example.org"); res.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the page that sent the request cannot read the error")
	}
}

func TestRequestID(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for given, kept := range map[string]bool{
		"abc-123_X.y":            true,
		"":                       false,
		strings.Repeat("a", 65):  false,
		"with space":             false,
		"<script>":               false,
		"umläut":                 false,
		strings.Repeat("0f", 32): true,
	} {
		got := s.Get("/healthz", "X-Request-Id", given).Header.Get("X-Request-Id")
		if (got == given) != kept || got == "" {
			t.Errorf("given %q, got %q", given, got)
		}
	}
}

// TestAccessLogHidesKeys: clients send requests to a real listener, and the log contains neither a
// key nor a part of it.
func TestAccessLogHidesKeys(t *testing.T) {
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Auth.APIKey, o.Auth.PortfolioKey, o.Admin.Token = "TOPSECRET", "TOPPORTFOLIO", "TOPTOKEN"
	o.Logger, o.AccessLog = slog.New(slog.NewJSONHandler(&log, nil)), true
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for _, tt := range []struct {
		target string
		want   int
	}{
		{"/api/activities?apikey=TOPSECRET&limit=1", 200},
		{"/api/activities?limit=1&%61pikey=TOPSECRET", 200},
		{"/api/activities?%61pikey=TOPSECRET%", 403},
		{"/api/activities?%2561pikey=TOPSECRET", 403},
		{"/api/activities?apikey[]=TOPSECRET", 403},
		{"/api/activities?ApiKey=TOPSECRET", 403},
		{"/api/activities?x-api-key=TOPSECRET", 403},
		{"/api/activities?api_key=TOPSECRET&limit=1", 403},
		{"/api/activities?key=TOPSECRET%&token=TOPSECRET%&access_token=TOPSECRET%", 403},
		{"/api/activities?id=TOPPORTFOLIO&TOPTOKEN", 403},
		{`/api/activities?json={"id":"TOPSECRET%22}`, 403},
		{"/api/activities?id=%20TOPSECRET&json=x%54OPTOKENx&user=TOPTOKEN=TOPTOKEN", 403},
		{"/api/activities?path=https%3A%2F%2Fx%2F%3Flimit=1%26apikey=TOPSECRET%", 403},
		{"/api/nothing?apikey=TOPSECRET&limit=x", 404},
		{"/api/activities&apikey=TOPSECRET%", 404},
		{"/api/activities/api-key=TOPSECRET%", 404},
		{"/api/TOPSECRET", 404},
		{"/api/xTOPSECRETx", 404},
		{"/\xff\xff\xff\xffapikey", 404},
		{"/\xff\xff\xff\xffapikey=TOPSECRET%", 404},
		{"/\u212a\u212a\u212a\u212a\u212a\u212a\u212aapikey=TOPSECRET%", 404},
		{"/\u023a\u023a\u023a\u023aapikey=TOPSECRET%", 404},
	} {
		for _, id := range []string{"TOPSECRET", "x-TOPTOKEN-x", "request-1"} {
			res, _ := l.Exchange(t, "GET "+tt.target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: "+id+
				"\r\n\r\n")
			if res.Response == nil || res.StatusCode != tt.want {
				t.Fatalf("%q: %v, want %d", tt.target, res.Response, tt.want)
			}
		}
	}
	text := log.Taken()
	if at := strings.Index(text, "TOP"); at >= 0 {
		t.Errorf("the log contains a key: %.300s", text[max(0, at-200):])
	}
	for _, want := range []string{`"id":"request-1"`, `"method":"GET"`, `?limit=1&…"`, `?…&limit=1"`, `"status":404`,
		`"status":200`} {
		if !strings.Contains(text, want) {
			t.Errorf("log lacks %s: %.1000s", want, text)
		}
	}
}

// lineLog is a log that takes lines.
type lineLog struct {
	slog.Handler
	io.Writer
}

// TestAccessLogLines: a log that takes lines gets the same lines as a slog.TextHandler would write.
func TestAccessLogLines(t *testing.T) {
	changing := regexp.MustCompile(
		`^time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d) level|took=[0-9.]+(µs|ms|s)`)
	logged := func(takesLines bool) string {
		var log proxytest.LockedBuffer
		o, text := proxytest.Options(t), slog.NewTextHandler(&log, nil)
		o.Logger, o.AccessLog = slog.New(text), true
		if takesLines {
			o.Logger = slog.New(lineLog{text, &log})
		}
		l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
		for _, target := range []string{"/", "/api/html?limit=1", "/api/html?%22&apikey=x", `/"\?\`, "/api/html?a",
			"/api/\xc3\xa4?x=\xff", "/api/html?'\u200b=", "/api/activities?full=1"} {
			for _, method := range []string{"GET", "HEAD"} {
				l.Exchange(t, method+" "+target+
					" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: request\r\n\r\n")
			}
		}
		var lines strings.Builder
		for line := range strings.Lines(log.Taken()) {
			lines.WriteString(changing.ReplaceAllString(line, "…"))
		}
		return lines.String()
	}
	if got, want := logged(true), logged(false); got != want || strings.Count(got, "…") < 32 {
		t.Errorf("lines\n%swant\n%s", got, want)
	}
}

// panicking is a source whose views are broken.
type panicking struct{ proxy.Source }

func (panicking) Ready() bool { panic("views are broken") }

func TestPanicIsAnEnvelope(t *testing.T) {
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Views, o.Logger = panicking{proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Views}, slog.New(
		slog.NewTextHandler(&log, nil))
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &proxytest.Site{T: t, Server: server}
	res := s.Get("/readyz")
	if e := res.Envelope(t); e.Status != 500 || e.Error != "Internal server error" ||
		strings.Contains(e.Msg, "broken") {
		t.Errorf("answer: %s", res.Body)
	}
	if text := log.Taken(); strings.Count(text, "views are broken") != 1 || !strings.Contains(text, "goroutine") {
		t.Errorf("log: %s", text)
	}
	if n := s.Metric("vitrine_panics_total"); n != 1 {
		t.Errorf("%d panics counted", n)
	}
}

// panickingLog is a log that panics on writes: of requests, or of anything.
type panickingLog struct {
	slog.Handler
	always bool
}

func (l panickingLog) Handle(ctx context.Context, r slog.Record) error {
	if l.always || r.Message == "request" {
		panic("the log is broken")
	}
	return l.Handler.Handle(ctx, r)
}

// TestPanicOutsideOfHandlers: a panic outside of handlers is answered, counted and, if possible,
// logged; the next connection works.
func TestPanicOutsideOfHandlers(t *testing.T) {
	for name, always := range map[string]bool{"in the access log": false, "in every log": true} {
		t.Run(name, func(t *testing.T) {
			var log proxytest.LockedBuffer
			o := proxytest.Options(t)
			o.Logger, o.AccessLog = slog.New(panickingLog{slog.NewTextHandler(&log, nil), always}), true
			l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
			for range 3 {
				res, rest := l.Exchange(t, strings.Repeat("GET /api/html HTTP/1.1\r\nHost: x\r\n\r\n", 2))
				if e := res.Envelope(t); e.Status != 500 || rest != "" {
					t.Errorf("answer: %d %s, then %q", e.Status, res.Body, rest)
				}
			}
			expecting := l.Dial()
			l.Write(expecting,
				"GET /api/html HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody")
			if got, err := io.ReadAll(expecting); err != nil ||
				!strings.Contains(string(got), "\r\n\r\nHTTP/1.1 500 ") {
				t.Errorf("behind 100 Continue: %s, %v", got, err)
			}
			proxytest.Until(t, "every panic counted, every connection closed", func() bool {
				return l.Metric("vitrine_panics_total") == 4 && l.Metric("vitrine_connections") == 0 &&
					l.Metric("vitrine_requests_in_flight") == 0
			})
			if n := strings.Count(log.Taken(), "panic: the log is broken"); n != 4 && !always {
				t.Errorf("%d of 4 panics logged", n)
			}
		})
	}
}

package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/admin"
	"vitrine/proxy/metrics"
	"vitrine/proxy/proxytest"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/rules"
)

// TestServe uses real listeners, and shuts down while a request runs.
func TestServe(t *testing.T) {
	o := proxytest.Options(t)
	s := proxytest.Open(t, proxytest.Institute(t), o)
	public, admin := proxytest.Listen(t), proxytest.Listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(ctx, public, admin) }()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	base := "http://" + public.Addr().String()
	for url, want := range map[string]int{
		base + "/healthz":                              200,
		base + "/livez":                                200,
		base + "/readyz":                               200,
		base + "/api/activities?limit=1":               200,
		base + "/metrics":                              404,
		base + "/admin/views":                          404,
		"http://" + admin.Addr().String() + "/metrics": 200,
		base + "/api/activities?x=" + strings.Repeat("y", 60<<10):      200,
		base + "/api/activities?json=" + strings.Repeat("%7B", 20<<10): 400,
	} {
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != want {
			t.Errorf("%.60s: %d, %v, want %d", url, res.StatusCode, err, want)
		}
		if want >= 400 {
			proxytest.Response{Response: res, Body: body}.Envelope(t)
		}
	}
	// The server answers before it has read all of these, and after two seconds it ends the connection. A client that
	// takes longer to send them may then find an error before it finds the answer, but Exchange reads what has
	// arrived.
	live := &proxytest.Live{Site: s, Addr: public.Addr().String()}
	for _, length := range []int{100 << 10, 2 << 20} {
		request := "GET /api/activities?x=" + strings.Repeat("y", length) + " HTTP/1.1\r\nHost: x\r\n\r\n"
		res, _ := live.Exchange(t, request)
		if res.Response == nil || res.StatusCode != 414 {
			t.Fatalf("a URL of %d bytes: %+v, want 414", length, res.Response)
		}
		res.Envelope(t)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// TestRawRequests sends requests that no HTTP client would send.
func TestRawRequests(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	public := proxytest.Listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(ctx, public, nil) }()
	tests := []struct {
		name, request string
		want          int
	}{
		{"no HTTP", "hello\r\n\r\n", 400},
		{"unknown method", "BREW /api/html HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"broken escapes", "GET /api/activities?json=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"raw bytes in the query", "GET /api/activities?filter[\xff]=1 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"a body beyond the limit", "GET /api/html HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n", 413},
		{"absolute form", "GET http://x/api/html?limit=x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"HTTP/1.0", "GET /api/html HTTP/1.0\r\n\r\n", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", public.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, tt.request); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.want {
				t.Errorf("status = %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			proxytest.Response{Response: res, Body: body}.Envelope(t)
		})
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// TestDrain: readiness ends before the listener closes.
func TestDrain(t *testing.T) {
	o := proxytest.Options(t)
	o.Limits.Delay = time.Millisecond
	s := proxytest.Open(t, proxytest.Institute(t), o)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	public := proxytest.Listen(t)
	go func() { served <- s.Server.Serve(ctx, public, nil) }()
	if res := s.Get("/readyz"); res.StatusCode != 200 {
		t.Fatalf("status = %d before the end", res.StatusCode)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	res := s.Get("/readyz")
	if e := res.Envelope(t); e.Status != 503 || !strings.Contains(e.Msg, "Draining") {
		t.Errorf("after the end: %s", res.Body)
	}
	if res := s.Get("/healthz"); res.StatusCode != 200 {
		t.Errorf("healthz of a draining process: %d", res.StatusCode)
	}
}

// TestDrainOfSilent: a connection that has sent nothing does not delay the shutdown.
func TestDrainOfSilent(t *testing.T) {
	o := proxytest.Options(t)
	o.Limits.Grace = time.Minute
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := proxytest.Open(t, proxytest.Institute(t), o)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	public := proxytest.Listen(t)
	go func() { served <- s.Server.Serve(ctx, public, nil) }()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", public.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	silent, last := dial(), dial()
	if _, err := io.WriteString(last, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if res, err := http.ReadResponse(bufio.NewReader(last), nil); err != nil || res.StatusCode != 200 {
		// the server accepts connections one after the other
		t.Fatalf("a request on another connection: %v, %v", res, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if strings.Contains(log.String(), "clients cut off") {
		t.Errorf("the silent connection delayed the shutdown:\n%s", &log)
	}
	if _, err := io.ReadAll(silent); err != nil {
		t.Errorf("the silent connection: %v", err)
	}
}

func TestServeTellsWhyItEnded(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	ln := proxytest.Listen(t)
	ln.Close()
	if err := s.Server.Serve(t.Context(), ln, nil); err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("Serve on a closed listener = %v", err)
	}
}

// breakable is a listener that fails when the test says so.
type breakable struct {
	net.Listener
	broken chan struct{}
}

func (b breakable) Accept() (net.Conn, error) {
	type accepted struct {
		conn net.Conn
		err  error
	}
	next := make(chan accepted, 1)
	go func() {
		conn, err := b.Listener.Accept()
		next <- accepted{conn, err}
	}()
	select {
	case a := <-next:
		return a.conn, a.err
	case <-b.broken:
		return nil, errors.New("out of luck")
	}
}

// TestListenerFails: if a listener fails, Serve first answers the clients that it has, and only then frees what their
// answers need. It returns why.
func TestListenerFails(t *testing.T) {
	s := proxytest.Open(t, proxytest.Many(t, 20_000), proxytest.Options(t))
	ln := breakable{proxytest.Narrow{Listener: proxytest.Listen(t)}, make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(t.Context(), ln, nil) }()
	live := &proxytest.Live{Site: s, Addr: ln.Addr().String()}
	conn := live.Narrowly()
	live.Write(conn, "GET /api/activities HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	close(ln.broken)
	proxytest.Until(t, "the server drains",
		func() bool { return s.Get("/readyz").StatusCode == http.StatusServiceUnavailable })
	for range 100 { // an answer that takes memory from the cache
		if res := s.Get("/api/activities?limit=1"); res.StatusCode != http.StatusOK {
			t.Fatalf("while an answer is sent: %d %s", res.StatusCode, res.Body)
		}
	}
	select {
	case err := <-served:
		t.Errorf("Serve has returned before its clients had their answers: %v", err)
	default:
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || !json.Valid(body) {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	if err := <-served; err == nil || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("Serve = %v", err)
	}
}

// TestNotLoaded: before the first snapshot everything but health is 503.
func TestNotLoaded(t *testing.T) {
	views, err := view.New(view.Options{Store: proxytest.NewStore(), Views: api.Views()})
	if err != nil {
		t.Fatal(err)
	}
	o := proxytest.Options(t)
	o.Views = views
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &proxytest.Site{T: t, Server: server}
	for target, want := range map[string]int{
		"/healthz": 200, "/livez": 200, "/readyz": 503, "/api/activities": 503, "/api/html": 503,
		"/api/all-activities":                 503,
		"/api/spectrum-activities?spectrum=x": 503, "/api/nothing": 404,
	} {
		res := s.Get(target)
		if e := res.Envelope(t); e.Status != want {
			t.Errorf("%s: %s, want %d", target, res.Body, want)
		}
	}
	if res := s.Get("/readyz"); !strings.Contains(string(res.Body), "activities") {
		t.Errorf("readyz does not name the missing views: %s", res.Body)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]func(*proxy.Options){
		"no views":                           func(o *proxy.Options) { o.Views = nil },
		"a public key that is none":          func(o *proxy.Options) { o.Auth.Session.PublicKey = []byte("x") },
		"a user header any client could set": func(o *proxy.Options) { o.Auth.Session.UserHeader = "X-User" },
		"an origin without scheme":           func(o *proxy.Options) { o.CORS.Origins = []string{"example.org"} },
		"an origin with a path": func(o *proxy.Options) {
			o.CORS.Origins = []string{"https://example.org/page"}
		},
		"all origins with credentials": func(o *proxy.Options) {
			o.CORS = configs.CORS{Origins: []string{"*"}, Credentials: true}
		},
		"an affiliation operator": func(o *proxy.Options) { o.Affiliation.Fields = []string{"$where"} },
	}
	views := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Views
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Views = views
			change(&o)
			if s, err := proxy.New(o); err == nil {
				s.Close()
				t.Error("New accepted the options")
			}
		})
	}
}

func TestAdminToken(t *testing.T) {
	o := proxytest.Options(t)
	o.Admin.Token = "operator"
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for _, target := range []string{"/metrics", "/admin/views", "/debug/pprof/symbol"} {
		for header, want := range map[string]int{"": 403, "Bearer wrong": 403, "operator": 403,
			"Bearer operator": 200, "bearer operator": 200} {
			if got := s.Admin(http.MethodGet, target, "Authorization", header).StatusCode; got != want {
				t.Errorf("%s with %q: %d, want %d", target, header, got, want)
			}
		}
	}
	if got := s.Admin(http.MethodPost, "/admin/refresh").StatusCode; got != 403 {
		t.Errorf("refresh without token: %d", got)
	}
}

// TestAdminUnknownMethod: a request with an unknown method ends the connection, as on the public
// listener: the bytes behind it may be its body.
func TestAdminUnknownMethod(t *testing.T) {
	res := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Admin("BREW", "/metrics")
	if e := res.Envelope(t); e.Status != 405 || !res.Close {
		t.Errorf("%d, closes: %t", e.Status, res.Close)
	}
}

func TestAdminRefresh(t *testing.T) {
	type asked = admin.Refresh
	var last asked
	o := proxytest.Options(t)
	o.Admin.Refresh = func(_ context.Context, q admin.Refresh) (admin.RefreshResult, error) {
		last = q
		switch q.View {
		case "unheard":
			return admin.RefreshResult{}, fmt.Errorf("view %s: %w", q.View, origin.ErrNotFound)
		case "broken":
			return admin.RefreshResult{}, errors.New("disk is on fire")
		case "elsewhere":
			return admin.RefreshResult{}, &admin.NotLeadingError{Holder: "otherhost/17"}
		}
		if q.Wait {
			return admin.RefreshResult{Done: true, Runs: []admin.JobRun{{OK: true}, {OK: !q.Force}}}, nil
		}
		return admin.RefreshResult{Done: q.Full, Views: []string{"activities"}}, nil
	}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	tests := []struct {
		method, target string
		status         int
		asked          asked
	}{
		{http.MethodPost, "/admin/refresh", 202, asked{}},
		{http.MethodPost, "/admin/refresh?view=activities", 202, asked{View: "activities"}},
		{http.MethodPost, "/admin/refresh?view=activities&full=1", 200, asked{View: "activities", Full: true}},
		{http.MethodPost, "/admin/refresh?view=unheard", 400, asked{View: "unheard"}},
		{http.MethodPost, "/admin/refresh?view=broken", 500, asked{View: "broken"}},
		{http.MethodPost, "/admin/refresh?view=activities&force=1", 202, asked{View: "activities", Force: true}},
		{http.MethodPost, "/admin/refresh?view=elsewhere", 409, asked{View: "elsewhere"}},
		{http.MethodPost, "/admin/refresh?wait=1", 200, asked{Wait: true}},
		{http.MethodPost, "/admin/refresh?wait=1&force=1", 500, asked{Wait: true, Force: true}},
		{http.MethodPost, "/admin/refresh?full=x", 400, asked{}},
		{http.MethodPost, "/admin/refresh?wait=x", 400, asked{}},
		{http.MethodPost, "/admin/refresh?force=x", 400, asked{}},
		{http.MethodGet, "/admin/refresh", 405, asked{}},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.target, func(t *testing.T) {
			last = asked{}
			res := s.Admin(tt.method, tt.target)
			if res.StatusCode != tt.status || last != tt.asked {
				t.Errorf("status %d, asked %+v, want %d, %+v: %s", res.StatusCode, last, tt.status, tt.asked,
					res.Body)
			}
			if strings.Contains(string(res.Body), "fire") {
				t.Errorf("the answer contains the error's text: %s", res.Body)
			}
			var answer struct {
				Status int
				Views  []string
			}
			if err := json.Unmarshal(res.Body, &answer); err != nil || answer.Status != tt.status {
				t.Errorf("body %s: %v", res.Body, err)
			}
		})
	}
	for _, tt := range []struct {
		err  admin.NotLeadingError
		want string
	}{
		{admin.NotLeadingError{Holder: "other/17"},
			"The jobs are run by other/17: ask that instance; nothing was done here."},
		{admin.NotLeadingError{}, "No instance runs the jobs at the moment; nothing was done."},
		{admin.NotLeadingError{Holder: "me/1", Self: true},
			"This instance holds the lease but does not run the jobs yet, or any more"},
		{admin.NotLeadingError{Holder: "me/1", Self: true, Ran: 2, Of: 9},
			"This instance stopped running the jobs after 2 of 9"},
	} {
		o.Admin.Refresh = func(context.Context, admin.Refresh) (admin.RefreshResult, error) {
			return admin.RefreshResult{}, &tt.err
		}
		res := proxytest.Open(t, proxytest.Institute(t), o).Admin(http.MethodPost, "/admin/refresh")
		if text := string(res.Body); res.StatusCode != 409 || !strings.Contains(text, tt.want) ||
			strings.Contains(text, "me/1") {
			t.Errorf("%+v: %d %s, want %s", tt.err, res.StatusCode, text, tt.want)
		}
	}
	if got := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Admin(http.MethodPost,
		"/admin/refresh").StatusCode; got != 404 {
		t.Errorf("refresh where no jobs run: %d", got)
	}
}

func TestAdminViewsAndMetrics(t *testing.T) {
	o := proxytest.Options(t)
	o.Metrics = metrics.New()
	s := proxytest.Open(t, proxytest.Institute(t), o)
	s.Get("/api/html")
	s.Get("/api/activities?limit=x")
	s.Get("/api/no/such/path")
	s.Do(http.MethodHead, "/healthz")
	o.Metrics.JobEnded(rules.ViewActivities, "ok", time.Second, 3, 1, 0)
	o.Metrics.JobMissed(rules.ViewPersons, 2)
	o.Metrics.Leading(true)

	var views struct {
		Status, Count int
		Data          []struct {
			View       string
			Generation uint64
			Rows       int
		}
	}
	if err := json.Unmarshal(s.Admin(http.MethodGet, "/admin/views").Body, &views); err != nil {
		t.Fatal(err)
	}
	if views.Count != len(api.Views()) || views.Data[0].View != "activities" || views.Data[0].Rows != 15 ||
		views.Data[0].Generation != 1 {
		t.Errorf("views = %+v", views)
	}
	text := string(s.Admin(http.MethodGet, "/metrics").Body)
	for _, want := range []string{
		`vitrine_request_seconds_count{class="2xx",endpoint="html"} 1`,
		`vitrine_request_seconds_count{class="4xx",endpoint="activities"} 1`,
		`vitrine_request_seconds_count{class="4xx",endpoint="other"} 1`,
		`vitrine_response_bytes_count{class="2xx",endpoint="html"} 1`,
		`vitrine_response_bytes_sum{class="2xx",endpoint="healthz"} 0`, // for HEAD
		`vitrine_requests_in_flight 0`,
		`vitrine_results_loads_total 1`,
		`vitrine_view_rows{view="activities"} 15`,
		`vitrine_view_generation{view="persons"} 1`,
		`vitrine_view_age_seconds{view="activities"} 0`,
		`vitrine_job_runs_total{outcome="ok",view="activities"} 1`,
		`vitrine_job_runs_total{outcome="missed",view="persons"} 2`,
		`vitrine_job_rows_total{view="activities",what="changed"} 3`,
		`vitrine_job_leading 1`,
		`go_goroutines`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(text, "no/such/path") {
		t.Error("a path from a client became a label")
	}
}

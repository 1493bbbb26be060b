package listener_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/proxy"
	"vitrine/proxy/auth"
)

// manual is a clock that tests set.
type manual struct {
	mu  sync.Mutex
	now time.Time
}

func (m *manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manual) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// behind is a site behind a proxy: in tests of a handler the peer is 0.0.0.0.
func behind(t testing.TB, o proxy.Options) *proxytest.Site {
	t.Helper()
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32"), netip.MustParsePrefix("10.0.0.0/8")}}
	return proxytest.Open(t, proxytest.Institute(t), o)
}

func TestRateLimit(t *testing.T) {
	clock := &manual{now: proxytest.Published}
	o := proxytest.Options(t)
	o.Now = clock.Now
	o.Limits.Rate = 6
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for i := range 6 {
		res := s.Get("/api/html")
		if res.StatusCode != 200 {
			t.Fatalf("request %d of 6: %d", i, res.StatusCode)
		}
		if got, want := res.Header.Get("RateLimit"), fmt.Sprintf(`"default";r=%d;t=1`, 5-i); got != want {
			t.Errorf("RateLimit = %s, want %s", got, want)
		}
		if got := res.Header.Get("RateLimit-Policy"); got != `"default";q=6;w=1` {
			t.Errorf("RateLimit-Policy = %s", got)
		}
	}
	refused := func(wait string) {
		t.Helper()
		res := s.Get("/api/html")
		if e := res.Envelope(t); e.Status != 429 || e.Error != "TooManyRequests" ||
			res.Header.Get("Retry-After") != wait {
			t.Errorf("beyond the limit: %s, Retry-After %q, want %s", res.Body, res.Header.Get("Retry-After"), wait)
		}
		if got := res.Header.Get("RateLimit"); got != `"default";r=0;t=1` {
			t.Errorf("RateLimit = %s", got)
		}
	}
	for range 20 {
		refused("1")
	}
	clock.pass(time.Second / 6)
	if res := s.Get("/portfolio/spectrum"); res.StatusCode == 429 {
		t.Error("after a sixth of a second the bucket has no token again")
	}
	refused("1")
	clock.pass(time.Hour)
	for i := range 6 {
		if res := s.Get("/api/html"); res.StatusCode != 200 {
			t.Fatalf("an hour later, request %d: %d", i, res.StatusCode)
		}
	}
	refused("1")
	if res := s.Get("/healthz"); res.StatusCode != 200 || res.Header.Get("RateLimit") != "" {
		t.Errorf("health is limited too: %d", res.StatusCode)
	}
}

// TestWhoIsLimited: which addresses count as one client for the rate limit.
func TestWhoIsLimited(t *testing.T) {
	tests := []struct {
		name          string
		first, second []string // X-Forwarded-For
		same          bool
	}{
		{"nothing forwarded", nil, nil, true},
		{"two addresses", []string{"192.0.2.1"}, []string{"192.0.2.2"}, false},
		{"one address", []string{"192.0.2.1"}, []string{"192.0.2.1"}, true},
		{"one address, with ports", []string{"192.0.2.1:1000"}, []string{"192.0.2.1:2000"}, true},
		{"one address, mapped", []string{"192.0.2.1"}, []string{"::ffff:192.0.2.1"}, true},
		{"one address, with different client headers", []string{"1.1.1.1, 192.0.2.1"}, []string{"2.2.2.2, 192.0.2.1"},
			true},
		{"the client speaks as a proxy", []string{"1.1.1.1, 10.0.0.1, 192.0.2.1"},
			[]string{"2.2.2.2, 10.0.0.2, 192.0.2.1"}, true},
		{"through two proxies", []string{"192.0.2.1, 10.0.0.1"}, []string{"192.0.2.2, 10.0.0.1"}, false},
		{"through two proxies, with different client headers", []string{"1.1.1.1, 192.0.2.1, 10.0.0.1"},
			[]string{"2.2.2.2, 192.0.2.1, 10.0.0.1"}, true},
		{"lines of their own", []string{"1.1.1.1", "192.0.2.1"}, []string{"2.2.2.2", "192.0.2.1"}, true},
		{"no address at the end", []string{"1.1.1.1, unknown"}, []string{"2.2.2.2, _hidden"}, true},
		{"an IPv6 network", []string{"2001:db8::1"}, []string{"2001:db8::ffff:2"}, true},
		{"an IPv6 network, with ports", []string{"[2001:db8::1]:1"}, []string{"[2001:db8::2]:2"}, true},
		{"two IPv6 networks", []string{"2001:db8::1"}, []string{"2001:db8:0:1::1"}, false},
		{"zones", []string{"fe80::1%a"}, []string{"fe80::1%b"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Limits.Rate = 1
			s := behind(t, o)
			status := func(forwarded []string) int {
				req := httptest.NewRequest(http.MethodGet, "/api/html", nil)
				for _, line := range forwarded {
					req.Header.Add("X-Forwarded-For", line)
				}
				return s.Send(req).StatusCode
			}
			if got := status(tt.first); got != 200 {
				t.Fatalf("the first: %d", got)
			}
			if same := status(tt.second) == 429; same != tt.same {
				t.Errorf("one client: %v, want %v", same, tt.same)
			}
		})
	}
	t.Run("the peer is no proxy", func(t *testing.T) {
		o := proxytest.Options(t)
		o.Limits.Rate = 1
		o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		s := proxytest.Open(t, proxytest.Institute(t), o)
		s.Get("/api/html", "X-Forwarded-For", "192.0.2.1")
		if got := s.Get("/api/html", "X-Forwarded-For", "192.0.2.2").StatusCode; got != 429 {
			t.Errorf("a client that sets the header itself: %d", got)
		}
	})
}

// TestManyClients: the memory used for clients is bounded, and a client with many addresses can
// harm others only so far.
func TestManyClients(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand requests")
	}
	o := proxytest.Options(t)
	o.Limits.Rate = 1
	s := behind(t, o)
	ask := func(i int) int {
		req := httptest.NewRequest(http.MethodGet, "/api/nothing", nil)
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff))
		res, err := s.Server.App().Test(req, -1)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	before := proxytest.Memory()
	for i := range 100_000 {
		if got := ask(i); got != 404 {
			t.Fatalf("client %d: %d", i, got)
		}
	}
	held := proxytest.Memory() - before
	t.Logf("%d bytes held", held)
	if held > 32<<20 {
		t.Errorf("%d bytes held for 100,000 clients", held)
	}
	if got := ask(99_999); got != 429 {
		t.Errorf("the limiter has dropped the last client: %d", got)
	}
}

// TestKeyGuessing: after some wrong keys the server checks no key of the client for a while, not
// even a right one; requests without a key, and other clients, still get answers.
func TestKeyGuessing(t *testing.T) {
	clock := &manual{now: proxytest.Published}
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Now = clock.Now
	o.Auth.APIKey = "Right"
	o.Auth.Session.Secret = []byte("session secret")
	o.Limits.KeyFailures = 5
	o.Logger, o.AccessLog = slog.New(slog.NewTextHandler(&log, nil)), true
	s := behind(t, o)
	from := func(addr, target string, headers ...string) proxytest.Response {
		t.Helper()
		return s.Get(target, append(headers, "X-Forwarded-For", addr)...)
	}
	const attacker, other = "192.0.2.1", "192.0.2.2"
	for i := range 5 {
		var res proxytest.Response
		if i%2 == 0 {
			res = from(attacker, fmt.Sprint("/api/html?apikey=Guess", i))
		} else {
			res = from(attacker, "/api/html", "X-API-Key", fmt.Sprint("Guess", i))
		}
		if res.StatusCode != 403 {
			t.Fatalf("guess %d: %d", i, res.StatusCode)
		}
	}
	for name, res := range map[string]proxytest.Response{
		"a wrong key":          from(attacker, "/api/html?apikey=Guess6"),
		"under another path":   from(attacker, "/api/events?apikey=Guess7"),
		"with another address": from("8.8.8.8, "+attacker, "/api/html?apikey=Guess8"),
		"beside a session": from(attacker, "/api/html?apikey=Guess9", "Authorization",
			"Bearer "+proxytest.Token(t, "ada", o.Auth.Session.Secret)),
		"the portfolio's is no": from(attacker, "/api/html?apikey=Portfolio"),
	} {
		if e := res.Envelope(t); e.Status != 429 || res.Header.Get("Retry-After") != "12" || !res.Close {
			t.Errorf("%s: %s, Retry-After %q, close %v", name, res.Body, res.Header.Get("Retry-After"), res.Close)
		}
	}
	for name, tt := range map[string]struct {
		res  proxytest.Response
		want int
	}{
		"no key": {from(attacker, "/api/html"), 403},
		"a session": {from(attacker, "/api/html", "Authorization",
			"Bearer "+proxytest.Token(t, "ada", o.Auth.Session.Secret)), 200},
		"what needs none":        {from(attacker, "/healthz"), 200},
		"the right one":          {from(attacker, "/api/html?apikey=Right"), 200},
		"the right header":       {from(attacker, "/api/html?apikey=Guess", "X-API-Key", "Right"), 200},
		"another client's":       {from(other, "/api/html?apikey=Right"), 200},
		"another client's fault": {from(other, "/api/html?apikey=Wrong"), 403},
	} {
		if tt.res.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, tt.res.StatusCode, tt.want)
		}
	}
	clock.pass(12 * time.Second)
	if res := from(attacker, "/api/html?apikey=Guess10"); res.StatusCode != 403 {
		t.Errorf("a guess after a while: %d", res.StatusCode)
	}
	if n := s.Metric("vitrine_wrong_keys_total"); n != 13 {
		t.Errorf("%d wrong keys counted", n)
	}
	if text := log.Taken(); strings.Contains(text, "Guess") || strings.Contains(text, "Right") {
		t.Errorf("keys in the log:\n%s", text)
	}
	if text := s.Admin(http.MethodGet, "/metrics").Body; bytes.Contains(text, []byte("Guess")) ||
		bytes.Contains(text, []byte("Right")) {
		t.Error("keys in the metrics")
	}
}

// TestUnreadableRequestsAreNotLogged: a malformed request may contain a key, and any client can
// send one as often as it likes.
func TestUnreadableRequestsAreNotLogged(t *testing.T) {
	var log proxytest.LockedBuffer
	o := proxytest.Options(t)
	o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for _, request := range []string{
		"GET /?apikey=TOPSECRET HTTP/1.1\r\nX-API-Key TOPSECRET\r\n\r\n",
		"apikey=TOPSECRET",
		"GET /?apikey=TOPSECRET HTTP/1.1\r\nX-API-Key: TOPSECRET",
		"GET /?apikey=TOPSECRET HTTP/1.1\r\nContent-Length: TOPSECRET\r\n\r\n",
	} {
		conn := l.Dial()
		l.Write(conn, request)
		conn.(interface{ CloseWrite() error }).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // until the server closes it
	}
	for line := range strings.Lines(log.Taken()) {
		if strings.Contains(line, "TOPSECRET") || !strings.Contains(line, "level=DEBUG") {
			t.Error(line)
		}
	}
}

package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// lineLog is a log that takes lines.
type lineLog struct {
	slog.Handler
	io.Writer
}

// repeater sends requests again and again over one connection of a site.
type repeater struct {
	*proxytest.Live
	log proxytest.LockedBuffer
	net.Conn
	*bufio.Reader
}

// newRepeater serves a site with options, to which it adds a log.
func newRepeater(t *testing.T, store *proxytest.Store, o proxy.Options) *repeater {
	t.Helper()
	r := &repeater{}
	o.Logger, o.AccessLog = slog.New(lineLog{slog.NewTextHandler(&r.log, nil), &r.log}), true
	r.Live = proxytest.ServeLive(t, proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0))
	r.connect()
	return r
}

func (r *repeater) connect() {
	r.Conn = r.Dial()
	r.Reader = bufio.NewReader(r.Conn)
}

// changing matches what differs between responses, and between log lines, to the same request.
var changing = regexp.MustCompile(
	`\r\nDate: [^\r]*|\r\nX-Request-Id: [0-9a-f]{16}|time=\S+| id=[0-9a-f]{16}|took=[0-9.]+(ns|µs|ms|s)`)

// exchange sends a request and returns the response and the log lines, without what changes.
func (r *repeater) exchange(request string) (response, logged string) {
	r.T.Helper()
	r.Live.Write(r.Conn, request)
	var raw bytes.Buffer
	both := bufio.NewReader(io.TeeReader(r.Reader, &raw))
	method, _, _ := strings.Cut(request, " ")
	res, err := http.ReadResponse(both, &http.Request{Method: method})
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err != nil {
		r.T.Fatalf("%q: %v", request, err)
	}
	if res.Close {
		r.Conn.Close()
		r.connect()
	}
	header, body, _ := strings.Cut(raw.String(), "\r\n\r\n")
	return changing.ReplaceAllString(header, "…") + "\r\n\r\n" +
		body, changing.ReplaceAllString(string(r.log.Taken()), "…")
}

// repeat sends a request until one is answered by the shortcut, or for the given number of times, and reports whether
// one was. All responses and log lines must be equal to want and logged.
func (r *repeater) repeat(request string, times int, want, logged string) bool {
	r.T.Helper()
	before := r.Metric("vitrine_requests_repeated_total")
	for n := range times {
		if got, line := r.exchange(request); got != want || line != logged {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			r.T.Fatalf("%q, time %d: from byte %d got %.200q and %q, want %.200q and %q", request, n+1, at, got[at:],
				line, want[at:], logged)
		}
		if n%16 == 15 && r.Metric("vitrine_requests_repeated_total") > before {
			return true
		}
	}
	return false
}

// unrepeated returns the request with a field that no other request has, so that the shortcut does not know it.
func unrepeated(n int, request string) string {
	return strings.Replace(request, "\r\n\r\n", fmt.Sprintf("\r\nX-Case: %d\r\n\r\n", n), 1)
}

// mostRepeats is how often a request is repeated at most: by far often enough for the shortcut.
const mostRepeats = 512

// TestShortcut: repeated requests get the response that a single one gets, byte for byte, and the same log line; the
// shortcut answers them, unless they are unusual.
func TestShortcut(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Auth.APIKey, o.CORS.Origins = "right", []string{"https://a.example"}
	o.Auth.Session = auth.SessionOptions{Secret: []byte(strings.Repeat("s", 32)), Cookie: "vitrine_session"}
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	fields := []string{
		"", "Accept-Encoding: gzip", "Accept-Encoding: br;q=0.5, zstd",
		"Accept: application/json\r\nAccept-Language: de", "Origin: https://a.example", "Origin: https://b.example",
		"If-Modified-Since: Mon, 06 May 2024 07:08:09 GMT", "If-None-Match: *", `If-None-Match: "other"`,
		"Prefer: handling=strict", "Range: bytes=0-9", "X-Forwarded-Proto: https",
		"User-Agent: a (b; c) d/1\r\nReferer: https://a.example/?x=\r\nSec-Fetch-Site: cross-site",
		"User-Agent: \xff\t",
	}
	n := 0
	for _, target := range []string{"/api/activities?limit=2&apikey=right",
		"/api/activities?limit=2&unknown=1&apikey=right", "/api/html?apikey=right", "/api/users/ada?apikey=right",
		"/lists/activities", "/lists/activities.html", "/lists/activities.json?utm_source=x",
		"/lists/activities.bib"} {
		for _, field := range fields {
			request := "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + strings.TrimPrefix(field+"\r\n", "\r\n") +
				"\r\n"
			var want, logged string
			for range 2 { // the first is not in memory
				n++
				want, logged = r.exchange(unrepeated(n, request))
			}
			if !strings.Contains(want, "\r\nCache-Status: vitrine; hit") ||
				!strings.HasPrefix(want, "HTTP/1.1 200 ") && !strings.HasPrefix(want, "HTTP/1.1 304 ") {
				if r.repeat(request, 32, want, logged) {
					t.Fatalf("%q: answered by the shortcut, like %.1000q", request, want)
				}
				continue
			}
			if !r.repeat(request, mostRepeats, want, logged) {
				t.Fatalf("%q: never answered by the shortcut", request)
			}
		}
	}
	const plain = "GET /api/activities?limit=2 HTTP/1.1\r\nHost: x\r\nX-API-Key: right\r\nUser-Agent: a\r\n\r\n"
	_, _ = r.exchange(plain)
	want, logged := r.exchange(plain)
	before := r.Metric("vitrine_requests_repeated_total")
	for n := range mostRepeats { // clients of all kinds have one prepared response
		_, _ = r.exchange(strings.Replace(plain, "User-Agent: a", fmt.Sprintf("User-Agent: client %d", n), 1))
	}
	if r.Metric("vitrine_requests_repeated_total") == before {
		t.Error("the shortcut answers no other clients")
	}
	for _, change := range [][2]string{
		{"GET", "HEAD"}, {"GET", "POST"}, {"GET", "trusted"}, {"1.1", "1.0"}, {"1.1", "1.2"}, {"limit=2", "limit=x"},
		{"/api", "/Api"}, {"right", "wrong"}, {"X-API-Key: right\r\n", ""},
		{"Host: x\r\n", ""}, {"Host: x", "Host: x\r\nHost: y"}, {"Host: x", "Host: a b"},
		{"User-Agent: a", "User-Agent : a"}, {"User-Agent: a", "User-Agent: a\r\n b"},
		{"User-Agent: a", "User-Agent: a\r\n b: c"},
		{"User-Agent: a", "User-Agent: \x00"}, {"User-Agent: a", "User-Agent: \x7f"},
		{"User-Agent: a", "User-Agent: a\rb"}, {"User-Agent: a", "User-Agent"}, {"User-Agent: a", ": a"},
		{"User-Agent: a", "Connection: close"}, {"User-Agent: a", "Content-Length: 0"},
		{"User-Agent: a", "Transfer-Encoding: chunked\r\n\r\n0"}, {"User-Agent: a", "Authorization: Bearer x"},
		{"User-Agent: a", "cookie: vitrine_session=x"}, {"User-Agent: a", "X-Request-ID: mine"},
		{"User-Agent: a", "X-Long: " + strings.Repeat("x", 3000)},
	} {
		if !r.repeat(plain, mostRepeats, want, logged) {
			t.Fatal("the plain request is never answered by the shortcut")
		}
		request := strings.Replace(plain, change[0], change[1], 1)
		n++
		other, otherLogged := r.exchange(strings.Replace(unrepeated(n, request), "\r\n0\r\nX-Case: "+fmt.Sprint(n),
			"\r\nX-Case: "+fmt.Sprint(n)+"\r\n\r\n0", 1))
		if r.repeat(request, 32, other, otherLogged) {
			t.Errorf("%q: answered by the shortcut", request)
		}
	}
}

// TestShortcutFollows: the shortcut follows settings and views, and counts every answer.
func TestShortcutFollows(t *testing.T) {
	o, store := proxytest.ListOptions(t), proxytest.ListStore(t, nil)
	r := newRepeater(t, store, o)
	const request = "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n"
	repeated := func() (response string) {
		t.Helper()
		_, _ = r.exchange(request)
		want, logged := r.exchange(request)
		if !r.repeat(request, mostRepeats, want, logged) {
			t.Error("never answered by the shortcut")
		}
		return want
	}
	first := repeated()
	answered := func() (n int) {
		for line := range strings.Lines(string(r.Admin("GET", "/metrics").Body)) {
			_, _ = fmt.Sscanf(line, `vitrine_response_bytes_count{class="2xx",endpoint="activities"} %d`, &n)
		}
		return n
	}
	if before := answered(); true {
		for range 64 {
			r.exchange(request)
		}
		if n := answered() - before; n != 64 {
			t.Errorf("%d of 64 answers counted", n)
		}
	}
	store.Publish(rules.ViewActivities, proxytest.Parse(t, `{"_id":"new","year":9999}`)...)
	r.Views.Notify(rules.ViewActivities)
	proxytest.Until(t, "new generation shown", func() bool {
		s, err := r.Views.Snapshot(rules.ViewActivities)
		return err == nil && s.Meta().Generation == 2
	})
	if second := repeated(); second == first {
		t.Error("the response has not changed with the view")
	}
	o.Auth.APIKey = "new"
	if err := r.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got, _ := r.exchange(request); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("without the new key: %s", got)
	}
}

// TestShortcutProxies: behind a trusted proxy the log has each client's address, a user header makes a session, and
// nothing of that counts from others.
func TestShortcutProxies(t *testing.T) {
	o := proxytest.ListOptions(t)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For", TrustedProxies: loopback}
	// a name that is harmless elsewhere
	o.Auth.Session = auth.SessionOptions{UserHeader: "X-Real-Ip", TrustedProxies: loopback}
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	request := func(fields string) string {
		return "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n"
	}
	_, _ = r.exchange(request(""))
	for n, forwarded := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1, 127.0.0.1", "192.0.2.1, nonsense",
		""} {
		fields := "X-Forwarded-For: " + forwarded + "\r\n"
		want, logged := r.exchange(unrepeated(n, request(fields)))
		if !r.repeat(request(fields), mostRepeats, want, logged) {
			t.Errorf("%s: never answered by the shortcut", fields)
		}
	}
	want, logged := r.exchange(unrepeated(8, request("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n")))
	if r.repeat(request("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n"), 32, want, logged) {
		t.Error("a header that came twice: answered by the shortcut")
	}
	want, logged = r.exchange(unrepeated(9, request("X-Real-Ip: ada\r\n")))
	if r.repeat(request("X-Real-Ip: ada\r\n"), 32, want, logged) ||
		!strings.Contains(want, "Cache-Control: private") {
		t.Error("a user's request: answered by the shortcut, or not privately")
	}
	r.Conn = r.DialFrom("127.0.0.2")
	r.Reader = bufio.NewReader(r.Conn)
	want, logged = r.exchange(unrepeated(10, request("X-Forwarded-For: 192.0.2.1\r\nX-Real-Ip: ada\r\n")))
	if !r.repeat(request("X-Forwarded-For: 192.0.2.1\r\nX-Real-Ip: ada\r\n"), mostRepeats, want, logged) ||
		!strings.Contains(logged, "peer=127.0.0.2") {
		t.Errorf("from another peer: never answered by the shortcut, or logged as %s", logged)
	}
}

// TestShortcutLimits: with a limit on requests each counts.
func TestShortcutLimits(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Limits.Rate = 100
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	for n := range 101 {
		want := "HTTP/1.1 200 "
		if n == 100 {
			want = "HTTP/1.1 429 "
		}
		if got, _ := r.exchange("GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(got,
			want) {
			t.Fatalf("request %d: got %.200s, want %s", n+1, got, want)
		}
	}
}

// TestShortcutShadowed: where answers are compared with the old system, the shortcut hides no request from that.
func TestShortcutShadowed(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Shadow.URL, o.Shadow.Share = "http://"+proxytest.Listen(t).Addr().String(), 1e-9
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	const request = "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n"
	_, _ = r.exchange(request)
	want, logged := r.exchange(request)
	if r.repeat(request, 64, want, logged) {
		t.Error("answered by the shortcut")
	}
}

// TestShortcutTellsProxiesApart: a proxy that names clients and their scheme is another one than a proxy that names
// users. What one of them, both or none may say decides the response, so none gets a response that was prepared for
// another.
func TestShortcutTellsProxiesApart(t *testing.T) {
	o := proxytest.ListOptions(t)
	one := func(last, bits string) netip.Prefix { return netip.MustParsePrefix("127.0.0." + last + "/" + bits) }
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
		TrustedProxies: []netip.Prefix{one("2", "32"), one("4", "32")}}
	o.Auth.Session = auth.SessionOptions{UserHeader: "X-Remote-User",
		TrustedProxies: []netip.Prefix{one("3", "32"), one("4", "32")}, UnknownUsers: true}
	o.Lists.BaseURL, o.Lists.Hosts = "", []string{"x"}
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	conns, readers := map[string]net.Conn{}, map[string]*bufio.Reader{}
	for _, peer := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		conns[peer] = r.DialFrom(peer)
		readers[peer] = bufio.NewReader(conns[peer])
	}
	from := func(peer, request string) string {
		r.Conn, r.Reader = conns[peer], readers[peer]
		response, _ := r.exchange(request)
		return response
	}
	const user, https = "X-Remote-User: ada\r\n", "X-Forwarded-Proto: https\r\n"
	for _, tt := range []struct {
		target, fields, mark string // the mark is in the responses to those whose header counts
		counts               []string
	}{
		{"/api/activities?limit=1", user, "Cache-Control: private", []string{"127.0.0.3", "127.0.0.4"}},
		{"/lists/activities.csv", https, "https://x/", []string{"127.0.0.2", "127.0.0.4"}},
		{"/oembed?url=https://x/lists/activities", https, "https://x/", []string{"127.0.0.2", "127.0.0.4"}},
	} {
		request := "GET " + tt.target + " HTTP/1.1\r\nHost: x\r\n" + tt.fields + "\r\n"
		before := r.Metric("vitrine_requests_repeated_total")
		for first := range conns {
			// it repeats the request until the shortcut has a response, while the others ask, too
			for range 64 {
				from(first, request)
				for peer := range conns {
					got := from(peer, request)
					if counts := slices.Contains(tt.counts, peer); strings.Contains(got, tt.mark) != counts {
						t.Fatalf("%s after %s: %q: got %.600s", peer, first, request, got)
					}
				}
			}
		}
		if r.Metric("vitrine_requests_repeated_total") == before {
			t.Errorf("%q: never answered by the shortcut", request)
		}
	}
}

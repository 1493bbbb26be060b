package listener_test

import (
	"bufio"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/proxy/auth"
)

// malformed are requests that no client library would send, each with the status of its only
// answer: the server must not parse part of one as a second request. 0 stands for no answer.
var malformed = []struct {
	name, request string
	want          int
}{
	{"two lengths",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 0\r\n\r\nGET /smuggled HTTP/" +
			"1.1\r\nHost: x\r\n\r\n", 400},
	{"the same length twice", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
		400},
	{"a list of lengths", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n", 400},
	{"a length and a coding",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /" +
			"smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"a coding and a length",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET /" +
			"smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"two codings",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: " +
			"identity\r\n\r\n0\r\n\r\n", 400},
	{"an unknown coding",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/" +
			"1.1\r\nHost: x\r\n\r\n", 400},
	{"identity", "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 400},
	{"chunks in HTTP/1.0", "GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"a coding on a folded line",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/" +
			"1.1\r\n\r\n", 400},
	{"a blank before the colon", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\n\r\nabcd", 400},
	{"a negative length", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
	{"a signed length", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd", 400},
	{"a length in hexadecimal", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0x4\r\n\r\nabcd", 400},
	{"a length beyond numbers", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
		400},
	{"a length beyond the limit", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n", 413},
	{"malformed chunks", "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400},
	{"a chunk of negative size",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n", 400},
	{"a chunk of enormous size",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na\r\n0\r\n\r\n",
		400},
	{"a chunk beyond the limit",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\na\r\n0\r\n\r\n", 413},
	{"a chunk without its end",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n", 400},
	{"a line end inside a chunk's extension",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\nab\r\n0\r\n\r\n", 400},
	{"good chunks",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nGET /smuggled " +
			"HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"a body",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcdGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
		200},
	{"a form in the body",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: " +
			"60\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n", 200},
	{"lines end in LF alone", "GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\n", 400},
	{"a bare CR", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\rX-B: b\r\n\r\n", 400},
	{"a zero byte in a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\x00b\r\n\r\n", 400},
	{"a folded header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n", 400},
	{"a header without a colon", "GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", 400},
	{"a LF alone between headers", "GET /healthz HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n", 400},
	{"a LF alone at the end", "GET /healthz HTTP/1.1\r\nHost: x\r\n\n", 400},
	{"a LF alone after the request line", "GET /healthz HTTP/1.1\nHost: x\r\n\r\n", 400},
	{"a blank in a header's name", "GET /healthz HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n", 400},
	{"a tab in a header's name", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A\t: b\r\n\r\n", 400},
	{"a raw byte in a header's name", "GET /healthz HTTP/1.1\r\nHost: x\r\nX\xff: b\r\n\r\n", 400},
	{"a bracket in a header's name", "GET /healthz HTTP/1.1\r\nHost: x\r\nX[]: b\r\n\r\n", 400},
	{"two Authorizations",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n", 400},
	{"close among others", "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, close\r\n\r\n" + health, 200},
	{"close in capitals",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nConnection: x,CLOSE ,y\r\n\r\n" + health, 200},
	{"a header without a name", "GET /healthz HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400},
	{"no Host", "GET /healthz HTTP/1.1\r\n\r\n", 400},
	{"two Hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
	{"a Host with a path", "GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"a Host with a user", "GET /healthz HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
	{"a Host with blanks", "GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
	{"a Host of another kind", "GET /healthz HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n", 400},
	{"an IPv6 Host", "GET /healthz HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", 200},
	{"absolute form", "GET http://elsewhere/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
	{"absolute form of another scheme", "GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		404},
	{"asterisk form", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"CONNECT", "CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\nConnection: close\r\n\r\n", 404},
	{"CONNECT to a path", "CONNECT /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 405},
	{"TRACE", "TRACE /healthz HTTP/1.1\r\nHost: x\r\nX-Secret: s\r\nConnection: close\r\n\r\n", 405},
	{"an unknown method",
		"BREW /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcdGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
		405},
	{"a method in small letters", "get /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 405},
	{"a header that overrides the method",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: DELETE\r\nConnection: close\r\n\r\n", 200},
	{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", 400},
	{"HTTP/2 by its number", "GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n", 400},
	{"HTTP/1.2", "GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n", 400},
	{"an upgrade",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: " +
			"h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", 200},
	{"a websocket",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: " +
			"x\r\n\r\n", 200},
	{"HTTP/0.9", "GET /healthz\r\n\r\n", 400},
	{"blanks in the URL", "GET /health z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"no URL", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"no method", " /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
	{"zero bytes", "\x00\x00\x00\x00", 400},
	{"empty lines first", "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
	{"a LF alone first", "\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"a LF alone after an empty line", "\r\n\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"a CR alone first", "\rGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"empty lines alone", "\r\n\r\n\r\n", 0},
	{"nothing", "", 0},
	{"an unfinished request", "GET /healthz HTTP/1.1\r\nHos", 400},
	{"an expectation", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\nConnection: close\r\n\r\n", 200},
	{"a fragment", "GET /healthz#a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
	{"a zero byte in the path", "GET /healthz\x00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"an encoded zero byte in the path", "GET /healthz%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: two slashes", "GET //healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: a key behind bytes that grow in lower case",
		"GET /\xff\xff\xff\xffapikey HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: a host", "GET //elsewhere/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: dots", "GET /api/../admin/views HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: encoded dots", "GET /api/%2e%2e/admin/views HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: encoded slashes", "GET /api%2factivities HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: backslashes", "GET /api\\activities HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: a dot at the end", "GET /healthz. HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: a parameter", "GET /healthz;x=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: capitals", "GET /HEALTHZ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: the operator's views", "GET /admin/views HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: the operator's figures", "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: profiles", "GET /debug/pprof/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404},
	{"path: the operator's refresh", "POST /admin/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 404},
	{"path: a person with slashes", "GET /api/users/..%2f..%2fetc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		404},
	{"path: a person of invalid bytes", "GET /api/users/%ff%00%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		400},
	{"path: a person with a broken escape", "GET /api/users/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		400},
	{"escapes: broken", "GET /api/activities?limit=%z1&offset=%1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		400},
	{"escapes: cut off", "GET /api/activities?filter[type]=% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
	{"escapes: overlong UTF-8",
		"GET /api/activities?filter[type]=%c0%af HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"escapes: a surrogate",
		"GET /api/activities?filter[type]=%ed%a0%80 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"raw bytes in a parameter",
		"GET /api/activities?filter[type]=\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400},
	{"a URL beyond the limit", "GET /healthz?" + strings.Repeat("a", 65<<10) +
		" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 414},
	{"a URL beyond the limit, and a body",
		"GET /healthz?" + strings.Repeat("a", 65<<10) +
			" HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcdGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", 414},
	{"a URL beyond all limits", "GET /healthz?" + strings.Repeat("a", 200<<10) +
		" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 414},
	{"a header beyond the limit", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 200<<10) +
		"\r\n\r\n", 431},
	{"thousands of headers", "GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 20000) + "\r\n",
		431},
	{"thousands of short headers", "GET /healthz HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A:\r\n", 10000) +
		"Connection: close\r\n\r\n", 200},
	{"thousands of parameters", "GET /api/activities?" + strings.Repeat("a&", 30000) +
		" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200},
	{"thousands of cookies", "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nCookie: " +
		strings.Repeat("a=b; ", 10000) + "\r\nConnection: close\r\n\r\n", 200},
	{"thousands of codings", "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: " +
		strings.Repeat("gzip;q=0.001,", 4000) + "\r\nConnection: close\r\n\r\n", 200},
	{"thousands of tags", "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nIf-None-Match: " +
		strings.Repeat(`"a",`, 10000) + "\r\nConnection: close\r\n\r\n", 200},
	{"ranges", "GET /api/activities HTTP/1.1\r\nHost: x\r\nRange: bytes=" + strings.Repeat("0-,", 10000) +
		"\r\nConnection: close\r\n\r\n", 200},
}

// TestMalformedRequests: each gets one answer, an envelope, and the server closes the connection;
// it logs nothing above debug, and other clients are not affected.
func TestMalformedRequests(t *testing.T) {
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: []byte("session secret"), Cookie: "vitrine_session"}
	o.Logger, o.AccessLog = slog.New(slog.NewTextHandler(io.Discard, nil)), true
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	beside := l.Dial()
	besides := bufio.NewReader(beside)
	for _, tt := range malformed {
		t.Run(tt.name, func(t *testing.T) {
			res, rest := l.Exchange(t, tt.request)
			switch {
			case tt.want == 0 && res.Response != nil:
				t.Fatalf("an answer: %d %s", res.StatusCode, res.Body)
			case tt.want == 0:
				return
			case res.Response == nil:
				t.Fatal("no answer")
			case res.StatusCode != tt.want:
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.want, res.Body)
			}
			if rest != "" {
				t.Errorf("a second answer: %.200s", rest)
			}
			res.Envelope(t)
			if strings.Contains(string(res.Body), "X-Secret") {
				t.Errorf("the answer contains the request: %s", res.Body)
			}
		})
		l.Write(beside, health)
		if res := l.Read(besides); res.StatusCode != 200 {
			t.Fatalf("after %s another client gets %d", tt.name, res.StatusCode)
		}
	}
	beside.Close()
	proxytest.Until(t, "every connection closed", func() bool { return l.Metric("vitrine_connections") == 0 })
}

// TestWrongHeadsAtOnce: the server refuses a head as soon as no continuation can make it valid.
func TestWrongHeadsAtOnce(t *testing.T) {
	o := proxytest.Options(t)
	o.Limits.Read = time.Hour
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for _, begun := range []string{
		"\n", "\r\n\n", "GET /healthz HTTP/1.1\n", "GET /healthz HTTP/1.1\r\nHost: x\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
		health + "GET /healthz HTTP/1.1\r\nHost: x\n",
	} {
		conn := l.Dial()
		if err := conn.SetDeadline(time.Now().Add(proxytest.Patience)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		l.Write(conn, begun)
		if strings.HasPrefix(begun, health) {
			l.Read(r)
		}
		if res := l.Read(r); res.StatusCode != 400 {
			t.Errorf("%q: %d %s", begun, res.StatusCode, res.Body)
		}
	}
}

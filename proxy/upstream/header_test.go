package upstream_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// TestMalformedFields: an answer with a field that has no name, or no value, that HTTP knows is refused as a whole:
// Vitrine would not recognise Set-Cookie, and its clients might.
func TestMalformedFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field  string
		status int
	}{
		"a blank before the colon": {"Set-Cookie : sid=secret", 502},
		"a tab before the colon":   {"Set-Cookie\t: sid=secret", 502},
		"a blank inside":           {"Set Cookie: sid=secret", 502},
		"a folded name":            {"X-A: b\r\n Set-Cookie : sid=secret", 200}, // the value goes on
		"brackets":                 {"X(A): secret", 502},
		"no name":                  {": secret", 502},
		"a letter beyond ASCII":    {"Set-Cookié: sid=secret", 502},
		"a control character":      {"X-A: \x01secret", 502},
		"a NUL":                    {"X-A: secret\x00", 502},
		"a carriage return":        {"X-A: b\rSet-Cookie: sid=secret", 502},
		"Latin-1 in a value":       {"X-A: caf\xe9", 200},
	} {
		t.Run(name, func(t *testing.T) {
			old := newRawServer(t, func(string) string {
				return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + c.field +
					"\r\nContent-Length: 3\r\n\r\nold"
			})
			w := old.before(t, nil)
			for range 2 {
				res := w.get("/old")
				if res.StatusCode != c.status {
					t.Errorf("%d %q", res.StatusCode, res.body)
				}
				for field, lines := range res.Header {
					if text := fmt.Sprint(field, lines); c.status == 502 && strings.Contains(text, "secret") {
						t.Errorf("a client gets %q", text)
					}
				}
			}
			if n := len(old.taken()); c.status == 502 && n != 2 {
				t.Errorf("asked %d times: it is kept", n)
			}
		})
	}
}

// TestConnectionNames: Connection makes no answer one for all by deleting what says whom it is for.
func TestConnectionNames(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		"Cache-Control: private", "Set-Cookie: sid=secret", "Vary: *", "Cache-Control: no-store", "Expires: 0",
		"Age: 999999",
	} {
		name, _, _ := strings.Cut(field, ":")
		old := newRawServer(t, func(string) string {
			return "HTTP/1.1 200 OK\r\nLast-Modified: Mon, 04 May 2020 09:00:00 GMT\r\nConnection: " +
				strings.ToLower(name) + ", X-Hop\r\nX-Hop: 1\r\n" + field + "\r\nContent-Length: 3\r\n\r\nold"
		})
		w := old.before(t, nil)
		for range 2 {
			if res := w.get("/old"); res.body != "old" || res.Header.Get("X-Hop") != "" {
				t.Errorf("%s: %q, %v", field, res.body, res.Header)
			}
		}
		if n := len(old.taken()); n != 2 {
			t.Errorf("%s: asked %d times: it is kept", field, n)
		}
	}
}

// newLogged is newWorld with a log.
func newLogged(t *testing.T, answer http.HandlerFunc, change func(*proxy.Options)) (*world, *proxytest.LockedBuffer) {
	log := &proxytest.LockedBuffer{}
	return newWorldWith(t, answer, func(o *proxy.Options) {
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		if change != nil {
			change(o)
		}
	}), log
}

// TestCopiedVia: a client that sends what answers, or requests to the other server, have in Via is no loop, and no
// error.
func TestCopiedVia(t *testing.T) {
	t.Parallel()
	w, log := newLogged(t, says("old", "Cache-Control", fresh), nil)
	via := []string{w.get("/first").Header.Get("Via"), w.get("/first").Header.Get("Via")}
	r, _ := w.request()
	if via = append(via, r.Header["Via"]...); len(via) != 3 || via[0] == "" {
		t.Fatalf("Via: %q", via)
	}
	for i, text := range append(via, strings.Join(via, ", ")) {
		for _, headers := range [][]string{{"Via", text}, {"Via", text, "Cookie", "a=b"}} {
			if res := w.get(fmt.Sprint("/old?", i), headers...); res.StatusCode != 200 {
				t.Errorf("Via %q: %d", text, res.StatusCode)
			}
		}
	}
	if lines := log.Taken(); lines != "" {
		t.Errorf("the log has %s", lines)
	}
}

// TestClientMistakes: whatever byte a client puts where, the answer is not 5xx, and the log has no error.
func TestClientMistakes(t *testing.T) {
	t.Parallel()
	w, log := newLogged(t, says("old"), func(o *proxy.Options) { o.Upstream.Methods = []string{"POST"} })
	for _, format := range []string{
		"GET /old%s HTTP/1.1\r\nHost: x\r\n", "GET /old%sx HTTP/1.1\r\nHost: x\r\n",
		"GET /old?a=%s&b HTTP/1.1\r\nHost: x\r\n", "GET /old?%s HTTP/1.1\r\nHost: x\r\n",
		"GET /old HTTP/1.1\r\nHost: x\r\nX-A: a%sb\r\n", "GET /old HTTP/1.1\r\nHost: x\r\nX-A%s: b\r\n",
		"GET /old HTTP/1.1\r\nHost: x%sy\r\n", "GET /old HTTP/1.1\r\nHost: x\r\nVia: 1.1 %s\r\n",
		"GET http://x%sy/old HTTP/1.1\r\nHost: x\r\n", "GET http://x%s/old HTTP/1.1\r\nHost: x\r\n",
		"GET http:/%s/old HTTP/1.1\r\nHost: x\r\n", "GET http://a%s@x/old HTTP/1.1\r\nHost: x\r\n",
		"GET /old HTTP/1.1\r\nHost: x\r\nConnection: %s\r\n", "GET /old HTTP/1.1\r\nHost: x\r\nCookie: a=%s\r\n",
		"GET /old HTTP/1.1\r\nHost: x\r\nRange: bytes=%s\r\n",
		"POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Type: %s\r\n",
		"GET /old HTTP/1.1\r\nHost: x\r\nX-Forwarded-Host: %s\r\n",
		"GET /old HTTP/1.1\r\nHost: x\r\nUser-Agent: %s\r\n",
	} {
		texts := []string{"", "%", "%41", "%00", "%zz", "%0d%0a", "//", "..", "é", "\u2028",
			strings.Repeat("x", 5000)}
		for b := range 256 {
			texts = append(texts, string([]byte{byte(b)}))
		}
		for _, text := range texts {
			request := fmt.Sprintf(format, text)
			conn := w.Dial()
			w.Write(conn, request+"Connection: close\r\n\r\nx")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil && (errors.Is(err, io.EOF) || errors.Is(err,
				io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset")) {
				conn.Close()
				continue
			}
			if err != nil || res.StatusCode >= 500 {
				t.Errorf("%q: %v %v", request, res, err)
			}
			conn.Close()
			if lines := log.Taken(); strings.Contains(lines, "level=ERROR") || strings.Contains(lines, "level=WARN") {
				t.Errorf("%q: the log has %s", request, lines)
			}
		}
	}
}

// TestClientAddresses: no field in which some server or network names a client goes on as the client wrote it.
func TestClientAddresses(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, says("old"), func(o *proxy.Options) {
		o.Auth.Client = auth.ClientOptions{Header: "X-Visitor",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	})
	for _, name := range []string{
		"Client-IP", "True-Client-IP", "X-Client-IP", "CF-Connecting-IP", "CF-Connecting-IPv6", "CF-Pseudo-IPv4",
		"X-Cluster-Client-IP",
		"Fastly-Client-IP", "X-Real-IP", "X-Remote-IP", "X-Remote-Addr", "Remote-Addr", "X-Originating-IP",
		"X-ProxyUser-Ip", "X-Azure-ClientIP", "X-Azure-SocketIP",
		"X-Appengine-User-IP", "X-Envoy-External-Address", "WL-Proxy-Client-IP", "Proxy-Client-IP", "X-Forwarded",
		"Forwarded-For", "Forwarded-For-Ip", "X-Forwarded-For",
		"X-Forwarded-For-Original", "X-Original-Forwarded-For", "X-Original-Remote-Addr", "X-Coming-From",
		"Client_IP", "X_REAL_IP", "X.Real.IP", "X!Client~IP", "Forwarded", "X-Visitor", "X-NS-Client-IP",
		"Ali-CDN-Real-IP", "CDN-Src-IP",
		"CDN-Real-IP", "X-Source-IP",
		"X-Original-URL", "X-Original-URI", "X-Original-Path", "X-Rewrite-URL", "X-Envoy-Original-Path",
		"X-Waws-Unencoded-Url", "X-Forwarded-Prefix", "X-Script-Name", "X-HTTP-Path-Override", "X-Override-URL",
		"X-Accel-Redirect", "X-Host",
	} {
		w.get("/old", name, "192.0.2.66")
		r, _ := w.request()
		for got, lines := range r.Header {
			own := name == "X-Visitor" && (got == "X-Forwarded-For" || got == "Forwarded")
			if !own && strings.Contains(fmt.Sprint(lines), "192.0.2.66") {
				t.Errorf("%s arrives as %s: %q", name, got, lines)
			}
		}
	}
	for _, name := range []string{"X-Ship", "X-Own", "Accept", "X-Tulip", "X-Clip", "X-Email-Address",
		"X-Requested-With"} {
		w.get("/old", name, "text/html")
		if r, _ := w.request(); r.Header.Get(name) != "text/html" {
			t.Errorf("%s is lost", name)
		}
	}
}

// TestBrokenAnswers: an answer that breaks off has no end for the client either, and its connection closes.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300_000)
	for name, answer := range map[string]string{
		"of a length":       "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc\x00",
		"soon, of a length": "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc\x00",
		"long, of a length": "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + long + "\x00",
		"of chunks":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n\x00",
		"within a chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30\r\nabc\x00",
		"long, of chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n" + long +
			"\r\n3\r\n\x00",
		"a bad chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n\x00",
		"without a first byte": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n\x00",
		"no chunk":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\x00",
	} {
		for _, more := range []string{"", "Cookie: a=b\r\n"} {
			t.Run(name, func(t *testing.T) {
				old := newRawServer(t, func(string) string { return answer })
				w := old.before(t, nil)
				conn := w.Dial()
				w.Write(conn, "GET /old HTTP/1.1\r\nHost: x\r\n"+more+"\r\n")
				r := bufio.NewReader(conn)
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatalf("no answer: %v", err)
				}
				body, err := io.ReadAll(res.Body)
				if res.StatusCode == http.StatusBadGateway && err == nil {
					return // it broke off before anything was sent
				}
				if err == nil {
					t.Errorf("%d with the whole of %d bytes", res.StatusCode, len(body))
				}
				if rest, _ := io.ReadAll(r); len(rest) > 0 { // it ends, since the connection closes
					t.Errorf("the connection goes on: %q", rest)
				}
			})
		}
	}
}

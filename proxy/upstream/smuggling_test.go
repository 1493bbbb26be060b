package upstream_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy"
)

// TestSmuggling: what could be read as another request on the way is refused, or reaches the other server as the one
// that was asked for. No bytes of a body become a request.
func TestSmuggling(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Cache-Control", fresh)
		fmt.Fprint(rw, r.Method, " ", r.RequestURI, " of ", r.Header.Get("X-Forwarded-Host"))
	}, func(o *proxy.UpstreamOptions) { o.Methods = []string{"POST"} })
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		body    string
	}{
		"length and chunks": {
			"POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
				smuggled, 400, ""},
		"chunks and length": {
			"POST /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 40\r\n\r\n0\r\n\r\n" +
				smuggled, 400, ""},
		"two codings": {
			"POST /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: " +
				"identity\r\n\r\n0\r\n\r\n" + smuggled, 400, ""},
		"a coding with a tab": {
			"POST /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\tchunked, x\r\n\r\n0\r\n\r\n" + smuggled, 400, ""},
		"a blank before the colon": {"POST /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" +
			smuggled, 400, ""},
		"a folded header": {"GET /old HTTP/1.1\r\nHost: x\r\nX-A: b\r\n Transfer-Encoding: chunked\r\n\r\n" +
			smuggled, 400, ""},
		"a bare line feed": {"GET /old HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n" + smuggled, 400, ""},
		"a bare carriage return": {"GET /old HTTP/1.1\r\nHost: x\r\nX-A: b\rTransfer-Encoding: chunked\r\n\r\n" +
			smuggled, 400, ""},
		"two hosts": {"GET /old HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + smuggled, 400, ""},
		"two lengths": {
			"POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 0\r\n\r\n" + smuggled, 400, ""},
		"a list of lengths": {"POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc" + smuggled,
			400, ""},
		"a signed length": {"POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc" + smuggled, 400,
			""},
		"a length of the hop": {
			"POST /old HTTP/1.1\r\nHost: x\r\nConnection: Content-Length, Host, " +
				"X-Forwarded-Host\r\nContent-Length: 35\r\n\r\n" + smuggled, 200, "POST /old of x"},
		"a body of GET": {"GET /old HTTP/1.1\r\nHost: x\r\nContent-Length: 35\r\n\r\n" + smuggled, 400,
			""},
		"chunks of GET": {"GET /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n23\r\n" + smuggled +
			"\r\n0\r\n\r\n", 400, ""},
		"a body of HEAD": {"HEAD /old HTTP/1.1\r\nHost: x\r\nContent-Length: 35\r\n\r\n" + smuggled, 400, ""},
		"no chunk of GET": {"GET /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
			400, ""},
		"a broken chunk": {
			"POST /old HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n" + smuggled,
			400, ""},
		"the absolute form":        {"GET http://y/old HTTP/1.1\r\nHost: y\r\n\r\n", 200, "GET /old of y"},
		"the form of another host": {"GET http://z/old HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /old of z"},
		"another scheme":           {"GET https://x/old HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /old of x"},
		"the form of a proxy":      {"CONNECT y:80 HTTP/1.1\r\nHost: y:80\r\n\r\n", 404, ""},
		"the form of a server":     {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, ""},
		"a user in the host":       {"GET /old HTTP/1.1\r\nHost: x@y\r\n\r\n", 400, ""},
		"a line in the path": {"GET /old%0d%0aX-A:b HTTP/1.1\r\nHost: x\r\n\r\n", 200,
			"GET /old%0d%0aX-A:b of x"},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.asked.Load()
			res, rest := w.Exchange(t, c.request)
			if res.Response == nil {
				t.Fatal("no response")
			}
			if res.StatusCode != c.status || c.body != "" && string(res.Body) != c.body {
				t.Errorf("%d %q", res.StatusCode, res.Body)
			}
			if n := w.asked.Load() - before; strings.Contains(rest, "HTTP/1.1") || n > 1 ||
				n == 1 && c.status != 200 {
				t.Errorf("%d requests reach the other server, and the client gets more: %q", n, rest)
			}
			if body := w.get("/old").body; body != "GET /old of "+w.Addr {
				t.Errorf("others get %q", body)
			}
		})
	}
}

package upstream_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestSlowBodies: bodies of requests are in the in-flight budget, arriving or forwarded.
func TestSlowBodies(t *testing.T) {
	const clients, size = 40, 1 << 20
	release := make(chan struct{})
	w := newWorldWith(t, hangs(release, says("x")), func(o *proxy.Options) {
		o.Upstream.Methods, o.Cache.InFlight = []string{"POST"}, 3*8<<20
	})
	before := proxytest.Memory()
	var conns []net.Conn
	for i := range clients {
		conn := w.DialFrom("127.0.0.2")
		w.Write(conn, fmt.Sprintf("POST /hang?%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\nx", i, size))
		conns = append(conns, conn)
	}
	refused := 0
	proxytest.Until(t, "some are refused", func() bool {
		refused = 0
		return w.Metric("vitrine_results_in_flight_bytes") >= 4*size
	})
	if grown := proxytest.Memory() - before; grown > 20<<20 {
		t.Errorf("%d bodies take %d MB", clients, grown>>20)
	}
	if res := w.get("/old"); res.StatusCode != http.StatusOK {
		t.Errorf("another request: %d", res.StatusCode)
	}
	close(release)
	for _, conn := range conns {
		_, _ = io.WriteString(conn, strings.Repeat("x", size-1)) // fails for those that are refused
		if w.answered(conn).StatusCode == http.StatusServiceUnavailable {
			refused++
		}
	}
	if refused != clients-4 {
		t.Errorf("%d of %d are refused", refused, clients)
	}
	if res := w.ask("POST", "/old", strings.Repeat("x", size)); res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", res.StatusCode)
	}
}

// TestLongHeads: long heads of requests that wait for the other server are in the in-flight budget.
func TestLongHeads(t *testing.T) {
	const clients, size = 200, 60_000
	release := make(chan struct{})
	w := newWorldWith(t, hangs(release, says("x")), func(o *proxy.Options) { o.Cache.InFlight = 3 * 8 << 20 })
	before := proxytest.Memory()
	var conns []net.Conn
	for i := range clients {
		conns = append(conns, w.send("127.0.0.2", fmt.Sprint("/hang?", i, strings.Repeat("x", size))))
	}
	taken := 0
	proxytest.Until(t, "the budget is used up", func() bool {
		taken = w.Metric("vitrine_results_in_flight_bytes")
		return taken > 8<<20-4*2*size
	})
	if grown := proxytest.Memory() - before; grown > 30<<20 || taken > 8<<20 {
		t.Errorf("%d requests take %d MB, %d kB of them in flight", clients, grown>>20, taken>>10)
	}
	if res := w.get("/old"); res.StatusCode != http.StatusOK {
		t.Errorf("another request: %d", res.StatusCode)
	}
	close(release)
	refused := 0
	for _, conn := range conns {
		if w.answered(conn).StatusCode == http.StatusServiceUnavailable {
			refused++
		}
	}
	if refused < clients/2 {
		t.Errorf("%d of %d are refused", refused, clients)
	}
}

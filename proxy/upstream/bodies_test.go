package upstream_test

import (
	"fmt"
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
	all, refused := w.replies(conns), map[int]bool{}
	for range clients - 4 {
		r := <-all
		if refused[r.conn] = true; r.status != http.StatusServiceUnavailable {
			t.Errorf("without room: %d", r.status)
		}
	}
	if taken := w.Metric("vitrine_results_in_flight_bytes"); taken < 4*size {
		t.Errorf("%d bytes of 4 bodies are in flight", taken)
	}
	if grown := proxytest.Memory() - before; grown > 20<<20 {
		t.Errorf("%d bodies take %d MB", clients, grown>>20)
	}
	if res := w.get("/old"); res.StatusCode != http.StatusOK {
		t.Errorf("another request: %d", res.StatusCode)
	}
	close(release)
	for i, conn := range conns { // one after the other: a body takes as much again while it is forwarded
		if refused[i] {
			continue
		}
		w.Write(conn, strings.Repeat("x", size-1))
		if r := <-all; r.status != http.StatusOK {
			t.Errorf("with room: %d", r.status)
		}
	}
	w.nothingInFlight()
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
	all := w.replies(conns)
	for range clients / 2 {
		if r := <-all; r.status != http.StatusServiceUnavailable {
			t.Errorf("without room: %d", r.status)
		}
	}
	taken := w.Metric("vitrine_results_in_flight_bytes")
	if grown := proxytest.Memory() - before; grown > 30<<20 || taken > 8<<20 || taken < 8<<20-4*2*size {
		t.Errorf("%d requests take %d MB, %d kB of them in flight", clients, grown>>20, taken>>10)
	}
	if res := w.get("/old"); res.StatusCode != http.StatusOK {
		t.Errorf("another request: %d", res.StatusCode)
	}
	close(release)
	for range clients - clients/2 {
		if r := <-all; r.status != http.StatusOK && r.status != http.StatusServiceUnavailable {
			t.Errorf("afterwards: %d", r.status)
		}
	}
}

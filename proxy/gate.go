package proxy

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/result"
)

// gate is a listener that bounds what connections cost: how many there are at a
// time, in all and of one client, and, by what it makes of them (conn), how much
// memory each holds and for how long.
type gate struct {
	net.Listener
	read  time.Duration // to receive a request; 0 or less: no limit
	write time.Duration // without a byte of an answer taken; 0 or less: no limit
	ahead int           // bytes of a header that are gathered
	most  int           // connections at a time; 0 or less: no limit
	each  int           // of one client; 0 or less: no limit

	exempt   func(netip.Addr) bool // from each
	inFlight *result.InFlight      // answers that wait to be sent
	log      *slog.Logger
	open     prometheus.Gauge
	refused  prometheus.Counter

	mu     sync.Mutex           // guards the rest
	count  int                  // connections
	of     map[netip.Prefix]int // connections of each client
	silent map[*conn]struct{}   // those that no byte has come from yet
	closed bool                 // the listener is
}

// lastCall is how long a connection may still be without a byte when the server is to
// end: what was sent already is on its way.
const lastCall = 500 * time.Millisecond

// newGate returns a gate with the server's limits before a listener.
func (s *Server) newGate(ln net.Listener) *gate {
	return &gate{
		Listener: ln, read: s.limits.Read, write: s.limits.Write, ahead: s.limits.URLBytes + headerRoom,
		most: s.limits.Concurrency, each: s.limits.ClientConnections,
		exempt: s.proxies, inFlight: s.results.InFlight(), log: s.log, open: s.metrics.connections, refused: s.metrics.refused,
		of: map[netip.Prefix]int{}, silent: map[*conn]struct{}{},
	}
}

// proxies reports whether an address is that of a proxy, who brings many clients.
func (s *Server) proxies(addr netip.Addr) bool {
	return s.clients.trusts(addr) || within(s.sessions.options.TrustedProxies, addr)
}

// crowded is the answer to a connection too many.
var crowded = func() []byte {
	body := failure(503, unavailable, "Too many connections. Try again in a moment.")
	return append([]byte("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nCache-Control: no-store\r\nContent-Type: "+
		contentType+"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}()

// Accept waits for the next connection that may be served. Those beyond the limits
// are told so and closed.
func (g *gate) Accept() (net.Conn, error) {
	pause := time.Duration(0)
	for {
		raw, err := g.Listener.Accept()
		switch {
		case passing(err):
			// Out of descriptors, for one: the listener is well, and whoever has some gives
			// them back in time. To give up would end the service.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			g.log.Warn("connections cannot be accepted", "error", err, "retry", pause)
			time.Sleep(pause)
			continue
		case err != nil:
			return nil, err
		}
		pause = 0
		if c := g.admit(raw); c != nil {
			return c, nil
		}
		g.refused.Inc()
		// A new connection has room for so little: this does not wait.
		_ = raw.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = raw.Write(crowded)
		_ = raw.Close()
	}
}

// passing reports whether the next Accept may well succeed.
func passing(err error) bool {
	for _, kind := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// admit counts a connection, or returns nil if there are too many.
func (g *gate) admit(raw net.Conn) *conn {
	c := &conn{Conn: raw, gate: g}
	addr := addrOf(raw.RemoteAddr())
	if g.each > 0 && !g.exempt(addr) {
		c.client = clientOf(addr)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most > 0 && g.count >= g.most || c.client.IsValid() && g.of[c.client] >= g.each {
		return nil
	}
	g.count++
	if c.client.IsValid() {
		g.of[c.client]++
	}
	g.open.Inc()
	g.silent[c] = struct{}{}
	boundUnsent(raw)
	if g.read > 0 {
		_ = raw.SetReadDeadline(time.Now().Add(g.read)) // fails where the connection is gone, which reading tells
	}
	return c
}

// heard is told of a connection's first byte.
func (g *gate) heard(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.silent, c)
}

// Close implements net.Listener. The server closes connections that wait for their
// next request; those that wait for their first would hold up its end, some for a
// request that never comes.
func (g *gate) Close() error {
	err := g.Listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.silent {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lastCall)) // fails where it is gone
	}
	return err
}

// ending reports whether the listener is closed.
func (g *gate) ending() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// left counts a connection that has ended.
func (g *gate) left(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.silent, c)
	g.count--
	g.open.Dec()
	if !c.client.IsValid() {
		return
	}
	if g.of[c.client]--; g.of[c.client] == 0 {
		delete(g.of, c.client)
	}
}

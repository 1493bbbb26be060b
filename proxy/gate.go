package proxy

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/result"
)

// gate stands before a listener and bounds what connections cost: how many there are at
// a time, in all and of one client, and, by what it makes of them (conn), how much
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
	evicted  prometheus.Counter

	closed atomic.Bool // the listener is

	mu    sync.Mutex           // guards the rest
	conns map[*conn]struct{}   // that are open
	of    map[netip.Prefix]int // how many of them each client has
}

// lastCall is how long a connection may still be without a byte when the server is to
// end: what was sent already is on its way.
const lastCall = 500 * time.Millisecond

// newGate returns a gate with the server's limits before a listener.
func (s *Server) newGate(ln net.Listener) *gate {
	most := connectionsWithin(s.limits.Concurrency, openFiles())
	if most < s.limits.Concurrency {
		s.log.Warn("fewer connections than limits.concurrency: the process may not open more files", "connections", most, "concurrency", s.limits.Concurrency)
	}
	return &gate{
		Listener: ln, read: s.limits.Read, write: s.limits.Write, ahead: s.limits.URLBytes + headerRoom,
		most: most, each: s.limits.ClientConnections,
		exempt: s.proxies, inFlight: s.results.InFlight(), log: s.log,
		open: s.metrics.connections, refused: s.metrics.refused, evicted: s.metrics.evicted,
		conns: map[*conn]struct{}{}, of: map[netip.Prefix]int{},
	}
}

// connectionsWithin is how many connections may be open at a time where the process may
// have a number of files open, 0: any. A tenth of them, and at least 64, is left to the
// store, files and logs. Both at 0 or less: no limit.
func connectionsWithin(wanted int, files uint64) int {
	if files == 0 || files >= mostServed {
		return wanted
	}
	most := max(int(files-min(files, max(files/10, 64))), 1)
	if wanted > 0 {
		return min(wanted, most)
	}
	return most
}

// proxies reports whether an address is that of a proxy, who brings many clients.
func (s *Server) proxies(addr netip.Addr) bool {
	return s.clients.trusts(addr) || within(s.sessions.options.TrustedProxies, addr)
}

// crowded is the answer to a connection too many.
var crowded = lastWords(http.StatusServiceUnavailable, unavailable, "Too many connections. Try again in a moment.", "Retry-After: 1\r\n")

// lastWords is an answer with which a connection ends, as it is sent.
func lastWords(status int, name, msg, headers string) []byte {
	body := failure(status, name, msg)
	return append([]byte("HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Type: "+
		contentType+"\r\n"+headers+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}

// next waits for the next connection that may be served. Those beyond the limits
// are told so and closed.
func (g *gate) next() (*conn, error) {
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

// admit counts a connection, or returns nil if there are too many. At the limit of all,
// idle ones make room.
func (g *gate) admit(raw net.Conn) *conn {
	c := &conn{Conn: raw, gate: g}
	addr := addrOf(raw.RemoteAddr())
	if !g.exempt(addr) {
		c.client = clientOf(addr)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.each > 0 && c.client.IsValid() && g.of[c.client] >= g.each {
		return nil
	}
	if g.most > 0 && len(g.conns) >= g.most && !g.evictLocked() {
		return nil
	}
	g.conns[c] = struct{}{}
	if c.client.IsValid() {
		g.of[c.client]++
	}
	g.open.Inc()
	boundUnsent(raw)
	c.idle.Store(time.Now().UnixNano())
	if g.read > 0 {
		_ = raw.SetReadDeadline(time.Now().Add(g.read)) // fails where the connection is gone, which reading tells
	}
	return c
}

// evictLocked closes idle connections, and reports whether there were any: those of the
// client with the most, the longest idle first. Proxies' come last. It closes a
// hundredth of the limit at a time, since it looks at every connection.
func (g *gate) evictLocked() bool {
	type candidate struct {
		*conn
		since int64
	}
	var idle []candidate
	for c := range g.conns {
		if since := c.idle.Load(); since > 0 {
			idle = append(idle, candidate{c, since})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(g.of[b.client], g.of[a.client]), cmp.Compare(a.since, b.since))
	})
	found := false
	for _, c := range idle[:min(len(idle), max(g.most/100, 1))] {
		if c.idle.CompareAndSwap(c.since, 0) { // no request has begun meanwhile
			found = true
			g.evicted.Inc()
			g.leftLocked(c.conn)
			_ = c.Conn.Close()
		}
	}
	return found
}

// Close implements net.Listener. Connections that wait for their next request are
// closed; those that wait for their first have a last call, since what was sent already
// is on its way.
func (g *gate) Close() error {
	err := g.Listener.Close()
	g.closed.Store(true)
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		switch since := c.idle.Load(); {
		case since == 0:
		case !c.heard.Load():
			_ = c.Conn.SetReadDeadline(time.Now().Add(lastCall)) // fails where it is gone
		case c.idle.CompareAndSwap(since, 0):
			_ = c.Conn.Close()
		}
	}
	return err
}

// cut closes every connection and returns how many there were.
func (g *gate) cut() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		_ = c.Conn.Close()
	}
	return len(g.conns)
}

// left counts a connection that has ended.
func (g *gate) left(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leftLocked(c)
}

func (g *gate) leftLocked(c *conn) {
	if _, ok := g.conns[c]; !ok {
		return
	}
	delete(g.conns, c)
	g.open.Dec()
	if !c.client.IsValid() {
		return
	}
	if g.of[c.client]--; g.of[c.client] == 0 {
		delete(g.of, c.client)
	}
}

package listener

import (
	"cmp"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Listener stands before a listener and bounds what connections cost: how many there are at
// a time, in all and of one client, and, by what it makes of them (Conn), how much
// memory each holds and for how long.
type Listener struct {
	net.Listener
	read  time.Duration // to receive a request; 0 or less: no limit
	write time.Duration // without a byte of an answer taken; 0 or less: no limit
	ahead int           // bytes of a header that are gathered
	most  int           // connections at a time; 0 or less: no limit
	each  int           // of one client; 0 or less: no limit

	busy     []byte
	of       func(net.Addr) netip.Prefix
	inFlight Memory
	log      *slog.Logger
	open     prometheus.Gauge
	refused  prometheus.Counter
	evicted  prometheus.Counter

	closed atomic.Bool // the listener is

	mu    sync.Mutex           // guards the rest
	conns map[*Conn]struct{}   // that are open
	per   map[netip.Prefix]int // how many of them each client has
}

// lastCall is how long a connection may still be without a byte when the server is to
// end: what was sent already is on its way.
const lastCall = 500 * time.Millisecond

// Memory is what responses in flight take; *result.InFlight is one.
type Memory interface {
	Add(bytes int64)
	Short() bool // too little is left for whole responses
}

// HeaderRoom is how many bytes of headers a request may have beside its URL.
const HeaderRoom = 16 << 10

// MostServed is to be the HTTP server's own limit of connections, which Options.MaxConns
// keeps from being reached.
const MostServed = 1 << 20

// Options configures a Listener. Every field is needed.
type Options struct {
	Read         time.Duration // to receive a request; 0 or less: no limit
	Write        time.Duration // without a byte of an answer taken; 0 or less: no limit
	HeaderBytes  int           // of a request, its URL included
	MaxConns     int           // connections at a time; 0 or less: no limit
	MaxPerClient int           // of one client; 0 or less: no limit

	Busy     []byte                      // the response to a connection beyond the limits
	Client   func(net.Addr) netip.Prefix // whose a connection is; zero: MaxPerClient does not count it
	InFlight Memory
	Logger   *slog.Logger

	Open             prometheus.Gauge
	Refused, Evicted prometheus.Counter
}

// New returns a Listener before ln.
func New(ln net.Listener, o Options) *Listener {
	most := connectionsWithin(o.MaxConns, openFiles())
	if most < o.MaxConns {
		o.Logger.Warn("fewer connections than limits.concurrency: the process may not open more files", "connections", most, "concurrency", o.MaxConns)
	}
	return &Listener{
		Listener: ln, read: o.Read, write: o.Write, ahead: o.HeaderBytes, most: most, each: o.MaxPerClient,
		busy: o.Busy, of: o.Client, inFlight: o.InFlight, log: o.Logger,
		open: o.Open, refused: o.Refused, evicted: o.Evicted,
		conns: map[*Conn]struct{}{}, per: map[netip.Prefix]int{},
	}
}

// connectionsWithin is how many connections may be open at a time where the process may
// have a number of files open, 0: any. A tenth of them, and at least 64, is left to the
// store, files and logs. Both at 0 or less: no limit.
func connectionsWithin(wanted int, files uint64) int {
	if files == 0 || files >= MostServed {
		return wanted
	}
	most := max(int(files-min(files, max(files/10, 64))), 1)
	if wanted > 0 {
		return min(wanted, most)
	}
	return most
}

// Next waits for the next connection that may be served. Those beyond the limits
// are told so and closed.
func (g *Listener) Next() (*Conn, error) {
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
		_, _ = raw.Write(g.busy)
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
func (g *Listener) admit(raw net.Conn) *Conn {
	c := &Conn{Conn: raw, gate: g, client: g.of(raw.RemoteAddr())}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.each > 0 && c.client.IsValid() && g.per[c.client] >= g.each {
		return nil
	}
	if g.most > 0 && len(g.conns) >= g.most && !g.evictLocked() {
		return nil
	}
	g.conns[c] = struct{}{}
	if c.client.IsValid() {
		g.per[c.client]++
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
func (g *Listener) evictLocked() bool {
	type candidate struct {
		conn  *Conn
		since int64
	}
	var idle []candidate
	for c := range g.conns {
		if since := c.idle.Load(); since > 0 {
			idle = append(idle, candidate{c, since})
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(g.per[b.conn.client], g.per[a.conn.client]), cmp.Compare(a.since, b.since))
	})
	found := false
	for _, c := range idle[:min(len(idle), max(g.most/100, 1))] {
		if c.conn.idle.CompareAndSwap(c.since, 0) { // no request has begun meanwhile
			found = true
			g.evicted.Inc()
			g.leftLocked(c.conn)
			_ = c.conn.Conn.Close()
		}
	}
	return found
}

// Close implements net.Listener. Connections that wait for their next request are
// closed; those that wait for their first have a last call, since what was sent already
// is on its way.
func (g *Listener) Close() error {
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

// Cut closes every connection and returns how many there were.
func (g *Listener) Cut() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		_ = c.Conn.Close()
	}
	return len(g.conns)
}

// left counts a connection that has ended.
func (g *Listener) left(c *Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leftLocked(c)
}

func (g *Listener) leftLocked(c *Conn) {
	if _, ok := g.conns[c]; !ok {
		return
	}
	delete(g.conns, c)
	g.open.Dec()
	if !c.client.IsValid() {
		return
	}
	if g.per[c.client]--; g.per[c.client] == 0 {
		delete(g.per, c.client)
	}
}

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

// Listener bounds what the connections of a listener cost: how many there are at a time,
// in all and of one client, and, by what it makes of them (Conn), how much memory each
// holds and for how long.
type Listener struct {
	net.Listener
	options Options
	closed  atomic.Bool // Close was called

	mu        sync.Mutex           // guards the rest
	conns     map[*Conn]struct{}   // that are open
	perClient map[netip.Prefix]int // how many of them each client has
}

// firstByteGrace is how long a connection may still wait for its first byte when the
// listener closes: what was sent before is on its way.
const firstByteGrace = 500 * time.Millisecond

// Memory is what responses in flight take; *result.InFlight is one.
type Memory interface {
	Acquire(bytes int64)
	Release(bytes int64)
	Short() bool // too little is left for whole responses
}

// HeaderRoom is how many bytes of headers a request may have beside its URL.
const HeaderRoom = 16 << 10

// MostServed is to be the HTTP server's own limit of connections, which Options.MaxConns
// keeps from being reached.
const MostServed = 1 << 20

// Options configures a Listener. Every field is needed.
type Options struct {
	// Time limits; 0 or less: none.
	Read  time.Duration // to the first byte, then to the end of a header, then to the end of a body
	Idle  time.Duration // without a request
	Write time.Duration // without a byte of an answer taken
	Send  time.Duration // to send an answer

	HeaderBytes  int // of a request, its URL included
	MaxConns     int // connections at a time; 0 or less: no limit
	MaxPerClient int // of one client; 0 or less: no limit

	Busy     []byte                      // the response to a connection beyond the limits
	Client   func(net.Addr) netip.Prefix // whose a connection is; zero: MaxPerClient does not count it
	InFlight Memory
	Logger   *slog.Logger

	Open             prometheus.Gauge
	Refused, Evicted prometheus.Counter
}

// New returns a Listener that accepts the connections of ln.
func New(ln net.Listener, o Options) *Listener {
	limit := connectionsWithin(o.MaxConns, openFiles())
	if limit < o.MaxConns {
		o.Logger.Warn("the process may not open enough files for all connections", "connections", limit, "wanted", o.MaxConns)
	}
	o.MaxConns = limit
	return &Listener{Listener: ln, options: o, conns: map[*Conn]struct{}{}, perClient: map[netip.Prefix]int{}}
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

// Accept waits for the next connection within the limits. Those beyond them get
// Options.Busy and are closed.
func (l *Listener) Accept() (*Conn, error) {
	pause := time.Duration(0)
	for {
		raw, err := l.Listener.Accept()
		switch {
		case temporary(err):
			// Too few file descriptors, for example: others will be closed. To return would end the service.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			l.options.Logger.Warn("connections cannot be accepted", "error", err, "retry", pause)
			time.Sleep(pause)
			continue
		case err != nil:
			return nil, err
		}
		pause = 0
		if c := l.admit(raw); c != nil {
			return c, nil
		}
		l.options.Refused.Inc()
		// A new connection has room for these few bytes: Write does not wait.
		_ = raw.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = raw.Write(l.options.Busy)
		_ = raw.Close()
	}
}

// temporary reports whether an error of Accept goes away by itself.
func temporary(err error) bool {
	kinds := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// admit counts a connection, or returns nil if there are too many. At MaxConns idle
// connections are closed to make room.
func (l *Listener) admit(raw net.Conn) *Conn {
	c := &Conn{Conn: raw, listener: l, client: l.options.Client(raw.RemoteAddr())}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.options.MaxPerClient > 0 && c.client.IsValid() && l.perClient[c.client] >= l.options.MaxPerClient {
		return nil
	}
	if l.options.MaxConns > 0 && len(l.conns) >= l.options.MaxConns && !l.evictLocked() {
		return nil
	}
	l.conns[c] = struct{}{}
	if c.client.IsValid() {
		l.perClient[c.client]++
	}
	l.options.Open.Inc()
	boundUnsent(raw)
	c.idle.Store(time.Now().UnixNano())
	if l.options.Read > 0 {
		_ = raw.SetReadDeadline(time.Now().Add(l.options.Read)) // fails where the connection is closed; the next Read reports that
	}
	return c
}

// evictLocked closes connections that are idle or wait for their client in the middle of a
// request, and reports whether there were any: those of the
// client with the most, the longest waiting first; those of proxies come last. It closes a
// hundredth of the limit at a time, because it looks at every connection.
func (l *Listener) evictLocked() bool {
	type candidate struct {
		conn  *Conn
		state *atomic.Int64
		since int64
	}
	var idle []candidate
	for c := range l.conns {
		for _, state := range [...]*atomic.Int64{&c.idle, &c.waiting} {
			if since := state.Load(); since > 0 {
				idle = append(idle, candidate{c, state, since})
			}
		}
	}
	slices.SortFunc(idle, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(l.perClient[b.conn.client], l.perClient[a.conn.client]), cmp.Compare(a.since, b.since))
	})
	found := false
	for _, c := range idle[:min(len(idle), max(l.options.MaxConns/100, 1))] {
		if c.state.CompareAndSwap(c.since, 0) { // nothing has arrived or been read meanwhile
			found = true
			l.options.Evicted.Inc()
			l.removeLocked(c.conn)
			_ = c.conn.Conn.Close()
		}
	}
	return found
}

// Close implements net.Listener. Connections that wait for their next request are
// closed; those that wait for their first byte have firstByteGrace.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	l.closed.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		switch since := c.idle.Load(); {
		case since == 0:
		case !c.started.Load():
			_ = c.Conn.SetReadDeadline(time.Now().Add(firstByteGrace)) // fails where it is gone
		case c.idle.CompareAndSwap(since, 0):
			_ = c.Conn.Close()
		}
	}
	return err
}

// CloseAll closes every connection and returns how many there were.
func (l *Listener) CloseAll() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Conn.Close()
	}
	return len(l.conns)
}

// removeLocked takes a connection that has ended out of the counts.
func (l *Listener) removeLocked(c *Conn) {
	if _, ok := l.conns[c]; !ok {
		return
	}
	delete(l.conns, c)
	l.options.Open.Dec()
	if !c.client.IsValid() {
		return
	}
	if l.perClient[c.client]--; l.perClient[c.client] == 0 {
		delete(l.perClient, c.client)
	}
}

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

// Listener bounds how many connections there are at a time, in all and of one client. Each is a
// Conn, which bounds its memory and its time.
type Listener struct {
	net.Listener
	options Options
	closed  atomic.Bool // Close was called

	mu        sync.Mutex           // guards the rest
	conns     map[*Conn]struct{}   // the open ones
	perClient map[netip.Prefix]int // their number by client
}

// firstByteGrace is how long a connection may wait for its first byte after the listener has
// closed: the byte may be on its way.
const firstByteGrace = 500 * time.Millisecond

// Memory counts the bytes of responses in flight. *result.InFlight implements it.
type Memory interface {
	Acquire(bytes int64)
	Release(bytes int64)
	Short() bool // too little is left for whole responses
}

// HeaderRoom is how many bytes of headers a request may have beside its URL.
const HeaderRoom = 16 << 10

// MostServed is the HTTP server's own limit of connections. It is above any Options.MaxConns.
const MostServed = 1 << 20

// Options configures a Listener. Every field is needed.
type Options struct {
	// Time limits; 0 or less: none.
	Read  time.Duration // to the first byte, then to the end of a header, then to the end of a body
	Idle  time.Duration // without a request
	Write time.Duration // in which the client reads no byte of a response
	Send  time.Duration // to send a response

	HeaderBytes  int // of a request, its URL included
	MaxConns     int // connections at a time; 0 or less: no limit
	MaxPerClient int // of one client; 0 or less: no limit

	Busy     []byte                      // the response to a connection beyond the limits
	Client   func(net.Addr) netip.Prefix // the client of a connection; zero: MaxPerClient does not apply
	InFlight Memory
	Logger   *slog.Logger

	Open             prometheus.Gauge
	Refused, Evicted prometheus.Counter
}

// New returns a Listener that accepts the connections of ln.
func New(ln net.Listener, o Options) *Listener {
	limit := connectionsWithin(o.MaxConns, openFiles())
	if limit < o.MaxConns {
		o.Logger.Warn("the limit on open files leaves fewer connections", "connections", limit, "wanted", o.MaxConns)
	}
	o.MaxConns = limit
	return &Listener{Listener: ln, options: o, conns: map[*Conn]struct{}{}, perClient: map[netip.Prefix]int{}}
}

// connectionsWithin returns the limit on connections of a process that may open so many files;
// 0: any number. It leaves a tenth of them, and at least 64, to the store, files and logs. A limit
// of 0 or less is none.
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

// acceptPause is the time from an error of Accept that goes away by itself to the next try.
const acceptPause = 100 * time.Millisecond

// Accept waits for the next connection within the limits. Connections beyond them get
// Options.Busy and are closed.
func (l *Listener) Accept() (*Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case temporary(err):
			// Too few file descriptors, for example: others will be closed. To return would end the service.
			l.options.Logger.Warn("accept failed", "error", err, "retry", acceptPause)
			time.Sleep(acceptPause)
			continue
		case err != nil:
			return nil, err
		}
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
	c.openSocket()
	c.idle.Store(time.Now().UnixNano())
	if l.options.Read > 0 {
		_ = raw.SetReadDeadline(time.Now().Add(l.options.Read)) // the next Read reports a failure
	}
	return c
}

// evictLocked closes connections that are idle or wait for their client in the middle of a
// request, and reports whether there were any. It begins with the client with the most
// connections, and with the connection that has waited longest; connections of proxies come last.
// It closes a hundredth of the limit at a time, because it visits every connection.
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
		if c.state.CompareAndSwap(c.since, 0) { // it still waits
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
			_ = c.Conn.SetReadDeadline(time.Now().Add(firstByteGrace)) // fails if the client has gone
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

// removeLocked removes a connection that has ended from the counts.
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

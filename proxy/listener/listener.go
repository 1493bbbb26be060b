package listener

import (
	"cmp"
	"errors"
	"fmt"
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

// Listener bounds the number of concurrent connections, in total and per client. Each is a Conn, which bounds its
// memory and its time.
type Listener struct {
	net.Listener
	options Options
	closed  atomic.Bool // Close was called

	mu        sync.Mutex           // guards the rest
	conns     map[*Conn]struct{}   // open connections
	perClient map[netip.Prefix]int // number of open connections by client
}

// firstByteGrace is how long a connection may wait for a byte under way after the listener has closed.
const firstByteGrace = 500 * time.Millisecond

// Memory counts the bytes of responses, and of the bodies of requests, in flight. *result.InFlight implements it.
type Memory interface {
	Acquire(bytes int64)
	Release(bytes int64)
	TryAcquireBody(bytes int64) bool
	ReleaseBody(bytes int64)
	Short() bool // there is too little memory left for whole responses
}

// MaxFields is how many bytes of header fields a request may have in addition to its URL.
const MaxFields = 16 << 10

// MostServed is the HTTP server's own limit of connections. It is above any Options.MaxConns.
const MostServed = 1 << 20

// Options configures a Listener. Every field but Shortcut is required.
type Options struct {
	// Time limits.
	Read  time.Duration // to the first byte, then to the end of a header, then to the end of a body
	Idle  time.Duration // for a connection without a request
	Write time.Duration // during which the client reads no byte of a response
	Send  time.Duration // for sending a response

	HeaderBytes  int // size of a request's header, including its URL
	MaxConns     int // concurrent connections
	MaxPerClient int // connections of one client; 0 or less means no limit

	Busy   []byte                      // the response to a connection beyond the limits
	Client func(net.Addr) netip.Prefix // the client of a connection; zero if MaxPerClient does not apply
	// Shortcut answers a request before the server parses its head, or returns false: the server then answers it. An
	// error ends the connection.
	Shortcut func(c *Conn, head *Head) (answered bool, err error)
	InFlight Memory
	// BodyBytes returns the longest body of a request that the server reads. If it is nil, no memory is reserved
	// for bodies.
	BodyBytes func() int
	Logger    *slog.Logger

	Open             prometheus.Gauge
	Refused, Evicted prometheus.Counter
}

// New returns a Listener that accepts the connections of ln.
func New(ln net.Listener, o Options) *Listener {
	limit := connectionsWithin(o.MaxConns, openFiles())
	if limit < o.MaxConns {
		o.Logger.Warn("the limit on open files reduces the limit on connections", "connections", limit, "wanted",
			o.MaxConns)
	}
	o.MaxConns = limit
	return &Listener{Listener: ln, options: o, conns: map[*Conn]struct{}{}, perClient: map[netip.Prefix]int{}}
}

// reservedFiles is how many open files are at least reserved for the store, files and logs. fewestConns is how many
// connections must be left: a page of a browser opens six, a balancer and a cache in front some dozens.
const reservedFiles, fewestConns = 64, 64

// CheckFiles returns an error if the process may open too few files to be a server. Go has raised the soft limit to
// the hard one by then (package os), therefore only the operator can raise it further.
func CheckFiles() error {
	if files := openFiles(); files != 0 && files < reservedFiles+fewestConns {
		return fmt.Errorf("the limit of %d open files leaves too few for connections: want at least %d "+
			"(ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker)", files, reservedFiles+fewestConns)
	}
	return nil
}

// connectionsWithin returns the limit on connections for a process that may open so many files; 0 for files means
// unknown. It reserves a tenth of the files, and at least reservedFiles.
func connectionsWithin(wanted int, files uint64) int {
	if files == 0 || files >= MostServed {
		return wanted
	}
	return min(wanted, max(int(files-min(files, max(files/10, reservedFiles))), 1))
}

// acceptPause is how long Accept waits after a temporary error.
const acceptPause = 100 * time.Millisecond

// Accept waits for the next connection within the limits. Those beyond get Options.Busy and are closed.
func (l *Listener) Accept() (*Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		switch {
		case temporary(err):
			// For example, there are too few file descriptors, but other connections will close. Returning would stop
			// the service.
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
		// Write does not block: the buffer of a new connection has room for these few bytes. A process that is
		// stopped before Write must still be in time.
		_ = raw.SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = raw.Write(l.options.Busy)
		_ = raw.Close()
	}
}

// temporary reports whether an error of Accept may go away by itself.
func temporary(err error) bool {
	kinds := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// admit counts a connection, or returns nil if there are too many. At MaxConns it closes idle connections to make
// room.
func (l *Listener) admit(raw net.Conn) *Conn {
	c := &Conn{Conn: raw, listener: l, client: l.options.Client(raw.RemoteAddr())}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.options.MaxPerClient > 0 && c.client.IsValid() && l.perClient[c.client] >= l.options.MaxPerClient {
		return nil
	}
	if len(l.conns) >= l.options.MaxConns && !l.evictLocked() {
		return nil
	}
	l.conns[c] = struct{}{}
	if c.client.IsValid() {
		l.perClient[c.client]++
	}
	l.options.Open.Inc()
	c.socket = openSocket(raw)
	c.socket.limitUnsent(minUnsent)
	c.idle.Store(time.Now().UnixNano())
	_ = raw.SetReadDeadline(time.Now().Add(l.options.Read)) // the next Read reports a failure
	return c
}

// evictLocked closes connections that are idle or wait for their client in the middle of a request, and reports
// whether there were any. It begins with the client that has the most connections, and with the connection that has
// waited longest; connections of proxies come last. It closes a hundredth of the limit at a time, because it visits
// every connection.
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
		return cmp.Or(cmp.Compare(l.perClient[b.conn.client], l.perClient[a.conn.client]),
			cmp.Compare(a.since, b.since))
	})
	found := false
	for _, c := range idle[:min(len(idle), max(l.options.MaxConns/100, 1))] {
		if c.state.CompareAndSwap(c.since, 0) { // the connection still waits
			found = true
			l.options.Evicted.Inc()
			l.removeLocked(c.conn)
			_ = c.conn.Conn.Close()
		}
	}
	return found
}

// Close implements net.Listener. It closes connections that wait for their next request; connections that wait for
// their first byte have firstByteGrace.
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

// CloseAll closes every connection and returns their number.
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

package listener

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// headBytes is how much memory an idle connection holds for reading; most requests fit in it.
const headBytes = 2 << 10

// stalledBytes estimates the memory that a connection holds, beside its response and its request, while its client
// does not read: the server's buffers and the goroutine.
const stalledBytes = 48 << 10

// Conn is a connection that waits for requests in little memory. The server's buffer has room for the longest URL; if
// every connection held one, thousands of silent or slow clients would cost a gigabyte. So a Conn first gathers the
// header of a request in memory that grows with it, and passes one header at a time to the server, which frees its
// buffer after every request (ReduceMemoryUsage).
//
// It belongs to one goroutine, but its Listener may close the network connection.
type Conn struct {
	net.Conn
	listener *Listener
	client   netip.Prefix // zero if MaxPerClient does not count the connection
	socket   socket       // zero if there is none or the system is not Linux
	started  atomic.Bool  // a byte has arrived
	idle     atomic.Int64 // since when it has waited for a request, in Unix nanoseconds; 0 while it serves one
	waiting  atomic.Int64 // since when, while serving, it has waited for the client to send or read; 0 otherwise

	Request     *fasthttp.RequestCtx // the argument of Begin, until the connection waits for another request
	BodyRefused bool                 // too little memory was left for the body of the last request
	Repeats     bool                 // for Options.Shortcut, which sets it: the same request came within a second
	Hit         Hit                  // what the response was made from; a handler sets it, if Repeats; nil if unknown
	reservation Reservation          // reservation for the memory of the response; nil if there is none
	onSent      func()               // see OnSent; nil if there is none
	sent        atomic.Bool          // a part of the response was sent
	turn        Turn                 // the turn in which the response is written; nil if there is none
	joins       bool                 // the next write waits in pending, to be sent with the one after it
	reads       bool                 // the client has read some of a long response
	last        *Stream              // follows the last response; nil if none does
	pending     *[]byte              // from writeBuffers; nil if no write waits
	date        string               // replaces the HTTP server's own; empty if it does not
	pieces      [2][]byte            // sent in one system call
	unsent      net.Buffers          // the unsent rest of pieces

	head     []byte // the received bytes
	parsed   *Head  // the head of the last request; nil if it is none, or its memory was freed
	from     int    // offset in head: the server has read the bytes before it
	end      int    // offset in head: the server may read the bytes before it
	longHead int    // size of the last header if it exceeded headBytes, else 0
	tooLong  bool   // the URL of the last request does not fit
	inBody   bool   // the server is reading the body of a request
	body     bodyMemory
	failed   error     // the error that Read returns after head
	until    time.Time // when sending the response must end
	readBy   time.Time // when the next read must end
	reading  deadline
	writing  deadline
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if awaitsRequest(p) {
		for c.gather(); c.shortcut(); {
			c.gather()
		}
	}
	if c.from == c.end && c.from < len(c.head) {
		c.end = len(c.head) // the server is reading a body
	}
	if c.from < c.end {
		n := copy(p, c.head[c.from:c.end])
		if c.from += n; c.from == len(c.head) && len(c.head) > headBytes {
			c.longHead = len(c.head) // the server keeps its own copy until the response is sent
			c.setHead(nil)
			c.head, c.from, c.end = nil, 0, 0
		}
		return n, nil
	}
	if c.failed != nil {
		return 0, c.failed
	}
	now := time.Now()
	if !c.inBody {
		c.inBody, c.readBy = true, now.Add(c.listener.options.Read)
		if c.BodyRefused = !c.body.acquire(c.parsed, c.listener.options); c.BodyRefused {
			return 0, errNoMemory
		}
	}
	if err := c.limitReading(); err != nil {
		return 0, err
	}
	c.waiting.Store(now.UnixNano())
	defer c.waiting.Store(0)
	return c.Conn.Read(p)
}

// gather reads until a whole header has arrived, or Options.HeaderBytes are full, or reading fails.
func (c *Conn) gather() {
	c.responseEnded()
	c.Request, c.turn, c.date, c.Repeats, c.Hit = nil, nil, "", false, nil
	c.Join(false)
	c.setHead(nil)
	c.rewind()
	c.sent.Store(false)
	c.inBody, c.BodyRefused = false, false
	now, patience := time.Now(), c.listener.options.Read
	if c.started.Load() {
		patience = c.listener.options.Idle
		if len(c.head) == 0 {
			c.idle.Store(now.UnixNano())
			if c.listener.closed.Load() {
				c.failed = io.EOF
			}
		}
	}
	c.readBy = now.Add(patience)
	defer c.idle.Store(0)
	searched, begun := 0, false
	for c.failed == nil {
		for bytes.HasPrefix(c.head, []byte("\r\n")) { // skip empty lines, which some clients send after a body
			c.head = append(c.head[:0], c.head[len("\r\n"):]...)
		}
		end, whole := headerEnd(c.head, searched)
		switch {
		case whole:
			c.end = end
			c.setHead(c.head[:end])
			return
		case end > 0: // the rest is not read
			c.head, c.failed = c.head[:end], errNoHTTP
			if end == 1 {
				c.head[0] = 0 // make the server refuse the line feed, which it would skip
			}
		case len(c.head) >= c.listener.options.HeaderBytes:
			c.tooLong = c.tooLong || bytes.IndexByte(c.head, '\n') < 0
			c.end = len(c.head)
			return
		default:
			if !begun && len(c.head) > 0 && string(c.head) != "\r" {
				// from now on the client has Options.Read to finish the header
				begun, c.readBy = true, time.Now().Add(c.listener.options.Read)
				if c.head[0] <= ' ' || c.head[0] >= 0x7f {
					c.failed = errNoHTTP
					continue
				}
			}
			searched = max(len(c.head)-3, 0)
			c.more()
		}
	}
	c.end = len(c.head)
}

// shortcut reports whether Options.Shortcut has answered the request whose head was gathered.
func (c *Conn) shortcut() bool {
	if c.listener.options.Shortcut == nil || c.failed != nil || c.parsed == nil {
		return false
	}
	answered, err := c.listener.options.Shortcut(c, c.parsed)
	if c.failed = err; err != nil {
		c.listener.options.Logger.Debug(fmt.Sprintf("serve %s: %v", c.RemoteAddr(), err))
		c.end = len(c.head) // nothing else is answered
	}
	if answered {
		c.from = c.end
	}
	return answered
}

// errNoHTTP reports another protocol, such as the greeting of TLS.
var errNoHTTP = errors.New("not HTTP")

// rewind drops the bytes that the server has read, and frees the memory of a long header.
func (c *Conn) rewind() {
	rest := c.head[c.from:]
	if cap(c.head) > headBytes && len(rest) < headBytes {
		c.head = append(make([]byte, 0, headBytes), rest...)
	} else {
		c.head = append(c.head[:0], rest...)
	}
	c.from, c.end, c.longHead = 0, 0, 0
}

func (c *Conn) more() {
	if cap(c.head) == len(c.head) {
		size := min(max(2*cap(c.head), headBytes), max(c.listener.options.HeaderBytes, headBytes))
		c.head = append(make([]byte, 0, size), c.head...)
	}
	var n int
	if c.failed = c.limitReading(); c.failed == nil {
		n, c.failed = c.Conn.Read(c.head[len(c.head):cap(c.head)])
	}
	c.head = c.head[:len(c.head)+n]
	if n > 0 {
		c.started.Store(true)
	}
}

// headerEnd returns the end of the header at the beginning of b, or 0 if it has not arrived. If a line feed without a
// carriage return ends it, whole is false: other servers may read such a header differently. The first from bytes do
// not contain the end.
func headerEnd(b []byte, from int) (end int, whole bool) {
	for i := from; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0, false
		}
		i += n + 1
		switch {
		case i < 2 || b[i-2] != '\r':
			return i, false
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2, true
		}
	}
}

// Sent reports whether a part of the response to the last request was sent.
func (c *Conn) Sent() bool { return c.sent.Load() }

// URLTooLong reports whether the last request was refused while its URL was read.
func (c *Conn) URLTooLong() bool { return c.tooLong }

// Begin must be called with each request before the response is sent. Bytes sent earlier can only be 100 Continue,
// and do not count as sent.
func (c *Conn) Begin(request *fasthttp.RequestCtx) {
	c.Request = request
	c.sent.Store(false)
}

// Reservation is memory that counts as in flight until Release, such as a *result.Answer.
type Reservation interface{ Release() }

// Hit is what a response was made from. Again returns the body, and the reservation for sending it, if the same
// request would now get it with the same header; the ages in it may be a second old.
type Hit interface {
	Again() (body []byte, reservation Reservation, ok bool)
}

// SetReservation releases the reservation of the last response, and next when the connection waits for another
// request or ends. next may be nil.
func (c *Conn) SetReservation(next Reservation) {
	if c.reservation != nil {
		c.reservation.Release()
	}
	c.reservation = next
}

// OnSent sets a function that is called once, when the response to this request was sent or has failed.
func (c *Conn) OnSent(f func()) { c.onSent = f }

// responseEnded releases what belongs to the last response.
func (c *Conn) responseEnded() {
	c.SetReservation(nil)
	c.body.release(c.listener.options.InFlight)
	if f := c.onSent; f != nil {
		c.onSent = nil
		f()
	}
}

// WriteIn makes the connection write the response in a turn, which it pauses while the client does not read: sending
// much data to a fast client takes as much processor time as making it. WriteIn reports whether the system supports
// this.
func (c *Conn) WriteIn(turn Turn) bool {
	if c.socket.opened() {
		c.turn = turn
	}
	return c.socket.opened()
}

// writeBuffers is a pool of buffers for writes that wait for the next one.
var writeBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Join makes the next write wait for the one after it, so that one system call sends both: a call costs more than
// copying the first. Call it only if there will be another write, that is for responses longer than the server's
// buffer. Join drops a write that is waiting.
func (c *Conn) Join(joins bool) {
	if c.joins = joins; c.pending != nil {
		writeBuffers.Put(c.pending)
		c.pending = nil
	}
}

// Write implements net.Conn. It fails if the client has read nothing for Options.Write, or for a quarter of that if
// memory for responses is short, or if Options.Send has passed. A long response may take long if the client reads.
func (c *Conn) Write(p []byte) (n int, err error) {
	if c.joins {
		c.joins, c.pending = false, c.copied(p)
		return len(p), nil
	}
	if c.date != "" {
		copied := c.copied(p)
		defer writeBuffers.Put(copied)
		p = *copied
	}
	if !c.reads && len(p) > 4*minUnsent {
		if n, err = c.write(p[:4*minUnsent]); err != nil {
			return n, err
		}
		c.reads, p = true, p[4*minUnsent:]
		c.socket.limitUnsent(maxUnsent)
	}
	rest, err := c.write(p)
	return n + rest, err
}

func (c *Conn) write(p []byte) (int, error) {
	now, waited := time.Now(), 0
	if !c.sent.Load() {
		c.sent.Store(true)
		c.until = now.Add(c.listener.options.Send)
	}
	c.pieces[1], c.unsent = p, c.pieces[1:]
	if c.pending != nil {
		waited = len(*c.pending)
		c.pieces[0], c.unsent = *c.pending, c.pieces[:]
	}
	sent, err := c.send(now)
	c.pieces = [2][]byte{} // so that an idle connection does not keep the response in memory
	c.Join(false)
	return max(sent-waited, 0), err
}

func (c *Conn) send(now time.Time) (sent int, err error) {
	counted := int64(0)
	for last := now; len(c.unsent) > 0 && err == nil; {
		if next := c.nextCheck(now); c.writing.moves(next) {
			if err = c.Conn.SetWriteDeadline(next); err != nil {
				break
			}
		}
		var n int64
		switch {
		case c.turn != nil:
			var queued time.Duration // how long the response waited for the turn, not for the client
			n, queued, err = c.socket.writeIn(c.turn, &c.unsent)
			last = last.Add(queued)
		case len(c.unsent) == 1: // a plain write costs less
			var written int
			written, err = c.Conn.Write(c.unsent[0])
			n = int64(written)
			if c.unsent[0] = c.unsent[0][written:]; len(c.unsent[0]) == 0 {
				c.unsent = nil
			}
		default:
			n, err = c.unsent.WriteTo(c.Conn)
		}
		if sent += int(n); len(c.unsent) == 0 {
			break
		}
		if now = time.Now(); n > 0 {
			last = now
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && !c.stalled(last, now) {
			err = nil
			c.waiting.Store(last.UnixNano())
			if counted == 0 {
				c.reads = false
				c.socket.limitUnsent(minUnsent)
				counted = stalledBytes + requestCopies*int64(c.longHead)
				c.listener.options.InFlight.Acquire(counted)
			}
		}
	}
	if counted > 0 {
		c.waiting.Store(0)
		c.listener.options.InFlight.Release(counted)
	}
	return sent, err
}

// requestCopies estimates how many copies of a request the server holds while serving it: the bytes, their parts, and
// the parameters.
const requestCopies = 4

// The limits of Linger: time and bytes.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 8 << 20
)

// Linger gives a client time to read why it was refused: if a connection is closed before everything from the client
// was read, the system resets it, and the response is lost.
func (c *Conn) Linger() {
	c.responseEnded()
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || !c.sent.Load() || c.failed != nil || c.listener.closed.Load() || half.CloseWrite() != nil {
		return
	}
	c.waiting.Store(time.Now().UnixNano())
	if c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // fails when the client has gone
	}
}

// Close implements net.Conn and does nothing, because the HTTP server calls it before it returns an error,
// which the client must still have time to read: see Linger. Disconnect closes the connection.
func (c *Conn) Close() error { return nil }

// Disconnect closes the connection.
func (c *Conn) Disconnect() {
	c.responseEnded()
	c.listener.mu.Lock()
	c.listener.removeLocked(c)
	c.listener.mu.Unlock()
	_ = c.Conn.Close() // fails if the connection is already closed
}

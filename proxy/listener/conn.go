package listener

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// headBytes is how much memory for reading an idle connection holds; most requests
// fit in it.
const headBytes = 2 << 10

// writePiece is how many bytes of an answer are handed to the system at a time.
const writePiece = 64 << 10

// stuckBytes is about how much memory a connection holds, beside its answer and what
// its request takes, while its client does not read: the server's buffers and the goroutine.
const stuckBytes = 48 << 10

// looks is how often it is looked whether a client that does not read is to be cut off,
// within Options.Write.
const looks = 8

// Conn is a connection that waits for requests in little memory. The server's buffer
// has room for the longest URL; if every connection held one, thousands of silent or
// slow clients would cost a gigabyte. So a request's header is gathered here first,
// in memory that grows with what arrives, and the server, which gives its buffer
// back after every request (ReduceMemoryUsage), is handed one header at a time.
//
// One goroutine reads and writes; any may close.
type Conn struct {
	net.Conn
	gate   *Listener
	client netip.Prefix // counted as its; zero: not counted
	heard  atomic.Bool  // a byte has come
	idle   atomic.Int64 // since when it waits for a request, in Unix nanoseconds; 0: it does not

	Request *fasthttp.RequestCtx // the last one that a handler was called for
	sent    bool                 // something has been, since the last request was waited for

	head    []byte    // what has arrived
	from    int       // of it is handed on
	end     int       // where what may be handed on ends
	asked   int       // bytes of a long header that was handed on
	tooLong bool      // of the last request no more than a part of its URL fits
	failed  error     // what reading ended with, once head is handed on
	until   time.Time // by when the answer must be sent; zero: no limit
}

// Read implements net.Conn. The server reads a single byte where it waits for a request
// to begin, and only there.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 1 {
		c.gather()
	}
	if c.from == c.end && c.from < len(c.head) {
		c.end = len(c.head) // a body: it is read as it comes
	}
	if c.from < c.end {
		n := copy(p, c.head[c.from:c.end])
		if c.from += n; c.from == len(c.head) && len(c.head) > headBytes {
			c.asked = len(c.head) // the server has its own copy, as long as the answer takes
			c.head, c.from, c.end = nil, 0, 0
		}
		return n, nil
	}
	if c.failed != nil {
		return 0, c.failed
	}
	return c.Conn.Read(p)
}

// gather waits until a whole header is there, or the memory for one is full, or
// nothing more comes.
func (c *Conn) gather() {
	c.until, c.sent = time.Time{}, false
	c.rewind()
	if len(c.head) == 0 && c.heard.Load() {
		c.idle.Store(time.Now().UnixNano())
		if c.gate.closed.Load() {
			c.failed = io.EOF
		}
	}
	defer c.idle.Store(0)
	searched, begun := 0, false
	for c.failed == nil {
		var whole bool
		if c.end, whole = headerEnd(c.head, searched); whole {
			return
		}
		if c.end > 0 { // what follows is not looked at
			c.head, c.failed = c.head[:c.end], errNoHTTP
			return
		}
		if len(c.head) >= c.gate.ahead {
			c.tooLong = c.tooLong || bytes.IndexByte(c.head, '\n') < 0
			break
		}
		if len(c.head) > 0 && !begun {
			c.begin()
			begun = true
		}
		searched = max(len(c.head)-3, 0)
		c.more()
	}
	c.end = len(c.head)
}

// errNoHTTP: what arrives is something else, such as the greeting of TLS.
var errNoHTTP = errors.New("not HTTP")

// begin is called at a request's first byte where the rest is not there yet. From
// now on the client has Options.Read to finish the header, however it spreads it.
func (c *Conn) begin() {
	if c.head[0] <= ' ' || c.head[0] >= 0x7f {
		c.failed = errNoHTTP
		return
	}
	if c.gate.read > 0 {
		_ = c.SetReadDeadline(time.Now().Add(c.gate.read)) // a failure shows in the next Read
	}
}

// rewind forgets what was handed on and gives memory back that was needed for it.
func (c *Conn) rewind() {
	rest := c.head[c.from:]
	if cap(c.head) > headBytes && len(rest) < headBytes {
		c.head = append(make([]byte, 0, headBytes), rest...)
	} else {
		c.head = append(c.head[:0], rest...)
	}
	c.from, c.end, c.asked = 0, 0, 0
	c.skipEmptyLines()
}

// more reads once.
func (c *Conn) more() {
	if c.failed != nil {
		return
	}
	if cap(c.head) == len(c.head) {
		grown := make([]byte, len(c.head), min(max(2*cap(c.head), headBytes), max(c.gate.ahead, headBytes)))
		copy(grown, c.head)
		c.head = grown
	}
	first := len(c.head) == 0
	n, err := c.Conn.Read(c.head[len(c.head):cap(c.head)])
	c.head = c.head[:len(c.head)+n]
	c.failed = err
	if n > 0 {
		c.heard.Store(true)
	}
	if first {
		c.skipEmptyLines()
	}
}

// skipEmptyLines drops line ends before a request, which some clients send after a body.
func (c *Conn) skipEmptyLines() {
	n := 0
	for n < len(c.head) && (c.head[n] == '\r' || c.head[n] == '\n') {
		n++
	}
	c.head = append(c.head[:0], c.head[n:]...)
}

// headerEnd returns where the header that b begins with ends, 0 if that has not come yet.
// Where a line feed stands without a carriage return it is not whole and ends before it:
// others may read such a header otherwise. The first from bytes are known to hold no end.
func headerEnd(b []byte, from int) (end int, whole bool) {
	for i := from; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0, false
		}
		i += n + 1
		switch {
		case i < 2 || b[i-2] != '\r':
			return i - 1, false
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2, true
		}
	}
}

// Sent reports whether any of the response to the last request was sent.
func (c *Conn) Sent() bool { return c.sent }

// URLTooLong reports whether the last request was refused while its URL was read.
func (c *Conn) URLTooLong() bool { return c.tooLong }

// Write implements net.Conn. A client that takes nothing for Options.Write is cut off,
// for a quarter of it where memory for answers is short; a long answer may take long,
// as long as it gets on.
func (c *Conn) Write(p []byte) (sent int, err error) {
	c.sent = true
	last, counted := time.Now(), int64(0)
	for len(p) > 0 && err == nil {
		if err = c.Conn.SetWriteDeadline(c.nextLook()); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(p[:min(len(p), writePiece)])
		p, sent = p[n:], sent+n
		if n > 0 {
			last = time.Now()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && !c.lost(last) {
			err = nil
			if counted == 0 {
				counted = stuckBytes + requestCopies*int64(c.asked)
				c.gate.inFlight.Add(counted)
			}
		}
	}
	if counted > 0 {
		c.gate.inFlight.Add(-counted)
	}
	return sent, err
}

// requestCopies is about how many times the server holds a request that it answers:
// as it came, its parts, and the parameters.
const requestCopies = 4

// nextLook is when a write is interrupted to see whether it got on.
func (c *Conn) nextLook() time.Time {
	if c.gate.write <= 0 {
		return c.until
	}
	next := time.Now().Add(c.gate.write / looks)
	if !c.until.IsZero() && c.until.Before(next) {
		return c.until
	}
	return next
}

// lost reports whether a client is to be cut off that last took a byte then.
func (c *Conn) lost(last time.Time) bool {
	now := time.Now()
	if !c.until.IsZero() && !now.Before(c.until) {
		return true
	}
	patience := c.gate.write
	if c.gate.inFlight.Short() {
		patience /= 4
	}
	return now.Sub(last) >= patience
}

// SetWriteDeadline implements net.Conn. The server sets one for each answer.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return nil
}

// SetReadDeadline implements net.Conn. The server sets one for the first byte, perhaps
// after the gate has closed.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.heard.Load() && c.gate.closed.Load() {
		t = time.Now().Add(lastCall)
	}
	return c.Conn.SetReadDeadline(t)
}

// How long, and for how many bytes, a connection is read from after a request that was
// refused before it was read to its end.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 8 << 20
)

// Linger lets a client read why it was refused: if a connection is closed while something
// of what it sends has not been read, the system tells the client of that alone.
func (c *Conn) Linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || !c.sent || c.failed != nil || c.gate.closed.Load() || half.CloseWrite() != nil {
		return
	}
	if c.Conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // it ends when the client has gone
	}
}

// Close implements net.Conn for the server, which calls it before it says why: the
// connection is closed by HangUp.
func (c *Conn) Close() error { return nil }

// HangUp closes the connection.
func (c *Conn) HangUp() {
	c.gate.left(c)
	_ = c.Conn.Close() // fails where it is closed
}

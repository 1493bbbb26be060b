package gate

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// conn is a connection to the server for several requests, one after the other. Some servers send more than an answer
// has: a body after 204 or 304, or one that is longer than its Content-Length. Were the connection used again,
// another client would get these bytes as its answer, and it could be kept for all. net/http notices only those that
// arrive before it sends the next request, so a conn ends with such an answer: Read returns io.EOF with its last
// bytes.
//
// All requests on it are GET, without a body. An answer to HEAD may have one on such a server, too, and is on a
// connection of its own.
type conn struct {
	net.Conn
	asked atomic.Bool // a request was sent since the last read; net/http reads and writes in two goroutines

	// Read alone uses the rest.
	inHead bool
	head   []byte // of the answer, as far as it has arrived; nil after its end
	left   int64  // bytes of the body that have not arrived; unbounded if its end is not known
}

// unbounded is the length of a body that ends with the connection, or is in chunks, and mostHead that of a head.
const (
	unbounded = 1 << 62
	mostHead  = 64 << 10
)

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.asked.Swap(false) {
		c.inHead, c.head = true, nil
	}
	if c.follow(p[:n]); err == nil && !c.inHead && c.left < 0 {
		err = io.EOF
	}
	return n, err
}

// follow notes how much of the answer is missing after some bytes. It is less than nothing once there is no next
// answer.
func (c *conn) follow(arrived []byte) {
	if !c.inHead {
		c.left -= int64(len(arrived))
		return
	}
	for c.head = append(c.head, arrived...); ; {
		end := headEnd(c.head)
		if end < 0 {
			if len(c.head) > mostHead { // which net/http refuses
				c.inHead, c.head, c.left = false, nil, unbounded
			}
			return
		}
		status, length := readHead(c.head[:end])
		if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols { // another head follows
			c.head = c.head[end:]
			continue
		}
		c.left = length - int64(len(c.head)-end)
		if status == http.StatusNoContent || status == http.StatusNotModified {
			c.left = -1
		}
		c.inHead, c.head = false, nil
		return
	}
}

// headEnd returns where the head at the beginning of b ends, or -1. Line feeds alone end lines, as for net/http.
func headEnd(b []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(b[from:], '\n')
		if n < 0 {
			return -1
		}
		from += n + 1
		switch rest := b[from:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// readHead returns the status of an answer, and the length of its body.
func readHead(head []byte) (status int, length int64) {
	length = unbounded
	coded := false
	for line := range bytes.Lines(head) {
		if status == 0 {
			if words := bytes.Fields(line); len(words) > 1 {
				status, _ = strconv.Atoi(string(words[1]))
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			coded = true
		case bytes.EqualFold(name, []byte("Content-Length")):
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil {
				length = n
			}
		}
	}
	if coded {
		length = unbounded
	}
	return status, length
}

// dial connects to the server.
func (g *Gate) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: min(g.options.Timeout, mostDialing)}
	raw, err := dialer.DialContext(ctx, network, addr)
	if g.circuit.dialed(err); err != nil {
		return nil, err
	}
	return &conn{Conn: raw}, nil
}

// dialTLS connects to the server by TLS.
func (g *Gate) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	dialed, err := g.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.options.Timeout)
	defer cancel()
	secure := tls.Client(dialed.(*conn).Conn, &tls.Config{ServerName: g.options.ServerName})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = dialed.Close() // the error is known
		return nil, err
	}
	return &conn{Conn: secure}, nil
}

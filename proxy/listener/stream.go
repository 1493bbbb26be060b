package listener

import (
	"io"
	"net"

	"github.com/valyala/fasthttp"
)

// Stream is a body that is sent while it is made.
type Stream struct {
	Ended func(sent int64) // called when the stream ends, with the number of bytes sent; may be nil

	body io.ReadCloser
	sent int64
	last bool // Conn.SendLast sends it, not the HTTP server
}

// SetStream makes a stream of size bytes, or UnknownSize, the body of a response. It is closed after it
// is sent.
func SetStream(c *fasthttp.RequestCtx, body io.ReadCloser, size int) {
	c.SetBodyStream(&Stream{body: body}, size)
}

// Read implements io.Reader.
func (s *Stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	s.sent += int64(n)
	return n, err
}

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo: a body that can write itself is not copied.
func (s *Stream) SupportsBodyWriteTo() bool {
	_, ok := s.body.(io.WriterTo)
	return ok
}

// WriteTo implements io.WriterTo.
func (s *Stream) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, s.body)
	s.sent += n
	return n, err
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	if s.last {
		return nil
	}
	if ended := s.Ended; ended != nil {
		s.Ended = nil
		defer ended(s.sent)
	}
	return s.body.Close()
}

// Finish must be called with each request when its response is ready. HTTP/1.0 has no chunks: a stream of unknown
// length follows the response without any frame, and ends with the connection.
func (c *Conn) Finish(request *fasthttp.RequestCtx) {
	s, ok := request.Response.BodyStream().(*Stream)
	if !ok || request.Request.Header.IsHTTP11() || request.Response.Header.ContentLength() >= 0 {
		return
	}
	if !request.IsHead() {
		c.last, s.last = s, true
	}
	request.Response.ResetBody()
	request.Response.SkipBody = true
	request.Response.Header.Del(fasthttp.HeaderTransferEncoding)
	request.Response.Header.SetContentLength(noLength)
}

// SendLast sends the stream that follows the last response, if there is one, unless the connection has failed with
// err. A connection whose stream breaks off is reset, because otherwise the client would take what it has for the
// whole.
func (c *Conn) SendLast(err error) error {
	if c.last == nil {
		return err
	}
	s := c.last
	c.last, s.last = nil, false
	defer s.Close()
	c.Request = nil // the HTTP server uses it for another connection
	if err == nil {
		_, err = s.WriteTo(c)
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok && err != nil {
		c.failed = err
		_ = tcp.SetLinger(0) // fails if the client has gone
	}
	return err
}

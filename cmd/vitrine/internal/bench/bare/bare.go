// Package bare is the yardstick: a Fiber server whose one handler sends prepared
// bytes. It runs in a process of its own, as the front end does, and takes the
// bytes from the front end, so that both send the same.
package bare

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cmd/vitrine/internal/bench/usage"
)

// Most is the longest answer that is held, in bytes.
const Most = 512 << 20

// Server is the service of a bare process.
type Server struct {
	app  *fiber.App
	addr string
	done chan error
	sent atomic.Pointer[answer]
}

// answer is what every request gets.
type answer struct {
	status                      int
	contentType, encoding, etag string
	body                        []byte
}

// Request says which answer of a front end to take over.
type Request struct {
	Addr   string // HOST:PORT
	Path   string
	Header map[string]string
}

// Answer describes the answer that was copied.
type Answer struct {
	Status int
	Bytes  int64
	ETag   string
	Took   time.Duration // until the last byte was there
	// Held means that the bare server sends it now; otherwise it is too long.
	Held bool
}

// Start serves on a free loopback port.
func Start() (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("bare server: %w", err)
	}
	s := &Server{
		app:  fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 80 << 10}),
		addr: ln.Addr().String(),
		done: make(chan error, 1),
	}
	s.sent.Store(&answer{status: fiber.StatusNoContent})
	s.app.Get("/*", s.handle)
	go func() { s.done <- s.app.Listener(ln) }()
	return s, nil
}

// handle is what a front end is measured against. Nothing less would send the bytes.
func (s *Server) handle(c *fiber.Ctx) error {
	a := s.sent.Load()
	c.Set(fiber.HeaderContentType, a.contentType)
	if a.encoding != "" {
		c.Set(fiber.HeaderContentEncoding, a.encoding)
	}
	if a.status == fiber.StatusNotModified {
		c.Set(fiber.HeaderETag, a.etag)
		return c.SendStatus(a.status)
	}
	c.Response().SetBodyRaw(a.body)
	return nil
}

// Stop ends the server and waits for it.
func (s *Server) Stop() error { return errors.Join(s.app.Shutdown(), <-s.done) }

// Address replies HOST:PORT.
func (s *Server) Address(_ struct{}, reply *string) error {
	*reply = s.addr
	return nil
}

// Usage replies what the process has used.
func (s *Server) Usage(_ struct{}, reply *usage.Usage) error {
	*reply = usage.Read()
	return nil
}

// Copy asks a front end and sends from now on what it answered, if it is not too long.
func (s *Server) Copy(r Request, reply *Answer) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + r.Addr + r.Path)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.Client{ReadBufferSize: 64 << 10, StreamResponseBody: true, MaxResponseBodySize: Most}
	defer client.CloseIdleConnections()
	began := time.Now()
	if err := client.Do(req, res); err != nil {
		return fmt.Errorf("GET %s: %w", req.URI(), err)
	}
	body, n, err := read(res)
	if err != nil {
		return fmt.Errorf("GET %s: body: %w", req.URI(), err)
	}
	took := time.Since(began)
	if status := res.StatusCode(); status != fiber.StatusOK && status != fiber.StatusNotModified {
		return fmt.Errorf("GET %s: status %d: %.200s", req.URI(), status, body)
	}
	a := &answer{
		status:      res.StatusCode(),
		contentType: string(res.Header.ContentType()),
		encoding:    string(res.Header.ContentEncoding()),
		etag:        string(res.Header.Peek(fiber.HeaderETag)),
		body:        body,
	}
	if n > Most {
		a = &answer{status: fiber.StatusNoContent, etag: a.etag}
	}
	s.sent.Store(a)
	*reply = Answer{Status: res.StatusCode(), Bytes: n, ETag: a.etag, Took: took, Held: n <= Most}
	return nil
}

// read reads a body to its end, keeps what may be held, and returns its length.
func read(res *fasthttp.Response) (body []byte, n int64, err error) {
	stream := res.BodyStream()
	if stream == nil {
		body = append(body, res.Body()...)
		return body, int64(len(body)), nil
	}
	defer func() { err = errors.Join(err, res.CloseBodyStream()) }()
	if res.Header.ContentLength() > Most {
		n, err = io.Copy(io.Discard, stream)
		return nil, n, err
	}
	body, err = io.ReadAll(io.LimitReader(stream, Most+1))
	if err != nil || len(body) <= Most {
		return body, int64(len(body)), err // a stream that has ended must not be read again: it would wait for more
	}
	rest, err := io.Copy(io.Discard, stream)
	return nil, int64(len(body)) + rest, err
}

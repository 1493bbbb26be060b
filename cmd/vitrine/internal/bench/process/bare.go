package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// mostHeld is the longest answer that a bare server holds, in bytes.
const mostHeld = 512 << 20

// Bare is the yardstick: the service of a Fiber server with one handler, which sends
// prepared bytes. The bytes are copied from the front end, so that both send the same.
type Bare struct {
	endpoint
	app    *fiber.App
	served chan error
	sent   atomic.Pointer[prepared] // what every request gets
}

// prepared is an answer in memory.
type prepared struct {
	status                      int
	contentType, encoding, etag string
	body                        []byte
}

// Request says which answer of a front end to copy.
type Request struct {
	Addr   string // HOST:PORT
	Path   string
	Header map[string]string
}

// Answer describes the answer that was copied.
type Answer struct {
	ETag string
	Took time.Duration // to the last byte
	// Held reports that the bare server sends the answer now; otherwise it is too long.
	Held bool
}

// StartBare serves on a free loopback port.
func StartBare() (*Bare, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("bare server: %w", err)
	}
	s := &Bare{
		endpoint: endpoint{ln.Addr().String()},
		app:      fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 80 << 10}),
		served:   make(chan error, 1),
	}
	s.sent.Store(&prepared{status: fiber.StatusNoContent})
	s.app.Get("/*", s.handle)
	go func() { s.served <- s.app.Listener(ln) }()
	return s, nil
}

// handle does the least that sends the bytes.
func (s *Bare) handle(c *fiber.Ctx) error {
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

// Close ends the server and waits for it.
func (s *Bare) Close() error { return errors.Join(s.app.Shutdown(), <-s.served) }

// Copy asks a front end and sends its answer from now on, if that is not too long.
func (s *Bare) Copy(r Request, reply *Answer) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + r.Addr + r.Path)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.Client{ReadBufferSize: 64 << 10, StreamResponseBody: true, MaxResponseBodySize: mostHeld}
	defer client.CloseIdleConnections()
	began := time.Now()
	if err := client.Do(req, res); err != nil {
		return fmt.Errorf("GET %s: %w", req.URI(), err)
	}
	body, held, err := read(res)
	if err != nil {
		return fmt.Errorf("GET %s: body: %w", req.URI(), err)
	}
	took := time.Since(began)
	a := &prepared{
		status:      res.StatusCode(),
		contentType: string(res.Header.ContentType()),
		encoding:    string(res.Header.ContentEncoding()),
		etag:        string(res.Header.Peek(fiber.HeaderETag)),
		body:        body,
	}
	if a.status != fiber.StatusOK && a.status != fiber.StatusNotModified {
		return fmt.Errorf("GET %s: status %d: %.200s", req.URI(), a.status, body)
	}
	s.sent.Store(a)
	*reply = Answer{ETag: a.etag, Took: took, Held: held}
	return nil
}

// read reads a body to its end, and keeps one that may be held.
func read(res *fasthttp.Response) (body []byte, held bool, err error) {
	stream := res.BodyStream()
	if stream == nil {
		return bytes.Clone(res.Body()), true, nil
	}
	defer func() { err = errors.Join(err, res.CloseBodyStream()) }()
	if res.Header.ContentLength() <= mostHeld {
		body, err = io.ReadAll(io.LimitReader(stream, mostHeld+1))
		if err != nil || len(body) <= mostHeld {
			return body, true, err // a stream that has ended must not be read again: it would wait for more
		}
	}
	_, err = io.Copy(io.Discard, stream)
	return nil, false, err
}

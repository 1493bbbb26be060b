package bench

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// mostHeld is the longest answer that a bare server holds, in bytes.
const mostHeld = 512 << 20

// Bare is the yardstick: the service of a Fiber server with one handler, which sends a prepared
// answer. It is copied from the front end, headers included, so that both send the same bytes.
type Bare struct {
	Addr   string // HOST:PORT
	app    *fiber.App
	served chan error
	sent   atomic.Pointer[prepared] // what every request gets
}

// prepared is an answer in memory.
type prepared struct {
	status int
	header [][2]string // names and values
	body   []byte
}

// Question says which answer of a front end to copy.
type Question struct {
	Addr, Path string
	Header     map[string]string
}

// Answer describes the answer that was copied.
type Answer struct {
	ETag string
	Held bool // whether the bare server sends it now; otherwise it is too long
}

// StartBare serves on a free loopback port.
func StartBare() (*Bare, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("bare server: %w", err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 80 << 10})
	s := &Bare{Addr: ln.Addr().String(), app: app, served: make(chan error, 1)}
	s.sent.Store(&prepared{status: fiber.StatusNoContent})
	app.Get("/*", func(c *fiber.Ctx) error { // the least that sends the bytes
		a := s.sent.Load()
		for _, h := range a.header {
			c.Set(h[0], h[1])
		}
		c.Status(a.status).Response().SetBodyRaw(a.body)
		return nil
	})
	go func() { s.served <- app.Listener(ln) }()
	return s, nil
}

// Close ends the server and waits for it.
func (s *Bare) Close() error { return errors.Join(s.app.Shutdown(), <-s.served) }

// Copy asks a front end and sends its answer from now on, if that is not too long.
func (s *Bare) Copy(q Question, reply *Answer) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	req.SetRequestURI("http://" + q.Addr + q.Path)
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.HostClient{Addr: q.Addr, ReadBufferSize: 64 << 10, MaxResponseBodySize: mostHeld}
	defer client.CloseIdleConnections()
	switch err := client.Do(req, res); {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		s.sent.Store(&prepared{status: fiber.StatusNoContent})
		return nil
	case err != nil:
		return fmt.Errorf("GET %s: %w", req.URI(), err)
	case res.StatusCode() != fiber.StatusOK && res.StatusCode() != fiber.StatusNotModified:
		return fmt.Errorf("GET %s: status %d: %.200s", req.URI(), res.StatusCode(), res.Body())
	}
	a := &prepared{status: res.StatusCode(), body: res.Body()}
	for name, value := range res.Header.All() {
		if n := string(name); n != fiber.HeaderDate && n != fiber.HeaderContentLength { // fasthttp sets these
			a.header = append(a.header, [2]string{n, string(value)})
		}
	}
	*reply = Answer{ETag: string(res.Header.Peek(fiber.HeaderETag)), Held: true}
	s.sent.Store(a)
	return nil
}

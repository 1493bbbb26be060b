package bench

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// maxCopy is the length of the longest answer that a bare server holds, in bytes.
const maxCopy = 512 << 20

// Bare is the yardstick: a Fiber server with one handler, which sends an answer that it has copied
// from the front end. Both send the same bytes and headers.
type Bare struct {
	Addr   string // HOST:PORT
	app    *fiber.App
	served chan error
	answer atomic.Pointer[answer] // what every request gets
}

// answer is an answer in memory.
type answer struct {
	status int
	header [][2]string // names and values
	body   []byte
}

// Copy says which answer of a front end to copy.
type Copy struct {
	Addr, Path string
	Header     map[string]string
}

// Copied describes the answer that was copied.
type Copied struct {
	ETag string
	Held bool // false if the answer is too long
}

// StartBare serves on a free loopback port.
func StartBare() (*Bare, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("bare server: %w", err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 80 << 10})
	s := &Bare{Addr: ln.Addr().String(), app: app, served: make(chan error, 1)}
	s.answer.Store(&answer{status: fiber.StatusNoContent})
	app.Get("/*", func(c *fiber.Ctx) error { // the least that sends the bytes
		a := s.answer.Load()
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

// Copy asks a front end, and from now on sends its answer if that is not too long.
func (s *Bare) Copy(q Copy) (Copied, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	req.SetRequestURI("http://" + q.Addr + q.Path)
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.HostClient{Addr: q.Addr, ReadBufferSize: 64 << 10, MaxResponseBodySize: maxCopy}
	defer client.CloseIdleConnections()
	switch err := client.Do(req, res); {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		s.answer.Store(&answer{status: fiber.StatusNoContent})
		return Copied{}, nil
	case err != nil:
		return Copied{}, fmt.Errorf("GET %s: %w", req.URI(), err)
	case res.StatusCode() != fiber.StatusOK && res.StatusCode() != fiber.StatusNotModified:
		return Copied{}, fmt.Errorf("GET %s: status %d: %.200s", req.URI(), res.StatusCode(), res.Body())
	}
	a := &answer{status: res.StatusCode(), body: res.Body()}
	for name, value := range res.Header.All() {
		if n := string(name); n != fiber.HeaderDate && n != fiber.HeaderContentLength { // fasthttp sets these
			a.header = append(a.header, [2]string{n, string(value)})
		}
	}
	s.answer.Store(a)
	return Copied{ETag: string(res.Header.Peek(fiber.HeaderETag)), Held: true}, nil
}

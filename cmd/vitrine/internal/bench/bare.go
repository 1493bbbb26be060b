package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
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
	Took time.Duration // to the last byte
	Held bool          // the bare server sends it now; otherwise it is too long
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
	req, err := http.NewRequest(http.MethodGet, "http://"+q.Addr+q.Path, nil)
	if err != nil {
		return err
	}
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	transport := &http.Transport{DisableCompression: true} // the bytes are copied as they come
	defer transport.CloseIdleConnections()
	began := time.Now()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	a := &prepared{status: res.StatusCode}
	for name, values := range res.Header {
		if name != fiber.HeaderDate && name != fiber.HeaderContentLength { // fasthttp sets these
			a.header = append(a.header, [2]string{name, strings.Join(values, ", ")})
		}
	}
	if res.ContentLength <= mostHeld {
		a.body, err = io.ReadAll(io.LimitReader(res.Body, mostHeld+1))
	}
	rest, failed := io.Copy(io.Discard, res.Body)
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("GET %s: body: %w", req.URL, err)
	}
	*reply = Answer{ETag: res.Header.Get(fiber.HeaderETag), Took: time.Since(began), Held: rest == 0 && len(a.body) <= mostHeld}
	if a.status != http.StatusOK && a.status != http.StatusNotModified {
		return fmt.Errorf("GET %s: status %d: %.200s", req.URL, a.status, a.body)
	}
	if !reply.Held {
		a.body = nil
	}
	s.sent.Store(a)
	return nil
}

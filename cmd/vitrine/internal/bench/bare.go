package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// maxCopy is the length of the longest answer that a bare server holds, in bytes.
const maxCopy = 512 << 20

// bare is the yardstick: a Fiber server with one handler, which sends an answer that it has copied
// from the front end. Both send the same bytes and headers.
type bare struct {
	answer atomic.Pointer[answer] // the answer to every request
}

// answer is an answer in memory.
type answer struct {
	status int
	header [][2]string // names and values
	body   []byte
}

// Copy names the answer of a front end to copy.
type Copy struct {
	Addr, Path string
	Header     map[string]string
}

// Copied describes the copied answer.
type Copied struct {
	ETag string
	Held bool // false if the answer is too long
}

// ServeBare serves on a free loopback port, and copies answers when the parent asks for it, until in ends.
func ServeBare(in io.Reader, out io.WriteCloser) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bare server: %w", err)
	}
	var b bare
	b.answer.Store(&answer{status: fiber.StatusNoContent})
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 80 << 10})
	app.Get("/*", func(c *fiber.Ctx) error { // the least work that sends the bytes
		a := b.answer.Load()
		for _, h := range a.header {
			c.Set(h[0], h[1])
		}
		c.Status(a.status).Response().SetBodyRaw(a.body)
		return nil
	})
	served := make(chan error, 1)
	go func() { served <- app.Listener(ln) }()
	err = Serve(in, out, ln.Addr().String(), &b)
	return errors.Join(err, app.Shutdown(), <-served)
}

// Copy requests an answer from a front end and sends it from now on, unless it is too long.
func (b *bare) Copy(q Copy, copied *Copied) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	req.SetRequestURI("http://" + q.Addr + q.Path)
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	client := &fasthttp.HostClient{Addr: q.Addr, ReadBufferSize: 64 << 10, StreamResponseBody: true, MaxResponseBodySize: streamedFrom}
	defer client.CloseIdleConnections()
	var body bytes.Buffer
	err := client.Do(req, res)
	if err == nil && res.StatusCode() != fiber.StatusOK && res.StatusCode() != fiber.StatusNotModified {
		err = fmt.Errorf("status %d: %.200s", res.StatusCode(), res.Body())
	}
	if err == nil && res.BodyStream() != nil {
		_, err = io.Copy(&body, io.LimitReader(res.BodyStream(), maxCopy+1))
		err = errors.Join(err, res.CloseBodyStream())
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", req.URI(), err)
	}
	if body.Len() > maxCopy {
		return nil
	}
	a := &answer{status: res.StatusCode(), body: body.Bytes()}
	for name, value := range res.Header.All() {
		if n := string(name); n != fiber.HeaderDate && n != fiber.HeaderContentLength { // fasthttp sets these
			a.header = append(a.header, [2]string{n, string(value)})
		}
	}
	b.answer.Store(a)
	*copied = Copied{ETag: string(res.Header.Peek(fiber.HeaderETag)), Held: true}
	return nil
}

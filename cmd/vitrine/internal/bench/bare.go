package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
)

// maxCopy is the length of the longest answer that a bare server holds, in bytes.
const maxCopy = 512 << 20

// bare is the yardstick: a Fiber server with one handler, which sends bytes copied from the front end. Fiber is the
// framework on which Vitrine's own server runs, so that the difference is what Vitrine does.
type bare struct{ answer atomic.Pointer[answer] }

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
//
// The buffer for reading is as large as the front end's limits need: a URL of 64 KiB and its headers.
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

// local is a client that neither asks for compressed answers nor keeps connections.
var local = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}

// Copy requests an answer from a front end and sends it from now on, unless it is too long. It has the form of a
// method for net/rpc. Requests that run meanwhile get the old or the new answer whole, because the pointer is
// swapped.
func (b *bare) Copy(q Copy, copied *Copied) error {
	req, err := http.NewRequest(http.MethodGet, "http://"+q.Addr+q.Path, nil)
	if err != nil {
		return err
	}
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	res, err := local.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxCopy+1))
	if err == nil && res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNotModified {
		err = fmt.Errorf("GET %s: status %d: %.200s", req.URL, res.StatusCode, body)
	}
	if err != nil || len(body) > maxCopy {
		return err
	}
	a := &answer{status: res.StatusCode, body: body}
	for name, values := range res.Header {
		if name != fiber.HeaderDate && name != fiber.HeaderContentLength && name != fiber.HeaderConnection {
			// fasthttp sets these
			a.header = append(a.header, [2]string{name, values[0]})
		}
	}
	b.answer.Store(a)
	*copied = Copied{ETag: res.Header.Get(fiber.HeaderETag), Held: true}
	return nil
}

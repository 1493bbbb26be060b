package bench

import (
	"net"

	"github.com/gofiber/fiber/v2"
)

// bare is the baseline: a Fiber server whose one handler sends prepared bytes.
type bare struct {
	app  *fiber.App
	addr string
	done chan error
}

// startBare serves body under every path on a free loopback port.
func startBare(contentType, contentEncoding string, body []byte) (*bare, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bare{
		app:  fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 64 << 10}),
		addr: ln.Addr().String(),
		done: make(chan error, 1),
	}
	b.app.Get("/*", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, contentType)
		if contentEncoding != "" {
			c.Set(fiber.HeaderContentEncoding, contentEncoding)
		}
		return c.Send(body)
	})
	go func() { b.done <- b.app.Listener(ln) }()
	return b, nil
}

// stop closes the server and waits for it.
func (b *bare) stop() error {
	if err := b.app.Shutdown(); err != nil {
		return err
	}
	return <-b.done
}

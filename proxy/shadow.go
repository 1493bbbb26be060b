package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules/fault"
)

// shadowConn is a connection of the Shadow. Its requests count neither in metrics and the log nor for limits.
type shadowConn struct{ net.Conn }

// isShadowed reports whether a request comes from the Shadow.
func isShadowed(c *fiber.Ctx) bool {
	_, ok := c.Context().Conn().(shadowConn)
	return ok
}

// inMemory returns a transport to a server without a network, with a connection for each request. The log gets
// panics. A connection has one request, because a pipe costs little, and an idle one would have a goroutine.
func inMemory(serve func(net.Conn) error, serving *sync.WaitGroup, log *slog.Logger) http.RoundTripper {
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err() // the Shadow has ended
			}
			client, server := net.Pipe()
			serving.Go(func() {
				defer server.Close()
				defer fault.Panics()()
				defer func() {
					if r := recover(); r != nil {
						fault.Report(r)
						log.Error("compare", "error", fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
					}
				}()
				_ = serve(shadowConn{server}) // the client sees that it fails
			})
			return client, nil
		}}
}

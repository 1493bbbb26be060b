package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/response"
	"vitrine/rules/pcre"
)

// Server is the front end: the public app and the operator's.
type Server struct {
	settings atomic.Pointer[settings]
	adopting sync.Mutex // guards the way to the next settings

	options   Options // those it was made with, defaults included; Adopt changes settings alone
	metrics   *Metrics
	log       *slog.Logger
	results   *result.Cache
	planner   *response.Planner
	popular   response.Popular
	rate      *auth.Limiter // nil: not limited
	guesses   *auth.Limiter // of keys; nil: not limited
	strangers *auth.Limiter // of users that the citation index does not have
	counted   sync.Once     // what authors are counted by was made

	draining atomic.Bool
	close    sync.Once
	app      *fiber.App
	admin    *fiber.App
}

// lastWhileDraining makes every response the last of its connection while the server
// drains: what keeps connections open, a balancer above all, then comes back to another
// instance, and none is left idle to be closed just as it is used again.
func (s *Server) lastWhileDraining(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if c, ok := ctx.Conn().(*listener.Conn); ok {
			c.Request = ctx
		}
		next(ctx)
		if s.draining.Load() {
			ctx.SetConnectionClose()
		}
	}
}

// context derives the context of the work for a request: it carries whom the work is
// charged to and ends, where the system can tell, when the client closes its connection,
// also if it closes only the direction it sends in: the two look the same.
func (s *Server) context(ctx context.Context, c *fiber.Ctx) context.Context {
	ctx = fair.With(ctx, fair.Caller{Client: s.settingsOf(c).auth.Client(c), Backtracking: pcre.NewBudget(s.options.Filter.RegexTimeout)})
	if conn, ok := c.Context().Conn().(*listener.Conn); ok {
		ctx = conn.Watch(ctx)
	}
	return ctx
}

// quiet logs what the HTTP server reports of single connections at level debug: any client
// can cause such a line.
type quiet struct{ log *slog.Logger }

// Printf implements fasthttp.Logger. It cuts an error before the part of the request that
// the error quotes: that may be a key.
func (q quiet) Printf(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i], _, _ = strings.Cut(err.Error(), `"`)
		}
	}
	q.log.Debug(fmt.Sprintf(format, args...))
}

// App returns the public app, for tests and for mounting.
func (s *Server) App() *fiber.App { return s.app }

// AdminApp returns the operator's app.
func (s *Server) AdminApp() *fiber.App { return s.admin }

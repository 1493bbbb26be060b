package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/fair"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/response"
	"vitrine/rules/pcre"
)

// Server is the front end: the public app and the operator's.
type Server struct {
	settings atomic.Pointer[settings]
	adopting sync.Mutex // guards the way to the next settings

	views        Source
	results      *result.Cache
	planners     map[string]*response.Planner // by path
	popular      response.Popular
	rate         *auth.Limiter // nil: not limited
	guesses      *auth.Limiter // of keys; nil: not limited
	strangers    *auth.Limiter // of users that the citation index does not have
	limits       Limits
	backtracking time.Duration        // of the matches of one request
	store        func() circuit.State // nil: it is not reported
	optional     []string             // views whose source may be empty
	counted      sync.Once            // what authors are counted by was made

	metrics   *Metrics
	log       *slog.Logger
	accessLog bool
	now       func() time.Time

	draining atomic.Bool
	close    sync.Once
	app      *fiber.App
	admin    *fiber.App
}

// New builds a server. Errors name the option at fault. Close it when done, or
// let Serve do so.
func New(o Options) (*Server, error) {
	if o.Views == nil {
		return nil, errors.New("proxy: Options.Views is missing")
	}
	s := &Server{
		views: o.Views, planners: map[string]*response.Planner{},
		limits: o.Limits.withDefaults(), backtracking: o.Filter.RegexTimeout,
		rate:      auth.NewLimiter(max(o.Limits.Rate, o.Limits.Burst), o.Limits.Rate, time.Second),
		guesses:   auth.NewGuesses(o.Limits.KeyFailures),
		strangers: api.Strangers(),
		store:     o.Store, optional: o.Optional,
		metrics: o.Metrics, log: o.Logger, accessLog: o.AccessLog, now: o.Now,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.metrics == nil {
		s.metrics = NewMetrics()
	}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	if s.results, err = result.New(o.Cache); err != nil {
		return nil, err
	}
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	if views, ok := s.views.(preparing); ok {
		views.Prepare(func(ctx context.Context, next *view.Snapshot) (shown func()) {
			return s.settings.Load().response.Prepare(ctx, next)
		})
	}
	return s, nil
}

// open makes the first settings, what is kept for each resource, and the apps.
func (s *Server) open(o Options) error {
	first, err := s.newSettings(o, 0, time.Time{})
	if err != nil {
		return err
	}
	s.settings.Store(first)
	for path := range first.routes {
		if s.planners[path], err = response.NewPlanner(); err != nil {
			delete(s.planners, path)
			return err
		}
	}
	if err := s.metrics.watch(s.views, s.store, s.results, s.now); err != nil {
		return err
	}
	s.app = s.newApp()
	s.routes()
	s.app.Server().Handler = s.lastWhileDraining(refuseUnknownMethods(s.app))
	s.admin = s.newAdmin(o.Admin)
	return nil
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
	ctx = fair.With(ctx, fair.Caller{Client: s.settingsOf(c).auth.Client(c), Backtracking: pcre.NewBudget(s.backtracking)})
	if conn, ok := c.Context().Conn().(*listener.Conn); ok {
		ctx = conn.Watch(ctx)
	}
	return ctx
}

// quiet logs what the server says of single connections, which any client can make
// it say, where it is asked for.
type quiet struct{ log *slog.Logger }

// Printf implements fasthttp.Logger. Of an error is told what comes before the part of
// the request that it quotes: that may be a key.
func (q quiet) Printf(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i], _, _ = strings.Cut(err.Error(), `"`)
		}
	}
	q.log.Debug(fmt.Sprintf(format, args...))
}

// writeBuffer is how many bytes of an answer are gathered before they are sent: a
// page with its headers is one packet train and wakes its reader once.
const writeBuffer = 32 << 10

// newApp returns an app with the server's limits, every error of which becomes an envelope.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               "vitrine",
		DisableStartupMessage: true,
		CaseSensitive:         true,
		ReadBufferSize:        s.limits.URLBytes + listener.HeaderRoom,
		WriteBufferSize:       writeBuffer,
		ReduceMemoryUsage:     true, // see listener.Conn
		Concurrency:           listener.MostServed,
		BodyLimit:             s.limits.BodyBytes,
		ReadTimeout:           s.limits.Read,
		WriteTimeout:          s.limits.Send,
		IdleTimeout:           s.limits.Idle,
		ErrorHandler:          s.fail,

		// Nobody's X-Forwarded-Host counts; clients are known by auth.Clients.
		EnableTrustedProxyCheck: true,
		// A form in a body would be read, into files if it is large.
		DisablePreParseMultipartForm: true,
	})
	// What cannot be read may hold a key.
	app.Server().SecureErrorLogMessage = true
	app.Server().Logger = quiet{s.log}
	return app
}

// App returns the public app, for tests and for mounting.
func (s *Server) App() *fiber.App { return s.app }

// AdminApp returns the operator's app.
func (s *Server) AdminApp() *fiber.App { return s.admin }

// Metrics returns the counters; the materializer's outcomes are told to it.
func (s *Server) Metrics() *Metrics { return s.metrics }

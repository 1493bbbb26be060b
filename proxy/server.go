package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/admin"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/compare"
	"vitrine/proxy/explain"
	"vitrine/proxy/fields"
	"vitrine/proxy/health"
	"vitrine/proxy/listener"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/proxy/upstream/traffic"
)

// Server is the front end: the public app and the operator's. Its files follow the way of a request: serve.go has
// the listeners, edge.go what wraps each request, handlers.go and listroutes.go what answers it. What a reload may
// change is in settings, and only there; all other fields stay as New has set them, so they need no lock.
type Server struct {
	settings generations
	adopting sync.Mutex // guards the change to the next settings

	options Options // the initial options with defaults; Adopt changes only settings
	// never nil
	metrics *metrics.Metrics
	log     *slog.Logger
	lines   io.Writer // of the log; nil if it takes no lines
	// answers in memory, and the turns in which they are made
	results *result.Cache
	// caches plans; the generation is a part of their keys
	planner response.Planner
	// which answers to prepare for a new snapshot
	popular   response.Popular
	shadow    *compare.Shadow     // nil if answers are not compared
	shadowed  sync.WaitGroup      // connections of shadow
	guesses   *auth.Guesses       // limits wrong keys; nil if there is no limit
	strangers *auth.Limiter       // limits requests for unknown users of the citation index
	forwarder *upstream.Forwarder // nil if there is no upstream server
	purger    *purge.Purger       // nil if there are no targets to purge
	health    *health.Checker
	cockpit   *cockpit.Cockpit
	fields    *fields.Checker
	counted   atomic.Bool // the column for counting authors was made

	// the server is about to end: balancers shall send nothing more
	draining atomic.Bool
	// New, Serve and their callers may all close the server
	close sync.Once
	app   *fiber.App
	admin *fiber.App
}

// handler returns what the HTTP server calls for each request to an app. While the server drains, it closes
// connections after their response, so that clients move elsewhere. A method that the app does not know never
// reaches Fiber, see refuseMethod.
func (s *Server) handler(app *fiber.App) fasthttp.RequestHandler {
	next, known := plainPath(app.Handler()), app.Config().RequestMethods
	return func(ctx *fasthttp.RequestCtx) {
		if c, ok := ctx.Conn().(*listener.Conn); ok {
			c.Begin(ctx)
			defer c.Finish(ctx)
		}
		// Costly work looks at this count to see that a request has come which should go first.
		s.results.NoteRequest()
		if slices.Contains(known, string(ctx.Method())) {
			next(ctx)
		} else {
			refuseMethod(ctx)
		}
		if s.draining.Load() {
			ctx.SetConnectionClose()
		}
	}
}

// quiet logs the HTTP server's reports about single connections at level debug, because any client can cause them.
type quiet struct{ log *slog.Logger }

// Printf implements fasthttp.Logger. It cuts an error before what it quotes of the request, perhaps a key.
func (q quiet) Printf(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i], _, _ = strings.Cut(err.Error(), `"`)
		}
	}
	q.log.Debug(fmt.Sprintf(format, args...))
}

// New builds a server. Errors name the invalid option. Close it when done, or let Serve do so.
func New(o Options) (*Server, error) {
	if o.Views == nil {
		return nil, errors.New("proxy: Options.Views is missing")
	}
	o.Limits = o.Limits.withDefaults()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Metrics == nil {
		o.Metrics = metrics.New()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		options: o, metrics: o.Metrics, log: o.Logger,
		guesses:   auth.NewGuesses(o.Limits.KeyFailures),
		strangers: api.Strangers(),
	}
	s.health = &health.Checker{Views: o.Views, Store: o.Store, Optional: o.Optional, Draining: s.draining.Load}
	s.lines, _ = s.log.Handler().(io.Writer)
	var err error
	if s.results, err = result.New(o.Cache); err != nil {
		return nil, err
	}
	s.fields = &fields.Checker{Views: o.Views, Begin: s.results.Begin, Log: s.log}
	s.forwarder, err = s.newForwarder(o.Upstream)
	if s.forwarder != nil {
		s.health.Upstream = s.forwarder.State
	}
	if err == nil && o.Shadow.URL != "" {
		// s.app does not exist yet: the first request of the Shadow comes after Serve.
		own := inMemory(func(c net.Conn) error { return s.app.Server().ServeConn(c) }, &s.shadowed, s.log)
		s.shadow, err = compare.NewShadow(o.Shadow.URL, o.Shadow.Share, own, s.metrics.Registry())
	}
	// From here on one error skips the rest, and Close frees what there is by then.
	o.Purge.Log, o.Purge.Metrics = o.Logger, s.metrics.Registry()
	if err == nil {
		s.purger, err = purge.New(o.Purge)
	}
	if err == nil {
		err = s.open(o)
	}
	if err == nil {
		err = upstream.Adopt(o.Upstream.Keeper, o.Upstream.Keep, s.results.InFlight())
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	o.Views.Prepare(s.prepare)
	purgeAll(s) // what was shown before Prepare
	return s, nil
}

// Check returns the error of New for options without Views. It runs all of New, so that no check is missing. The
// server answers nothing, so that the check needs neither a store nor memory for views.
func Check(o Options) error {
	o.Views = noViews{}
	s, err := New(o)
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// noViews is a Source without views, for a server that answers no request.
type noViews struct{ Source }

// Status implements Source.
func (noViews) Status() []view.Status { return nil }

// Prepare implements Source.
func (noViews) Prepare(view.Preparer) {}

// open makes the first settings and the apps. The apps come after the settings, because the routes of resources
// are those of the first settings.
func (s *Server) open(o Options) error {
	first, err := s.newSettings(o, nil)
	if err != nil {
		return err
	}
	s.settings.Store(first)
	s.metrics.Watch(o.Views, o.Store, s.results, s.options.Now)
	s.app = s.newApp()
	s.routes(first)
	s.admin = s.newAdmin(o.Admin)
	for _, app := range []*fiber.App{s.app, s.admin} {
		app.Server().Handler = s.handler(app)
	}
	return nil
}

// urlBytes is the longest URL, in bytes. Header fields may have listener.MaxFields in addition. Filters in JSON
// are long, and a GET has no other place for them.
const urlBytes = 64 << 10

// App returns the public app, for requests without a network.
func (s *Server) App() *fiber.App { return s.app }

// AdminApp returns the operator's app, for requests without a network.
func (s *Server) AdminApp() *fiber.App { return s.admin }

// newAdmin returns the operator's app. It has its own guesses, and no shortcuts, CORS or rate limit: it serves one
// operator, whom the limits of clients must not lock out.
func (s *Server) newAdmin(o admin.Options) *fiber.App {
	app := s.newApp()
	app.Use(func(c *fiber.Ctx) error {
		s.setHeaders(c)
		err := checkHead(c)
		if err == nil {
			err = guarded(c, nil)
		}
		return s.fail(c, err)
	})
	guesses := auth.NewGuesses(s.options.Limits.KeyFailures) // of tokens, apart from those of keys
	s.cockpit = admin.Install(app, o, admin.Subject{
		Health: s.health, Metrics: s.metrics, Fields: s.fields, Keeper: s.options.Upstream.Keeper,
		Upstream: func() *traffic.Status {
			return s.forwarder.Status(s.settings.Load().upstream, s.metrics)
		},
		KeptChanged: s.KeptChanged, Purger: s.purger, Shadow: s.shadow, Now: s.options.Now,
		WrongToken: func(c *fiber.Ctx) error { return s.settingsOf(c).auth.CountWrongKey(guesses, c) },
		Begin:      s.results.Begin,
		Timeout:    func() time.Duration { return s.settings.Load().response.Timeout },
		Explain:    func(c *fiber.Ctx) error { return explainAnswer(s, c) },
		Query: func(c *fiber.Ctx) error {
			return explain.Rows(c, s.options.Views, s.settingsOf(c).response)
		},
	})
	return app
}

// bodyLimit returns the longest body of a request that the server reads now, in bytes.
func (s *Server) bodyLimit() int { return s.settings.Load().upstream.BodyLimit() }

// newApp returns an app with the server's limits. It turns every error into an envelope. Both apps have the same
// limits, and so has the app of an explanation.
func (s *Server) newApp() *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               "vitrine",
		DisableStartupMessage: true,
		// /API would otherwise be another spelling of /api for caches in front, with an entry of its own.
		CaseSensitive:     true,
		ReadBufferSize:    urlBytes + listener.MaxFields,
		WriteBufferSize:   writeBuffer,
		ReduceMemoryUsage: true, // see listener.Conn
		// The listener limits connections, by client, too, and evicts idle ones: the HTTP server shall refuse
		// none.
		Concurrency:    listener.MostServed,
		RequestMethods: s.options.Upstream.RequestMethods(),
		ErrorHandler:   s.fail,

		// so that X-Forwarded-Host is ignored; auth.ClientOptions says how to find clients' addresses
		EnableTrustedProxyCheck: true,
		// so that forms in bodies are not read, which would write large ones to files
		DisablePreParseMultipartForm: true,
	})
	// unreadable requests may contain a key
	app.Server().SecureErrorLogMessage = true
	app.Server().Logger = quiet{s.log}
	// A reload may change the longest body, so each request asks for it.
	app.Server().HeaderReceived = func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
		return fasthttp.RequestConfig{MaxRequestBodySize: s.bodyLimit()}
	}
	return app
}

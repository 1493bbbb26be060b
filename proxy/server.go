package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/response"
	"vitrine/rules/pcre"
)

// Server is the front end: the public app and the operator's.
type Server struct {
	views        Source
	auth         *auth.Authenticator
	rate         *auth.Limiter // nil: not limited
	guesses      *auth.Limiter // of keys; nil: not limited
	strangers    *auth.Limiter // of users that the citation index does not have
	limits       Limits
	env          *env
	backtracking time.Duration // of the matches of one request
	results      *result.Cache
	planners     map[string]*response.Planner // by path
	popular      *response.Popular
	response     *response.Responder
	store        func() circuit.State // nil: nothing is told of it
	metrics      *Metrics
	log          *slog.Logger
	accessLog    bool
	now          func() time.Time
	optional     []string   // views whose source may be empty
	counted      *sync.Once // what authors are counted by was made

	draining *atomic.Bool
	close    sync.Once
	app      *fiber.App
	admin    *fiber.App
	handler  fasthttp.RequestHandler // the public app

	edition  int                    // how often settings were adopted before
	adopted  time.Time              // when these were last; zero: never
	live     atomic.Pointer[Server] // who answers: the server itself, or its successor
	adopting sync.Mutex             // guards the way to a successor
}

// New builds a server. Errors name the option at fault. Close it when done, or
// let Serve do so.
func New(o Options) (*Server, error) {
	guesses := auth.NewGuesses(o.Limits.KeyFailures)
	s, err := newServer(o, guesses)
	if err != nil {
		return nil, err
	}
	s.rate = auth.NewLimiter(max(s.limits.Rate, s.limits.Burst), s.limits.Rate, time.Second)
	s.strangers = auth.NewLimiter(mostStrangers, mostStrangers, time.Minute)
	if s.results, err = result.New(o.Cache); err != nil {
		return nil, err
	}
	if err := s.prepareMemory(); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	s.app.Server().Handler = s.delegate
	s.live.Store(s)
	s.admin = s.newAdmin(o.Admin)
	if views, ok := s.views.(preparing); ok {
		views.Prepare(func(ctx context.Context, next *view.Snapshot) (shown func()) {
			return s.live.Load().response.Prepare(ctx, next)
		})
	}
	return s, nil
}

// open builds the public app.
func (s *Server) open(o Options) error {
	cors, err := newCORS(o.CORS)
	if err != nil {
		return err
	}
	s.response = response.New(s.responseOptions(o))
	s.app = s.newApp()
	s.routes(cors)
	s.handler = refuseUnknownMethods(s.app)
	return nil
}

// responseOptions are those of the Responder.
func (s *Server) responseOptions(o Options) response.Options {
	vary := o.Auth.Session.Vary()
	if o.Auth.APIKey != "" || o.Auth.PortfolioKey != "" {
		vary = append([]string{"X-API-Key"}, vary...)
	}
	codings := slices.Clone(o.Codings)
	if o.Codings == nil {
		codings = []result.Coding{result.Zstd, result.Brotli, result.Gzip}
	}
	return response.Options{
		Views: s.views, Results: s.results, Popular: s.popular, Codings: codings,
		Headers: response.Headers{
			Vary: vary, CORS: len(o.CORS.Origins) > 0, MaxAge: o.Fresh.MaxAge, KeyedPublic: o.Fresh.KeyedPublic,
			StaleWhileRevalidate: o.Fresh.StaleWhileRevalidate, StaleIfError: o.Fresh.StaleIfError,
		},
		KeptBytes: s.limits.KeptBytes, Timeout: s.limits.Request,
		Context: s.context, Streamed: s.metrics.streamed, Warm: s.warm, Generation: s.edition, Adopted: s.adopted, Now: s.now,
	}
}

// context derives the context of the work for a request: it carries whom the work is
// charged to and ends, where the system can tell, when the client closes its connection,
// also if it closes only the direction it sends in: the two look the same.
func (s *Server) context(ctx context.Context, c *fiber.Ctx) context.Context {
	ctx = fair.With(ctx, fair.Caller{Client: s.auth.Client(c), Backtracking: pcre.NewBudget(s.backtracking)})
	if conn, ok := c.Context().Conn().(*listener.Conn); ok {
		ctx = conn.Watch(ctx)
	}
	return ctx
}

// newServer builds what depends on options alone.
func newServer(o Options, guesses *auth.Limiter) (*Server, error) {
	s := &Server{
		views:        o.Views,
		guesses:      guesses,
		limits:       o.Limits.withDefaults(),
		metrics:      o.Metrics,
		backtracking: o.Filter.RegexTimeout,
		log:          o.Logger,
		accessLog:    o.AccessLog,
		now:          o.Now,
		optional:     o.Optional,
		store:        o.Store,

		draining: new(atomic.Bool),
		counted:  new(sync.Once),
	}
	if s.views == nil {
		return nil, errors.New("proxy: Options.Views is missing")
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
	o.Limits, o.Now = s.limits, s.now
	var err error
	if s.env, err = newEnv(o); err != nil {
		return nil, err
	}
	s.auth, err = auth.New(auth.Options{
		APIKey: o.Auth.APIKey, PortfolioKey: o.Auth.PortfolioKey, Token: o.Admin.Token, Session: o.Auth.Session, Client: o.Client,
		Person: s.env.findPerson, Guesses: s.guesses, WrongKeys: s.metrics.wrongKeys, Now: s.now,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// prepareMemory makes what remembers queries and counts answers.
func (s *Server) prepareMemory() error {
	s.planners, s.popular = map[string]*response.Planner{}, &response.Popular{}
	for path := range s.env.resources() {
		p, err := response.NewPlanner()
		if err != nil {
			return err
		}
		s.planners[path] = p
	}
	return s.metrics.watch(s.views, s.store, s.results, s.now)
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

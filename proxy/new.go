package proxy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/response"
)

// New builds a server. Errors name the option at fault. Close it when done, or
// let Serve do so.
func New(o Options) (*Server, error) {
	if o.Views == nil {
		return nil, errors.New("proxy: Options.Views is missing")
	}
	o.Limits = o.Limits.withDefaults()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		options: o, metrics: o.Metrics, log: o.Logger,
		rate:      auth.NewLimiter(max(o.Limits.Rate, o.Limits.Burst), o.Limits.Rate, time.Second),
		guesses:   auth.NewGuesses(o.Limits.KeyFailures),
		strangers: api.Strangers(),
	}
	var err error
	if s.results, err = result.New(o.Cache); err != nil {
		return nil, err
	}
	if s.planner, err = response.NewPlanner(); err != nil {
		s.results.Close()
		return nil, err
	}
	if err := s.open(o); err != nil {
		s.Close()
		return nil, err
	}
	// The settings are looked up for each snapshot: those adopted meanwhile prepare it.
	o.Views.Prepare(func(ctx context.Context, next *view.Snapshot) (shown func()) {
		return s.settings.Load().response.Prepare(ctx, next)
	})
	return s, nil
}

// open makes the first settings and the apps.
func (s *Server) open(o Options) error {
	first, err := s.newSettings(o, 0, time.Time{})
	if err != nil {
		return err
	}
	s.settings.Store(first)
	s.metrics.watch(o.Views, o.Store, s.results, s.options.Now)
	s.app = s.newApp()
	s.routes(first)
	s.app.Server().Handler = s.lastWhileDraining(refuseUnknownMethods(s.app))
	s.admin = s.newAdmin(o.Admin)
	return nil
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
		ReadBufferSize:        s.options.Limits.URLBytes + listener.HeaderRoom,
		WriteBufferSize:       writeBuffer,
		ReduceMemoryUsage:     true, // see listener.Conn
		Concurrency:           listener.MostServed,
		BodyLimit:             s.options.Limits.BodyBytes,
		ReadTimeout:           s.options.Limits.Read,
		WriteTimeout:          s.options.Limits.Send,
		IdleTimeout:           s.options.Limits.Idle,
		ErrorHandler:          s.fail,

		// No X-Forwarded-Host counts; auth.ClientOptions says where clients are known from.
		EnableTrustedProxyCheck: true,
		// A form in a body would be read, into files if it is large.
		DisablePreParseMultipartForm: true,
	})
	// What cannot be read may hold a key.
	app.Server().SecureErrorLogMessage = true
	app.Server().Logger = quiet{s.log}
	return app
}

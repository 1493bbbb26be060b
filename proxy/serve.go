package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Serve answers on both listeners until ctx ends, then drains: /readyz turns 503
// and answers close their connections at once, the public listener closes after
// Limits.DrainDelay, and requests under way have Limits.Shutdown to finish; the
// operator's listener closes last. It closes the listeners and the server; admin may
// be nil. A clean end is nil, also if a client did not take its answer in time; a
// listener that fails ends both.
func (s *Server) Serve(ctx context.Context, public, admin net.Listener) error {
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := s.start(s.app, public, cancel)
	var administered <-chan error
	if admin != nil {
		administered = s.start(s.admin, admin, cancel)
	}
	<-ctx.Done()

	s.drain()
	err := s.shutDown(s.app, public, served)
	if admin != nil {
		err = errors.Join(err, s.shutDown(s.admin, admin, administered))
	}
	return err
}

// start listens until the app is shut down; should it end by itself, failed is called.
func (s *Server) start(app *fiber.App, ln net.Listener, failed func()) <-chan error {
	ended := make(chan error, 1)
	go func() {
		ended <- app.Listener(s.newGate(ln))
		failed()
	}()
	return ended
}

// drain lets balancers see that nothing more should come here.
func (s *Server) drain() {
	s.draining.Store(true)
	if s.limits.DrainDelay <= 0 {
		return
	}
	s.log.Info("draining", "for", s.limits.DrainDelay)
	time.Sleep(s.limits.DrainDelay)
}

// shutDown ends one app and returns why it did not end well. A client that has not
// taken its answer by then is cut off, which is no fault of the server's.
func (s *Server) shutDown(app *fiber.App, ln net.Listener, ended <-chan error) error {
	select {
	case err := <-ended:
		return fmt.Errorf("proxy: serve %s: %w", ln.Addr(), err)
	default:
	}
	ctx, cancel := context.Background(), func() {}
	if s.limits.Shutdown > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.limits.Shutdown)
	}
	defer cancel()
	err := app.ShutdownWithContext(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("clients cut off", "address", ln.Addr().String(), "after", s.limits.Shutdown)
		err = nil
	}
	if err := errors.Join(err, <-ended); err != nil {
		return fmt.Errorf("proxy: shut down %s: %w", ln.Addr(), err)
	}
	return nil
}

// Close frees what is kept. Serve does it at its end; call it where Serve is not
// called. It may be called again.
func (s *Server) Close() {
	s.close.Do(func() {
		s.results.Close()
		for _, p := range s.planners {
			p.kept.Close()
		}
	})
}

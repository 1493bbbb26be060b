package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/listener"
)

// Serve answers on both listeners until ctx ends, then drains: /readyz returns 503 and answers close their connections
// at once, the public listener closes after Limits.DrainDelay, and running requests have Limits.Shutdown to finish; the
// operator's listener closes last. Serve closes the listeners and the server; admin may be nil. It returns nil after a
// normal end, even if a client did not read its answer in time. If one listener fails, both end.
func (s *Server) Serve(ctx context.Context, public, admin net.Listener) error {
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := []*runningApp{s.start(s.app, public, cancel)}
	if admin != nil {
		served = append(served, s.start(s.admin, admin, cancel))
	}
	defer s.shadowed.Wait()
	if s.shadow != nil {
		s.shadowed.Go(func() { s.shadow.Run(ctx) })
	}
	<-ctx.Done()

	// From now on balancers see that they should send nothing more.
	s.draining.Store(true)
	s.cockpit.Close()
	if delay := s.options.Limits.DrainDelay; delay > 0 {
		s.log.Info("draining", "for", delay)
		time.Sleep(delay)
	}
	// The operator's app ends last, because its metrics show how the public one ends.
	var all error
	for _, app := range served {
		all = errors.Join(all, s.shutDown(app))
	}
	return all
}

// runningApp is an app that answers on a listener.
type runningApp struct {
	*listener.Listener
	server *fasthttp.Server
	ended  chan error     // why no more connections are accepted
	conns  sync.WaitGroup // connections being served
}

// start answers on a listener until the app is shut down. If the app ends by itself, start calls failed.
func (s *Server) start(app *fiber.App, ln net.Listener, failed func()) *runningApp {
	app.Handler() // makes Fiber prepare the app
	limits := s.options.Limits
	o := listener.Options{
		Read: limits.Read, Idle: time.Minute, Write: limits.Write, Send: time.Hour, HeaderBytes: urlBytes + listener.MaxFields,
		MaxConns: limits.Concurrency, MaxPerClient: limits.ClientConnections,
		Busy: crowded, Client: func(peer net.Addr) netip.Prefix { return s.settings.Load().auth.Peer(peer) }, InFlight: s.results.InFlight(), Logger: s.log,
		Open: s.metrics.connections, Refused: s.metrics.refused, Evicted: s.metrics.evicted,
	}
	if app == s.app && s.shadow == nil { // which gets every request, as a limit counts every one
		o.Shortcut = func(c *listener.Conn, header []byte) (bool, error) {
			set := s.settings.Load()
			if s.draining.Load() || set.limit != nil {
				return false, nil
			}
			return set.shortcuts.answer(c, header)
		}
	}
	v := &runningApp{Listener: listener.New(ln, o), server: app.Server(), ended: make(chan error, 1)}
	go func() {
		defer failed()
		for {
			c, err := v.Accept()
			if err != nil {
				v.ended <- err
				return
			}
			v.conns.Go(func() { s.serveConn(v.server, c) })
		}
	}()
	return v
}

// serveConn answers the requests of a connection. It is the outermost call for everything that runs for a request:
// reading it, the handlers, metrics, the log, sending the answer.
func (s *Server) serveConn(server *fasthttp.Server, c *listener.Conn) {
	defer func() {
		if r := recover(); r != nil {
			s.rescue(c, &panicError{value: r, stack: debug.Stack()})
		}
		c.Disconnect()
	}()
	if err := c.SendLast(server.ServeConn(c)); err != nil {
		quiet{s.log}.Printf("serve %s: %v", c.RemoteAddr(), err)
		c.Linger()
	}
}

// rescue ends a connection after a panic outside of guarded. It answers the client if nothing has been sent, releases
// what the answer holds, and logs the panic, unless the log itself panics.
func (s *Server) rescue(c *listener.Conn, p *panicError) {
	defer func() { _ = recover() }()
	s.metrics.panics.Inc()
	defer s.log.Error("request failed", "status", http.StatusInternalServerError, "error", p.Error())
	if !c.Sent() {
		c.Join(false)
		_, _ = c.Write(broken) // the client may have gone
	}
	if _ = c.SendLast(p); c.Request != nil { // ignore the errors: the panic is their cause
		_ = c.Request.Response.CloseBodyStream()
	}
}

// shutDown ends one app. That it cuts off clients that have not read their answers by then is not an error.
func (s *Server) shutDown(v *runningApp) error {
	addr := v.Addr().String()
	// If a listener has failed, it returns why; after Close it only returns that it is closed.
	select {
	case err := <-v.ended:
		return fmt.Errorf("proxy: serve %s: %w", addr, err)
	default:
	}
	err := v.Close()
	<-v.ended
	grace, answered := context.WithTimeout(context.Background(), s.options.Limits.Shutdown)
	go func() {
		defer answered()
		v.conns.Wait()
	}()
	<-grace.Done()
	if errors.Is(grace.Err(), context.DeadlineExceeded) {
		s.log.Warn("clients cut off", "address", addr, "after", s.options.Limits.Shutdown, "connections", v.CloseAll())
	}
	if err != nil {
		return fmt.Errorf("proxy: shut down %s: %w", addr, err)
	}
	return nil
}

// Close frees the cache. Serve calls it at its end; call it if Serve is not called. It may be called twice.
func (s *Server) Close() {
	s.close.Do(func() {
		s.fields.Wait() // it reads rows
		s.results.Close()
		if s.purger != nil {
			s.purger.Close()
		}
		if s.forwarder != nil {
			s.forwarder.Close()
		}
	})
}

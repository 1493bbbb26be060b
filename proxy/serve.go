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
	"vitrine/rules/fault"
)

// Serve answers on both listeners until ctx ends, then drains: /readyz returns 503 and answers close their
// connections at once, the public listener closes after Limits.Delay, and running requests have Limits.Grace
// to finish; the operator's listener closes last. Serve closes the listeners and the server; admin may be nil. It
// returns nil after a normal end, even if a client did not read its answer in time. If one listener fails, both end
// in the same way, and Serve returns why.
func (s *Server) Serve(ctx context.Context, public, admin net.Listener) error {
	ended := true // no connection is served any more
	defer func() { free(s, ended) }()
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
	if delay := s.options.Limits.Delay; delay > 0 {
		s.log.Info("draining", "for", delay)
		time.Sleep(delay)
	}
	// The operator's app ends last, because its metrics show how the public one ends.
	var all error
	for _, app := range served {
		done, err := s.shutDown(app)
		all, ended = errors.Join(all, err), ended && done
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
		// Write ends a client that reads nothing. Send bounds a whole response, so that a client that reads a byte
		// now and then does not hold its memory for ever.
		Read: limits.Read, Idle: time.Minute, Write: limits.Write, Send: time.Hour,
		HeaderBytes: urlBytes + listener.MaxFields,
		MaxConns:    limits.Concurrency, MaxPerClient: limits.ClientConnections,
		Busy: crowded, Client: func(peer net.Addr) netip.Prefix { return s.settings.Load().auth.Peer(peer) },
		InFlight: s.results.InFlight(), Logger: s.log,
		BodyBytes: s.bodyLimit,
		Open:      s.metrics.Connections, Refused: s.metrics.Refused, Evicted: s.metrics.Evicted,
	}
	if app == s.app && s.shadow == nil { // which gets every request, as a limit counts every one
		o.Shortcut = func(c *listener.Conn, head *listener.Head) (bool, error) {
			// A draining server must close each connection, and a limit must count each request: a shortcut does
			// neither.
			set := s.settings.Load()
			if s.draining.Load() || set.limit != nil {
				return false, nil
			}
			return set.shortcuts.answer(c, head)
		}
	}
	v := &runningApp{Listener: listener.New(ln, o), server: app.Server(), ended: make(chan error, 1)}
	go func() {
		defer failed()
		// Accept waits out the errors that pass, so the one that it returns is final.
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
	defer fault.Panics()()
	defer func() {
		if r := recover(); r != nil {
			fault.Report(r)
			s.rescue(c, &panicError{value: r, stack: debug.Stack()})
		}
		c.Disconnect()
	}()
	// Linger waits only if a part of a response was sent: a connection that broke before is closed at once.
	if err := c.SendLast(server.ServeConn(c)); err != nil {
		quiet{s.log}.Printf("serve %s: %v", c.RemoteAddr(), err)
		c.Linger()
	}
}

// rescue ends a connection after a panic outside of guarded. It answers the client if nothing has been sent, releases
// what the answer holds, and logs the panic, unless the log itself panics.
func (s *Server) rescue(c *listener.Conn, p *panicError) {
	defer func() { _ = recover() }()
	s.metrics.Panics.Inc()
	defer s.log.Error("request failed", "status", http.StatusInternalServerError, "error", p.Error())
	if !c.Sent() {
		c.Join(false)
		_, _ = c.Write(broken) // the client may have gone
	}
	if _ = c.SendLast(p); c.Request != nil { // ignore the errors: the panic is their cause
		_ = c.Request.Response.CloseBodyStream()
	}
}

// cutOff is how long requests may run on after their connection was closed. They notice it within 50 ms, except those
// of package pprof, which end by time.
const cutOff = 2 * time.Second

// shutDown ends one app, and reports whether all its connections have ended. A failed listener's connections, too,
// have time to end: they use the cache, which the caller frees next. That shutDown cuts off clients which have not
// read their answers by then is not an error.
func (s *Server) shutDown(v *runningApp) (ended bool, err error) {
	addr := v.Addr().String()
	// If a listener has failed, it returns why; after Close it only returns that it is closed.
	select {
	case err = <-v.ended:
		err = fmt.Errorf("proxy: serve %s: %w", addr, err)
		_ = v.Close() // closes idle connections; that the listener is closed already is no news
	default:
		if err = v.Close(); err != nil {
			err = fmt.Errorf("proxy: shut down %s: %w", addr, err)
		}
		<-v.ended
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		v.conns.Wait()
	}()
	if within(answered, s.options.Limits.Grace) {
		return true, err
	}
	s.log.Warn("clients cut off", "address", addr, "after", s.options.Limits.Grace, "connections", v.CloseAll())
	return within(answered, cutOff), err
}

// within waits for a channel to be closed, at most some time, and reports whether it was.
func within(done <-chan struct{}, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Close frees the cache. Serve calls it at its end; call it if Serve is not called. It may be called twice.
func (s *Server) Close() { free(s, true) }

// free ends what belongs to the server. It frees the cache only if no request is running: one that outlives its
// connection must not read freed memory, and the process is about to end.
func free(s *Server, idle bool) {
	s.close.Do(func() {
		// Before the cache is freed: a check has a turn of it.
		s.fields.Wait() // it reads rows
		if idle {
			s.results.Close()
		} else {
			s.log.Warn("requests still run: the cache is not freed")
		}
		if s.purger != nil {
			s.purger.Close()
		}
		s.forwarder.Close()
	})
}

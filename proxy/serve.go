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
	served := []*serving{s.start(s.app, public, cancel)}
	if admin != nil {
		served = append(served, s.start(s.admin, admin, cancel))
	}
	<-ctx.Done()

	// Balancers see now that nothing more should come here.
	s.draining.Store(true)
	if delay := s.options.Limits.DrainDelay; delay > 0 {
		s.log.Info("draining", "for", delay)
		time.Sleep(delay)
	}
	// The operator's app is the last: its metrics show how the public one ends.
	var all error
	for _, app := range served {
		all = errors.Join(all, s.shutDown(app))
	}
	return all
}

// serving is an app that answers on a listener.
type serving struct {
	*listener.Listener
	server *fasthttp.Server
	ended  chan error     // why no more connections are accepted
	conns  sync.WaitGroup // those being served
}

// start answers on a listener, within the limits on connections, until the app is shut
// down; should it end by itself, failed is called.
func (s *Server) start(app *fiber.App, ln net.Listener, failed func()) *serving {
	app.Handler() // has the app prepared
	limits := s.options.Limits
	bounded := listener.New(ln, listener.Options{
		Read: limits.Read, Idle: time.Minute, Write: limits.Write, Send: time.Hour, HeaderBytes: urlBytes + listener.HeaderRoom,
		MaxConns: limits.Concurrency, MaxPerClient: limits.ClientConnections,
		Busy: crowded, Client: func(peer net.Addr) netip.Prefix { return s.settings.Load().auth.Peer(peer) }, InFlight: s.results.InFlight(), Logger: s.log,
		Open: s.metrics.connections, Refused: s.metrics.refused, Evicted: s.metrics.evicted,
	})
	v := &serving{Listener: bounded, server: app.Server(), ended: make(chan error, 1)}
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

// serveConn answers the requests of a connection. It is the outermost call of all that
// runs for a request: reading it, the handlers, metrics, the log, sending the answer.
func (s *Server) serveConn(server *fasthttp.Server, c *listener.Conn) {
	defer func() {
		if r := recover(); r != nil {
			s.rescue(c, &panicked{value: r, stack: debug.Stack()})
		}
		c.Disconnect()
	}()
	if err := server.ServeConn(c); err != nil {
		quiet{s.log}.Printf("serve %s: %v", c.RemoteAddr(), err)
		c.Linger()
	}
}

// rescue ends a connection after a panic outside of guarded: the client is answered if
// nothing has been sent, what the answer holds is given back, and the operator learns of
// it, unless it is the log that panics.
func (s *Server) rescue(c *listener.Conn, p *panicked) {
	defer func() { _ = recover() }()
	s.metrics.panics.Inc()
	defer s.log.Error("request failed", "status", http.StatusInternalServerError, "error", p.Error())
	if !c.Sent() {
		c.Join(false)
		_, _ = c.Write(broken) // the client may be gone
	}
	if c.Request != nil {
		_ = c.Request.Response.CloseBodyStream() // its error would be the panic's
	}
}

// shutDown ends one app and returns why it did not end well. A client that has not
// taken its answer by then is cut off, which is no fault of the server's.
func (s *Server) shutDown(v *serving) error {
	addr := v.Addr().String()
	// A listener that has failed by itself says why; once Close was called it only says so.
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

// Close frees what is kept. Serve does it at its end; call it where Serve is not
// called. It may be called again.
func (s *Server) Close() {
	s.close.Do(func() {
		s.results.Close()
		s.planner.Close()
	})
}

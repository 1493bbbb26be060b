package proxy

import (
	"github.com/valyala/fasthttp"

	"vitrine/proxy/listener"
)

// Adopt makes the server answer by other options from the next request on: rights, keys,
// labels, language and first year. Answers that are being made go on by the former ones.
// Views, memory, listeners, metrics and the operator's app stay as they are. If the
// options cannot be used, it returns an error and the former ones stay. It is safe for
// concurrent use.
func (s *Server) Adopt(o Options) error {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	o.Views, o.Metrics, o.Now = s.views, s.metrics, s.now
	next, err := newServer(o, s.guesses)
	if err != nil {
		return err
	}
	next.edition, next.adopted = s.live.Load().edition+1, s.now()
	next.draining, next.counted, next.results, next.popular, next.planners, next.admin = s.draining, s.counted, s.results, s.popular, s.planners, s.admin
	next.rate, next.strangers = s.rate, s.strangers
	if err := next.open(o); err != nil {
		return err
	}
	s.live.Store(next)
	return nil
}

// delegate hands requests to whoever has the settings of the moment. While the server
// drains, every answer is the last of its connection: what keeps connections open, a
// balancer above all, then comes back to another instance, and none is left idle to be
// closed just as it is used again.
func (s *Server) delegate(ctx *fasthttp.RequestCtx) {
	if c, ok := ctx.Conn().(*listener.Conn); ok {
		c.Request = ctx
	}
	s.live.Load().handler(ctx)
	if s.draining.Load() {
		ctx.SetConnectionClose()
	}
}

package proxy

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
)

// resource turns a request into a plan for its answer, or an error. Without a
// session the plan depends on nothing but the parameters, unless it says once.
type resource func(ctx context.Context, r request) (plan, error)

// plan says what will be answered and how to make it.
type plan struct {
	view string
	// query is canonical: of one snapshot, the same text means the same bytes.
	query string
	// build evaluates the query. It may be called again for a body too large to keep.
	build func(context.Context, *view.Snapshot) (*body, error)
	// personal: the answer depends on who asks.
	personal bool
	// prepared: many rows are sent as they are prepared, not made one by one.
	prepared bool
	// once: the plan is for this request only, because it depends on the path, the
	// moment or what was found.
	once bool
	// until is when another answer becomes right by the clock alone. The zero time
	// never comes.
	until time.Time
	// edition is that of the settings it was made by; the planner sets it.
	edition int
}

// answer is the one wrapper between resources and HTTP.
func (s *Server) answer(plans *planner) fiber.Handler {
	return func(c *fiber.Ctx) error {
		r, err := s.admit(c, plans.key)
		if err != nil {
			return err
		}
		if err = s.answerNow(c, plans, r); err != nil {
			err = s.catchUp(c, plans, r, err)
		}
		return err
	}
}

// answerNow answers from the snapshots that are current.
func (s *Server) answerNow(c *fiber.Ctx, plans *planner, r request) error {
	p, err := plans.plan(c, r)
	if err != nil {
		return err
	}
	snapshot, err := s.views.Snapshot(p.view)
	if err != nil {
		return err
	}
	key := answerKey(p, snapshot, negotiate(c.Get(fiber.HeaderAcceptEncoding), s.codings))
	s.headers.set(c, p.personal || r.personal)
	if !p.until.IsZero() {
		s.headers.setUntil(c, p.personal || r.personal, p.until.Sub(s.now()))
	}
	standing := s.standings.of(p.view)
	setHeader(c, fiber.HeaderAge, standing.age)
	if a, ok := s.results.Lookup(key); ok && !a.TooLarge {
		s.hot.note(p, key.Coding)
		setHeader(c, headerCacheStatus, standing.hit())
		return send(c, a)
	}
	return s.compute(c, p, snapshot, key)
}

// compute answers what is not in memory yet, or never will be.
func (s *Server) compute(c *fiber.Ctx, p plan, snapshot *view.Snapshot, key result.Key) error {
	ctx, cancel := s.asked(c)
	defer cancel()
	planned := time.Now()
	a, outcome, err := s.results.Get(ctx, key, s.loader(p, snapshot))
	if err != nil {
		return err
	}
	setHeader(c, "Server-Timing", timing(planned.Sub(c.Context().Time()), time.Since(planned)))
	if a.TooLarge {
		return s.sendLarge(ctx, c, p, snapshot, key)
	}
	setHeader(c, headerCacheStatus, s.standings.of(p.view).cacheStatus(outcome))
	return send(c, a)
}

// deadline bounds the evaluation of one request.
func (s *Server) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.limits.Request < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.limits.Request)
}

// loader computes the plain answer of a plan.
func (s *Server) loader(p plan, snapshot *view.Snapshot) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		out, ok, err := b.bytes(s.limits.KeptBytes)
		if err != nil {
			return nil, err
		}
		if !ok {
			return &result.Answer{TooLarge: true}, nil
		}
		return result.NewAnswer(out, contentType, b.count), nil
	}
}

// send writes a kept answer, or 304. The body is shared: Fiber only reads it.
func send(c *fiber.Ctx, a *result.Answer) error {
	setHeader(c, fiber.HeaderETag, a.ETag)
	if matches(c.Get(fiber.HeaderIfNoneMatch), a.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Response().Header.SetContentType(a.ContentType)
	if a.Coding != result.Identity {
		c.Set(fiber.HeaderContentEncoding, string(a.Coding))
	}
	c.Response().SetBodyRaw(a.Body)
	return nil
}

// timing is the Server-Timing header: reading the request, and having its answer.
func timing(plan, answer time.Duration) string {
	b := make([]byte, 0, 48)
	b = append(b, "plan;dur="...)
	b = strconv.AppendFloat(b, plan.Seconds()*1000, 'f', 3, 64)
	b = append(b, ", answer;dur="...)
	b = strconv.AppendFloat(b, answer.Seconds()*1000, 'f', 3, 64)
	return string(b)
}

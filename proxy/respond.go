package proxy

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/query"
	"vitrine/rules/pcre"
)

// request is a call that was let in, copied out of Fiber's buffers.
type request struct {
	auth.Caller
	params query.Params
	id     string // of the path, as it came; empty where it has none
}

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
	// ignored is what the call asks for and is not read, restricted the permission whose
	// lack cuts the list; the planner sets them.
	ignored, restricted string
	// since is from when on the clock has given this answer, where until is known. The zero
	// time: it is not known.
	since time.Time
	// edition is that of the settings it was made by; the planner sets it.
	edition int
}

// answer is the one wrapper between resources and HTTP.
func (s *Server) answer(plans *planner) fiber.Handler {
	return func(c *fiber.Ctx) error {
		caller, err := s.auth.Admit(c, plans.key)
		if err != nil {
			return err
		}
		r := request{Caller: caller}
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
	personal := p.personal || r.Personal
	private := personal || plans.key.Set() && !s.headers.keyed
	s.headers.set(c, private)
	if !p.until.IsZero() {
		s.headers.setUntil(c, private, p.until.Sub(s.now()))
	}
	standing := s.standings.of(p.view)
	setHeader(c, fiber.HeaderAge, "0") // this is the origin, whatever the age of the data
	setHeader(c, headerDataAge, standing.age)
	if err := tellHandling(c, p); err != nil {
		return err
	}
	if !personal {
		s.tellModified(c, p, snapshot, standing)
	}
	if a, ok := s.results.Lookup(key); ok && !a.TooLarge {
		s.hot.note(p, key.Coding)
		setHeader(c, headerCacheStatus, standing.hit())
		if err := s.send(c, a); !errors.Is(err, result.ErrInFlight) {
			return err
		}
	}
	return s.compute(c, p, snapshot, key)
}

// compute answers what is not in memory yet, or never will be.
func (s *Server) compute(c *fiber.Ctx, p plan, snapshot *view.Snapshot, key result.Key) error {
	ctx, cancel := s.asked(c)
	defer cancel()
	planned := time.Now()
	a, outcome, err := s.results.Get(ctx, key, s.loader(p, snapshot))
	if err != nil && !errors.Is(err, result.ErrInFlight) {
		return err
	}
	setHeader(c, "Server-Timing", timing(planned.Sub(c.Context().Time()), time.Since(planned)))
	switch {
	case err == nil && a.TooLarge:
		return s.sendLarge(ctx, c, p, snapshot, key)
	case err == nil:
		setHeader(c, headerCacheStatus, s.standings.of(p.view).cacheStatus(outcome))
		err = s.send(c, a)
	}
	if errors.Is(err, result.ErrInFlight) {
		return s.sendStream(ctx, c, p, snapshot, key) // it takes the memory of a piece
	}
	return err
}

// asked returns a context for what a request asks for. It ends with Limits.Request, or,
// where the system can tell, when the client closes its connection, also if it closes
// only the direction it sends in: the two look the same. The context carries whom the
// work is charged to.
func (s *Server) asked(c *fiber.Ctx) (context.Context, context.CancelFunc) {
	ctx := fair.With(c.UserContext(), fair.Caller{
		Client:       s.auth.Client(c),
		Backtracking: pcre.NewBudget(s.backtracking),
	})
	ctx, cancel := deadline(ctx, s.limits.Request)
	if conn, ok := c.Context().Conn().(*listener.Conn); ok {
		ctx = conn.Watch(ctx)
	}
	return ctx, cancel
}

// loader computes the plain answer of a plan.
func (s *Server) loader(p plan, snapshot *view.Snapshot) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		size := s.limits.KeptBytes
		if b.runs != nil {
			size = b.size()
		}
		if max(size, b.guess) > s.limits.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		out, err := s.gather(ctx, b.pieces(), size)
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		a := result.NewAnswer(out, contentType, b.count)
		a.Ignored = b.ignored
		return a, nil
	}
}

// mostUnclaimed is how many bytes a load may join without claiming memory for them.
const mostUnclaimed = 256 << 10

// gather joins pieces in memory; nil where they have more than most bytes. The error is
// result.ErrInFlight where there is too little memory for that.
func (s *Server) gather(ctx context.Context, all pieces, most int) ([]byte, error) {
	var parts [][]byte
	size, done, turn := 0, func() {}, fair.TurnOf(ctx)
	defer func() { done() }()
	for piece, err := range all {
		before := size
		if size += len(piece); err == nil {
			err = turn.Check(ctx)
		}
		if err == nil && before <= mostUnclaimed && size > mostUnclaimed {
			var claimed func()
			if claimed, err = s.results.InFlight().Make(2 * int64(most)); err == nil { // the parts and the whole
				done = claimed
			}
		}
		if err != nil {
			return nil, err
		}
		if size > most {
			return nil, nil
		}
		parts = append(parts, bytes.Clone(piece))
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return bytes.Join(parts, nil), nil
}

// send writes a kept answer, or 304. The body is shared: Fiber only reads it. The error
// is result.ErrInFlight where too much waits to be sent.
func (s *Server) send(c *fiber.Ctx, a *result.Answer) error {
	if err := tellIgnored(c, a.Ignored); err != nil {
		return err
	}
	setHeader(c, fiber.HeaderETag, a.ETag)
	if unchanged(c, a.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	counted := len(a.Body) > result.Uncounted && c.Method() != fiber.MethodHead
	if counted && !s.results.InFlight().Hold(a) {
		return result.ErrInFlight
	}
	c.Response().Header.SetContentType(a.ContentType)
	if a.Coding != result.Identity {
		c.Set(fiber.HeaderContentEncoding, string(a.Coding))
	}
	if !counted {
		c.Response().SetBodyRaw(a.Body)
		return nil
	}
	whole := func(yield func([]byte, error) bool) { yield(a.Body, nil) }
	s.sendPieces(c, whole, len(a.Body), func() { s.results.InFlight().Release(a) })
	return nil
}

// sendPieces has pieces sent; a size of -1 is unknown. Then ended is called, once.
func (s *Server) sendPieces(c *fiber.Ctx, all pieces, size int, ended func()) {
	observe := s.metrics.streamed(c)
	c.Context().SetBodyStream(&stream{pieces: all, ended: func(sent int64) { ended(); observe(sent) }}, size)
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

package response

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// Views is where answers come from; *view.Set is one.
type Views interface {
	// Snapshot returns a view's current snapshot, or rules.ErrUnavailable.
	Snapshot(view string) (*view.Snapshot, error)
	// Status returns the state of every view.
	Status() []view.Status
}

// Options configures a Responder. Every field but Codings is needed.
type Options struct {
	Views     Views
	Results   *result.Cache
	Popular   *Popular
	Headers   Headers
	Codings   []result.Coding // on offer, best first
	KeptBytes int             // a longer answer is streamed, not kept
	Timeout   time.Duration   // of evaluating one request; negative: no limit

	// Context derives from ctx the context of the work for a request, which says whom the
	// work is charged to and ends when the client leaves.
	Context func(ctx context.Context, c *fiber.Ctx) context.Context
	// Streamed returns what is called with the number of bytes sent when a stream has ended.
	Streamed func(*fiber.Ctx) func(int64)
	// Warm is called with a snapshot that has just been shown.
	Warm func(context.Context, *view.Snapshot)

	Generation int       // of the settings, from 0 on
	Adopted    time.Time // when these settings took the place of others; zero: they are the first
	Now        func() time.Time
}

// Responder answers requests by one generation of settings. It is safe for concurrent use.
type Responder struct {
	options  Options
	results  *result.Cache
	joinable []result.Coding // those of Options.Codings that bodies are put together in
	headers  headers
	ages     ages
}

// New returns a Responder.
func New(o Options) *Responder {
	return &Responder{
		options: o, results: o.Results, headers: newHeaders(o.Headers), ages: ages{views: o.Views, now: o.Now},
		joinable: slices.DeleteFunc(slices.Clone(o.Codings), func(c result.Coding) bool { return c != result.Gzip }),
	}
}

// Caller is what a Responder has to know of who asks.
type Caller struct {
	Anonymous bool // there is no session: the plan may be kept
	Personal  bool // no answer may be kept for others
	Keyed     bool // the resource needs a key
}

// Serve answers a request by the plan that planner keeps for its query string, or that
// plan makes. A view that went on while it was read is read again, as often as maxRetries
// and no longer than a request may take.
func (r *Responder) Serve(c *fiber.Ctx, planner *Planner, caller Caller, plan func() (Plan, error)) error {
	err := r.serve(c, planner, caller, plan)
	views, able := r.options.Views.(waiter)
	if err == nil || !able {
		return err
	}
	ctx, cancel := r.context(c)
	defer cancel()
	for range maxRetries {
		var moved *view.MovedError
		if !errors.As(err, &moved) {
			return err
		}
		if err := views.Newer(ctx, moved); err != nil {
			return err
		}
		err = r.serve(c, planner, caller, plan)
	}
	return err
}

// waiter is a Views whose views may go on while they are read, because they stay in the
// store.
type waiter interface {
	Newer(ctx context.Context, moved *view.MovedError) error
}

// maxRetries bounds how often an answer is begun again because a view has gone on. A view
// that goes on faster than it can be read is published too often.
const maxRetries = 5

// serve answers from the snapshots that are current.
func (r *Responder) serve(c *fiber.Ctx, planner *Planner, caller Caller, plan func() (Plan, error)) error {
	p, err := planner.plan(c.Context().URI().QueryString(), r.options.Generation, caller.Anonymous, plan) // ristretto keeps hashes only
	if err != nil {
		return err
	}
	snapshot, err := r.options.Views.Snapshot(p.View)
	if err != nil {
		return err
	}
	key := p.key(snapshot, negotiate(c.Get(fiber.HeaderAcceptEncoding), r.options.Codings))
	personal := p.Personal || caller.Personal
	private := personal || caller.Keyed && !r.headers.KeyedPublic
	r.headers.set(c, private)
	if !p.Until.IsZero() {
		r.headers.setUntil(c, private, p.Until.Sub(r.options.Now()))
	}
	age := r.ages.of(p.View)
	SetHeader(c, fiber.HeaderAge, "0") // this is the origin, whatever the age of the data
	SetHeader(c, HeaderDataAge, age.seconds)
	if err := reportHandling(c, &p); err != nil {
		return err
	}
	if !personal {
		r.setModified(c, &p, snapshot, age)
	}
	if a, ok := r.results.Lookup(key); ok && !a.TooLarge {
		r.options.Popular.note(&p, key.Coding)
		SetHeader(c, headerCacheStatus, age.hit())
		if err := r.Send(c, a); !errors.Is(err, result.ErrInFlight) {
			return err
		}
	}
	return r.compute(c, p, snapshot, key)
}

// Static sends an answer that changes with the program only, in the coding the client
// likes best.
func (r *Responder) Static(c *fiber.Ctx, name, kind string, content []byte, maxAge time.Duration) error {
	key := result.Key{Query: name, Coding: negotiate(c.Get(fiber.HeaderAcceptEncoding), r.options.Codings)}
	ctx, cancel := r.deadline(c.UserContext())
	defer cancel()
	a, _, err := r.results.Get(ctx, key, func(context.Context) (*result.Answer, error) {
		return result.NewAnswer(content, kind, 1), nil
	})
	if err != nil {
		return err
	}
	c.Append(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	SetHeader(c, fiber.HeaderCacheControl, "public, max-age="+seconds(maxAge))
	return r.Send(c, a)
}

// External sends what read got from elsewhere: nothing for an empty text, else one object,
// so old, and past its time if it is stale. ignored is what the call asks for and is not read.
func (r *Responder) External(c *fiber.Ctx, ignored string, read func(context.Context) (text []byte, age time.Duration, stale bool, err error)) error {
	r.headers.set(c, false)
	if err := reportIgnored(c, ignored); err != nil {
		return err
	}
	c.Response().Header.SetContentType(ContentType)
	ctx, cancel := r.context(c)
	defer cancel()
	text, age, stale, err := read(ctx)
	if err != nil || len(text) == 0 {
		return err
	}
	SetHeader(c, fiber.HeaderAge, "0")
	SetHeader(c, HeaderDataAge, seconds(age))
	if stale {
		SetHeader(c, headerCacheStatus, "vitrine; hit; detail=stale")
	}
	return r.Send(c, result.NewAnswer(text, ContentType, 1))
}

// compute answers what is not in memory yet, or never will be.
func (r *Responder) compute(c *fiber.Ctx, plan Plan, snapshot *view.Snapshot, key result.Key) error {
	p := &plan // a copy, so that the one of serve need not live on the heap
	ctx, cancel := r.context(c)
	defer cancel()
	planned := time.Now()
	a, outcome, err := r.results.Get(ctx, key, r.loader(p, snapshot))
	if err != nil && !errors.Is(err, result.ErrInFlight) {
		return err
	}
	SetHeader(c, "Server-Timing", timing(planned.Sub(c.Context().Time()), time.Since(planned)))
	switch {
	case err == nil && a.TooLarge:
		return r.sendLarge(ctx, c, p, snapshot, key)
	case err == nil:
		SetHeader(c, headerCacheStatus, r.ages.of(p.View).cacheStatus(outcome))
		err = r.Send(c, a)
	}
	if errors.Is(err, result.ErrInFlight) {
		return r.sendStream(ctx, c, p, snapshot, key) // it takes the memory of a piece
	}
	return err
}

// context returns a context for what a request asks for. It ends with Options.Timeout, or
// when Options.Context ends it.
func (r *Responder) context(c *fiber.Ctx) (context.Context, context.CancelFunc) {
	ctx, cancel := r.deadline(c.UserContext())
	return r.options.Context(ctx, c), cancel
}

// deadline bounds the evaluation of one request.
func (r *Responder) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.options.Timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.options.Timeout)
}

// loader computes the plain answer of a plan.
func (r *Responder) loader(p *Plan, snapshot *view.Snapshot) result.Loader {
	return func(ctx context.Context) (*result.Answer, error) {
		b, err := p.build(ctx, snapshot)
		if err != nil {
			return nil, err
		}
		size := r.options.KeptBytes
		if b.blocks != nil {
			size = b.size()
		}
		if max(size, b.Guess) > r.options.KeptBytes {
			return &result.Answer{TooLarge: true}, nil
		}
		out, err := r.gather(ctx, b.Pieces, size)
		if err != nil || out == nil {
			return &result.Answer{TooLarge: true}, err
		}
		a := result.NewAnswer(out, ContentType, b.Count)
		a.Ignored = b.ignored
		return a, nil
	}
}

// mostUnclaimed is how many bytes a load may join without claiming memory for them.
const mostUnclaimed = 256 << 10

// gather joins pieces in memory; nil where they have more than most bytes. The error is
// result.ErrInFlight where there is too little memory for that.
func (r *Responder) gather(ctx context.Context, all Pieces, most int) ([]byte, error) {
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
			if claimed, err = r.results.InFlight().Make(2 * int64(most)); err == nil { // the parts and the whole
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

// Send writes a kept answer, or 304. The body is shared: Fiber only reads it. The error
// is result.ErrInFlight where too much waits to be sent.
func (r *Responder) Send(c *fiber.Ctx, a *result.Answer) error {
	if err := reportIgnored(c, a.Ignored); err != nil {
		return err
	}
	SetHeader(c, fiber.HeaderETag, a.ETag)
	if unchanged(c, a.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	counted := len(a.Body) > result.Uncounted && c.Method() != fiber.MethodHead
	if counted && !r.results.InFlight().Hold(a) {
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
	r.sendPieces(c, whole, len(a.Body), func() { r.results.InFlight().Release(a) })
	return nil
}

// sendPieces has pieces sent; a size of -1 is unknown. Then ended is called, once.
func (r *Responder) sendPieces(c *fiber.Ctx, all Pieces, size int, ended func()) {
	observe := r.options.Streamed(c)
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

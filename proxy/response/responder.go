package response

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/citation"
	"vitrine/cache/result"
	"vitrine/cache/view"
)

// Views is where answers come from; *view.Set is one.
type Views interface {
	// Snapshot returns a view's current snapshot, or rules.ErrUnavailable.
	Snapshot(view string) (*view.Snapshot, error)
	// Newer waits for a snapshot newer than one that moved on while it was read.
	Newer(ctx context.Context, moved *view.MovedError) error
	// Status returns the state of every view.
	Status() []view.Status
}

// Turn is a turn that is paused and resumed.
type Turn interface {
	Pause()
	Resume() error
}

// Options configures a Responder. Views, Results, Planner, Popular, the functions and
// KeptBytes are needed.
type Options struct {
	Freshness
	Views     Views
	Results   *result.Cache
	Planner   *Planner
	Popular   *Popular
	Vary      []string        // names of request headers that answers depend on, beside Accept-Encoding
	Codings   []result.Coding // on offer, best first
	KeptBytes int             // a longer answer is streamed, not kept
	Timeout   time.Duration   // of evaluating one request; negative: no limit

	// Context derives from ctx the context of the work for a request, which says whom the
	// work is charged to and ends when the client leaves, or when the function returned is called.
	Context func(ctx context.Context, c *fiber.Ctx) (context.Context, context.CancelFunc)
	// Hold is called with an answer after InFlight.Hold, and is to call its Drop once it is sent.
	Hold func(*fiber.Ctx, *result.Answer)
	// WriteIn has the answer of a stream written in the turn in which it is made, which the
	// connection pauses while the client does not read; false if it cannot.
	WriteIn func(*fiber.Ctx, Turn) bool
	// Sizes returns what gets the number of bytes sent when a stream has ended.
	Sizes func(*fiber.Ctx) prometheus.Observer
	// Warm is called with a snapshot that has just been shown.
	Warm func(context.Context, *view.Snapshot)

	Generation int       // of the settings, from 0 on
	Adopted    time.Time // when these settings took the place of others; zero: they are the first
	Now        func() time.Time
}

// Responder answers requests by one generation of settings. It is safe for concurrent use.
type Responder struct {
	Options
	headers headers
	ages    ages
}

// New returns a Responder.
func New(o Options) *Responder {
	return &Responder{Options: o, headers: newHeaders(o.Vary, o.Freshness), ages: ages{views: o.Views, now: o.Now}}
}

// Caller is what a Responder has to know of a caller.
type Caller struct {
	Anonymous bool // there is no session: the plan may be kept
	Personal  bool // no answer may be kept for others
	Keyed     bool // the resource needs a key
	// Open: the resource is the same for all callers, whatever they are.
	Open bool
	// Variant is what the plan depends on beside the URL, such as the host of the request.
	Variant [3]string
}

// maxRetries bounds how often an answer is begun again because a view has gone on. A view
// that goes on faster than it can be read is published too often.
const maxRetries = 5

// Serve answers a request by the plan that is kept for its URL, or that plan makes. A view
// that went on while it was read is read again, as often as maxRetries and no longer than a
// request may take.
func (r *Responder) Serve(c *fiber.Ctx, caller Caller, plan func() (Plan, error)) error {
	err := r.serve(c, caller, plan)
	if err == nil {
		return nil
	}
	ctx, cancel := r.context(c)
	defer cancel()
	for range maxRetries {
		var moved *view.MovedError
		if !errors.As(err, &moved) {
			return err
		}
		if err := r.Views.Newer(ctx, moved); err != nil {
			return err
		}
		err = r.serve(c, caller, plan)
	}
	return err
}

// urls are buffers for URLs with what plans depend on beside them.
var urls = sync.Pool{New: func() any { return new([]byte) }}

// serve answers from the snapshots that are current.
func (r *Responder) serve(c *fiber.Ctx, caller Caller, plan func() (Plan, error)) error {
	url := c.Request().Header.RequestURI() // as sent: that of the request decodes %2F. ristretto keeps hashes only
	if caller.Variant != [3]string{} {
		key := urls.Get().(*[]byte)
		defer urls.Put(key)
		*key = append((*key)[:0], url...)
		for _, part := range caller.Variant {
			*key = append(append(*key, ' '), part...)
		}
		url = *key
	}
	p, err := r.Planner.plan(url, r.Generation, caller.Anonymous, plan)
	if err != nil {
		return err
	}
	snapshot, err := r.Views.Snapshot(p.View)
	if err != nil {
		return err
	}
	if p.Whole {
		snapshot = snapshot.Whole()
	}
	header, personal := fieldsOf(c), p.Personal || caller.Personal
	r.setCaching(c, caller.Open, personal || caller.Keyed && !r.KeyedPublic, p.Until)
	age := r.ages.of(p.View)
	SetHeader(c, fiber.HeaderAge, "0") // this is the origin, whatever the age of the data
	SetHeader(c, HeaderDataAge, age.seconds)
	if p.Negotiated != "" {
		c.Append(fiber.HeaderVary, p.Negotiated)
	}
	for _, h := range p.Headers {
		SetHeader(c, h.Name, h.Value)
	}
	if err := reportHandling(c, p, header.hasPrefer); err != nil {
		return err
	}
	if !personal {
		header.unmodified = r.setModified(c, p, snapshot, age, header.modifiedSince)
	}
	key, err := p.key(r.Views, snapshot, negotiate(header.codings, r.Codings))
	if err != nil {
		return err
	}
	if a, ok := r.Results.Lookup(key); ok && !a.TooLarge {
		r.Popular.note(p, key.Coding)
		SetHeader(c, headerCacheStatus, cacheStatus(result.Hit, age.stale))
		if err := r.send(c, a, header); !errors.Is(err, result.ErrInFlight) {
			return err
		}
	}
	return r.compute(c, p, snapshot, key, header)
}

// gzipOnly is an offer of gzip alone.
var gzipOnly = []result.Coding{result.Gzip}

// compute answers what is not in memory yet, or never will be. An answer too large to be
// kept may be small enough compressed, and is kept so. Otherwise, and where there is too
// little memory, it is made while it goes out.
func (r *Responder) compute(c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, key result.Key, header fields) error {
	ctx, cancel := r.context(c)
	defer cancel()
	planned := time.Now()
	a, outcome, err := r.Results.Get(ctx, key, r.loader(p, snapshot))
	if err == nil || errors.Is(err, result.ErrInFlight) {
		SetHeader(c, "Server-Timing", fmt.Sprintf("plan;dur=%.3f, answer;dur=%.3f", milliseconds(planned.Sub(c.Context().Time())), milliseconds(time.Since(planned))))
	}
	if err == nil && a.TooLarge && key.Coding != result.Identity {
		if p.Prepared && slices.Contains(r.Codings, result.Gzip) && negotiate(header.codings, gzipOnly) == result.Gzip {
			key.Coding = result.Gzip // in blocks that other lists and the next generation have too
		}
		packed := key
		packed.Query, packed.Coding = "packed "+string(key.Coding)+"\x00"+key.Query, result.Identity
		a, outcome, err = r.Results.Get(ctx, packed, r.packer(p, snapshot, key))
	}
	if err == nil && !a.TooLarge {
		SetHeader(c, headerCacheStatus, cacheStatus(outcome, r.ages.of(p.View).stale))
		if err = r.send(c, a, header); err == nil {
			return nil
		}
	}
	if err != nil && !errors.Is(err, result.ErrInFlight) {
		return err
	}
	return r.stream(c, p, snapshot, key, header)
}

// Forever is how long a cache may use a copy of what never changes.
const Forever = 365 * 24 * time.Hour

// Static sends an answer that changes with the program only, in the coding the client
// likes best.
func (r *Responder) Static(c *fiber.Ctx, name, kind string, content []byte, maxAge time.Duration) error {
	header := fieldsOf(c)
	key := result.Key{Query: name, Coding: negotiate(header.codings, r.Codings)}
	ctx, cancel := result.WithTimeout(c.UserContext(), r.Timeout)
	defer cancel()
	a, _, err := r.Results.Get(ctx, key, func(context.Context) (*result.Answer, error) {
		return result.NewAnswer(content, kind, 1), nil
	})
	if err != nil {
		return err
	}
	c.Append(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	control := "public, max-age=" + seconds(maxAge)
	if maxAge >= Forever {
		control += ", immutable"
	}
	SetHeader(c, fiber.HeaderCacheControl, control)
	return r.send(c, a, header)
}

// External sends what read got from elsewhere: nothing for an empty text, else one object.
// ignored is what the call asks for and is not read.
func (r *Responder) External(c *fiber.Ctx, ignored string, read func(context.Context) (citation.Answer, error)) error {
	r.setCaching(c, false, false, time.Time{})
	if err := reportIgnored(c, ignored); err != nil {
		return err
	}
	c.Response().Header.SetContentType(ContentType)
	ctx, cancel := r.context(c)
	defer cancel()
	found, err := read(ctx)
	if err != nil || len(found.Text) == 0 {
		return err
	}
	SetHeader(c, fiber.HeaderAge, "0")
	SetHeader(c, HeaderDataAge, seconds(found.Age))
	if found.Stale {
		SetHeader(c, headerCacheStatus, cacheStatus(result.Hit, true))
	}
	return r.send(c, result.NewAnswer(found.Text, ContentType, 1), fieldsOf(c))
}

// context returns a context for what a request asks for. It ends with Options.Timeout, or
// when Options.Context ends it.
func (r *Responder) context(c *fiber.Ctx) (context.Context, context.CancelFunc) {
	ctx, cancel := result.WithTimeout(c.UserContext(), r.Timeout)
	ctx, unwatch := r.Context(ctx, c)
	return ctx, func() { unwatch(); cancel() }
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// send writes a kept answer, or 304. The body is shared: Fiber only reads it. The error
// is result.ErrInFlight where too much waits to be sent.
func (r *Responder) send(c *fiber.Ctx, a *result.Answer, header fields) error {
	if err := reportIgnored(c, a.Ignored); err != nil {
		return err
	}
	setLinks(c, a.Links)
	SetHeader(c, fiber.HeaderETag, a.ETag)
	if header.unchanged(a.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	sends := c.Method() != fiber.MethodHead
	if sends && !r.Results.InFlight().Hold(a) {
		return result.ErrInFlight
	}
	c.Response().Header.SetContentType(a.ContentType)
	if a.Coding != result.Identity {
		c.Set(fiber.HeaderContentEncoding, string(a.Coding))
	}
	c.Response().SetBodyRaw(a.Body)
	if sends {
		r.Hold(c, a)
	}
	return nil
}

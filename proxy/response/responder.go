package response

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy/listener"
	"vitrine/rules/pcre"
)

// Options configures a Responder. Views, Results, Planner, Popular, Now and KeptBytes are required.
type Options struct {
	configs.CacheControl
	Views        Views
	Results      *result.Cache
	Planner      *Planner
	Popular      *Popular
	Vary         []string        // names of request headers that answers depend on, beside Accept-Encoding
	Codings      []result.Coding // on offer, best first
	KeptBytes    int             // a longer body is streamed, not kept
	Backtracking time.Duration   // of all expressions of one request
	Timeout      time.Duration   // of planning and evaluating one request, after it was received

	Tags       func(Plan) []Header // headers for caches that are told what has changed; nil if none are
	Generation int                 // number of the settings, from 0
	Adopted    time.Time           // when these settings replaced others; zero for the first settings
	Now        func() time.Time

	Inspect Inspect // see Inspecting; nil if requests are answered
}

// Responder answers requests under one generation of settings. It is safe for concurrent use.
type Responder struct {
	Options
	headers headers
	ages    ages
}

// New returns a Responder.
func New(o Options) *Responder {
	return &Responder{
		Options: o, headers: newHeaders(o.Vary, o.CacheControl, o.Adopted), ages: ages{views: o.Views},
	}
}

// Audience says who requested an answer, and who else may get it.
type Audience struct {
	Client    netip.Prefix // the client that is charged for the work
	Anonymous bool         // there is no session, so the plan may be kept
	Personal  bool         // the answer must not be kept for others
	Keyed     bool         // the resource needs a key
	// Open: the resource is the same for all callers.
	Open bool
	// Variant has everything that the plan depends on beside the URL, such as the host of the request.
	Variant [4]string
}

// maxRetries bounds how often Serve begins again because a view was published meanwhile.
const maxRetries = 5

// Serve answers a request by the cached plan of its URL, or the plan that plan returns. If a view was published again
// while it was read, or a cached plan holds no longer, Serve begins again, up to maxRetries times and for no longer
// than a request may take.
func (r *Responder) Serve(c *fiber.Ctx, who Audience, plan MakePlan) error {
	err := r.serve(c, who, plan)
	if err == nil {
		return nil
	}
	// A context is made only now, because its timer costs as much as a kept answer.
	ctx, cancel := r.Limited(c, who.Client)
	defer cancel()
	for range maxRetries {
		if moved, ok := errors.AsType[*view.MovedError](err); ok {
			if err := r.Views.Newer(ctx, moved); err != nil {
				return err
			}
		} else if !errors.Is(err, ErrGuess) {
			return err
		}
		err = r.serve(c, who, plan)
	}
	return err
}

// urls is a pool of buffers for URLs with their variants.
var urls = sync.Pool{New: func() any { return new([]byte) }}

// serve answers from the current snapshots.
func (r *Responder) serve(c *fiber.Ctx, who Audience, plan MakePlan) error {
	// the URL as sent, because in the request's path %2F is decoded; the Planner copies it
	url := c.Request().Header.RequestURI()
	if who.Variant != [4]string{} {
		key := urls.Get().(*[]byte)
		defer urls.Put(key)
		*key = append((*key)[:0], url...)
		for _, part := range who.Variant {
			*key = append(append(*key, ' '), part...)
		}
		url = *key
	}
	now := r.Now()
	found, err := r.plan(url, now, who.Anonymous, plan)
	if err != nil {
		return err
	}
	p, snapshots := found.servedPlan, found.snapshots
	header, personal := fieldsOf(c), p.Personal || who.Personal
	r.headers.setCaching(c, now, who.Open, personal || who.Keyed && !r.KeyedPublic(), p.Period)
	ages := r.ages.last.Load()
	age := r.ages.of(p.View, now)
	SetHeader(c, fiber.HeaderAge, "0") // 0, because this server is the origin, however old the data is
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
		header.unmodified = r.headers.setModified(c, p, snapshots, age, header.modifiedSince, r.Now())
	}
	// The headers are complete, except those of the body. Now find the body, or make it.
	key := p.keyOn(snapshots, negotiate(header.codings, r.Codings))
	if r.Inspect != nil {
		return r.Planner.dropWrong(url, r.inspect(c, who.Client, p, snapshots, key))
	}
	a := r.Results.Lookup(key)
	if err := snapshots.doubts(a); err != nil {
		return err
	}
	// An entry without a tag only says that the answer is too large to keep.
	if a != nil && a.ETag != "" {
		r.Popular.note(p, key.Coding, a.TooLarge)
		SetHeader(c, headerCacheStatus, cacheStatus(result.Hit, age.stale))
		if conn := connOf(c); !personal && conn != nil && conn.Repeats {
			conn.Hit = &Hit{r, p, key, a.ETag, ages, now}
		}
		if err := r.send(c, a, header); !errors.Is(err, result.ErrInFlight) {
			return err
		}
	}
	req := &request{r, c, who.Client, p, snapshots, key, header}
	return r.Planner.dropWrong(url, snapshots.moved(req.answer(a)))
}

// planned is a plan with the snapshots to answer it from.
type planned struct {
	*servedPlan
	snapshots Snapshots
}

// plan returns the plan of a URL, from the cache while it holds. Plans of sessions and errors are not cached.
func (r *Responder) plan(url []byte, now time.Time, anonymous bool, plan MakePlan) (planned, error) {
	if anonymous {
		if found := r.Planner.get(url); found != nil && found.holds(r.Generation, now) {
			if s, err := found.on(r.Views); err == nil {
				return planned{found, s}, nil
			}
		}
	}
	made, planning, err := plan.plan(r.Views, now)
	if err != nil {
		return planned{}, err
	}
	made.ContentType = cmp.Or(made.ContentType, ContentType)
	if r.Tags != nil {
		made.Headers = append(slices.Clip(made.Headers), r.Tags(made)...)
	}
	found := &servedPlan{made, made.Query, planning.of, r.Generation, made.Period.from(now)}
	if len(made.Paths) > 0 { // the answer reports the paths that no record has
		found.key += "\x00" + strings.Join(made.Paths, "\x00")
	}
	if r.Generation > 0 {
		// Answers under different settings must not have the same key.
		found.key = strconv.Itoa(r.Generation) + "\x00" + found.key
	}
	s, err := found.on(r.Views)
	if err == nil && anonymous && !made.Once {
		r.Planner.put(url, found)
	}
	return planned{found, s}, err
}

// request is a request whose answer is not in memory. For work in the background, c and header are not set.
type request struct {
	*Responder
	c         *fiber.Ctx
	client    netip.Prefix
	plan      *servedPlan
	snapshots Snapshots
	key       result.Key
	header    fields
}

// answer computes an answer that is not in memory. It streams the answer if it is too large to keep, or there is too
// little memory. From the second request for a large answer on, it also compresses the answer in the background, to
// keep it. known is the cache entry that says so, or nil.
func (r *request) answer(known *result.Answer) error {
	ctx, cancel := r.Limited(r.c, r.client)
	defer cancel()
	var built *Body
	a, outcome, err := known, result.Hit, error(nil)
	began := time.Now()
	switch {
	case known == nil:
		if a, outcome, err = r.Results.Load(ctx, r.key, r.loader(&built)); err != nil &&
			!errors.Is(err, result.ErrInFlight) {
			return err
		}
	case known.TooLarge && known.ETag == "" && !known.Incompressible && r.key.Coding != result.Identity:
		r.Popular.note(r.plan, r.key.Coding, true)
		if r.Popular.compressing.TryLock() {
			again := &request{Responder: r.Responder, plan: r.plan, snapshots: r.snapshots, key: r.key}
			go r.Responder.compress(fair.With(context.Background(), fair.AccountOf(ctx)), again)
		}
	}
	milliseconds := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	SetHeader(r.c, "Server-Timing", fmt.Sprintf("plan;dur=%.3f, answer;dur=%.3f",
		milliseconds(began.Sub(r.c.Context().Time())), milliseconds(time.Since(began))))
	if known == nil && err == nil && a.ETag != "" {
		SetHeader(r.c, headerCacheStatus, cacheStatus(outcome, r.ages.of(r.plan.View, r.Now()).stale))
		if err = r.send(r.c, a, r.header); !errors.Is(err, result.ErrInFlight) {
			return err
		}
	}
	return r.stream(built)
}

// Forever is how long a cache may use a copy of content that never changes.
const Forever = 365 * 24 * time.Hour

// Static sends content that changes only with the program.
func (r *Responder) Static(c *fiber.Ctx, name, kind string, content []byte, maxAge time.Duration) error {
	if r.Inspect != nil {
		return errNoRecords
	}
	header := fieldsOf(c)
	key := result.Key{Query: name, Coding: negotiate(header.codings, r.Codings)}
	ctx, cancel := context.WithTimeout(c.UserContext(), r.Timeout)
	defer cancel()
	a, _, err := r.Results.Get(ctx, key, func(context.Context) (*result.Answer, error) {
		return result.NewAnswer(content, kind), nil
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

// ExternalAnswer is an answer that came from another server.
type ExternalAnswer struct {
	Text  []byte
	Age   time.Duration
	Stale bool // the server could not confirm it
}

// External sends an answer that read gets from another server. An empty text means no body. ignored lists the
// parameters that the answer does not depend on.
func (r *Responder) External(c *fiber.Ctx, client netip.Prefix, ignored string,
	read func(context.Context) (ExternalAnswer, error)) error {
	if r.Inspect != nil {
		return errNoRecords
	}
	r.headers.setCaching(c, r.Now(), false, false, Period{})
	if err := ReportIgnored(c, ignored); err != nil {
		return err
	}
	c.Response().Header.SetContentType(ContentType)
	ctx, cancel := r.Limited(c, client)
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
	return r.send(c, result.NewAnswer(found.Text, ContentType), fieldsOf(c))
}

// work returns a context for the work for a request, which is charged to the client. It ends, where the system can
// tell, when the client closes its connection or its sending direction: the two look the same.
func (r *Responder) work(c *fiber.Ctx, client netip.Prefix) (context.Context, context.CancelFunc) {
	ctx := fair.With(c.UserContext(), fair.Account{Client: client, Backtracking: pcre.NewBudget(r.Backtracking)})
	if conn := connOf(c); conn != nil {
		return conn.Watch(ctx)
	}
	return context.WithCancel(ctx)
}

// Limited returns a context for work, charged to the client, that also ends at the request's deadline. There is one
// deadline for each request: its plan, its answer and all retries share the time.
func (r *Responder) Limited(c *fiber.Ctx, client netip.Prefix) (context.Context, context.CancelFunc) {
	ctx, leave := r.work(c, client)
	ctx, cancel := context.WithDeadline(ctx, r.deadline(c))
	return ctx, func() { cancel(); leave() }
}

// deadline returns when the work for a request ends.
func (r *Responder) deadline(c *fiber.Ctx) time.Time {
	return listener.Received(c.Context()).Add(r.Timeout)
}

// connOf returns the connection of a request, or nil in tests with other connections.
func connOf(c *fiber.Ctx) *listener.Conn {
	conn, _ := c.Context().Conn().(*listener.Conn)
	return conn
}

// send sends an answer or 304. The body is shared, but Fiber only reads it. The error is result.ErrInFlight if too
// many bytes wait to be sent.
func (r *Responder) send(c *fiber.Ctx, a *result.Answer, header fields) error {
	if err := ReportIgnored(c, a.Ignored); err != nil {
		return err
	}
	setLinks(c, a.Links)
	SetHeader(c, fiber.HeaderETag, a.ETag)
	if header.unchanged(a.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	return r.attach(c, a)
}

// attach makes the body of an answer that of the response. The error is result.ErrInFlight, as of send.
func (r *Responder) attach(c *fiber.Ctx, a *result.Answer) error {
	sends := c.Method() != fiber.MethodHead
	if sends && !r.Results.InFlight().Retain(a) {
		return result.ErrInFlight
	}
	c.Response().Header.SetContentType(a.ContentType)
	if a.Coding != result.Identity {
		c.Set(fiber.HeaderContentEncoding, string(a.Coding))
	}
	c.Response().SetBodyRaw(a.Body)
	if conn := connOf(c); sends && conn != nil {
		conn.SetReservation(a) // until the answer is sent
	} else if sends {
		a.Release()
	}
	return nil
}

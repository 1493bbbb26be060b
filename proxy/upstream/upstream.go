package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"

	"vitrine/proxy/listener"
	"vitrine/rules"
)

// Options configures a Proxy. Only URL is required. Without Metrics nothing is counted.
type Options struct {
	URL       string           // of the other server, such as https://old.example.org
	Host      string           // the host that requests name, and its certificate; if empty, that of URL
	Methods   []string         // forwarded in addition to GET and HEAD
	Timeout   time.Duration    // how long the other server may be silent; 30 s
	Budget    int64            // of the kept answers, in bytes; 64 MiB
	KeptBytes int              // a longer answer is not kept; 4 MiB
	Now       func() time.Time // if nil, time.Now
	Metrics   prometheus.Registerer
}

// mostConnections bounds the connections to the other server. Further requests wait for one, no longer than
// Options.Timeout. They use HTTP/1.1: HTTP/2 would buffer 4 MiB of each of any number of responses that clients read slowly.
const mostConnections = 128

// After failuresToOpen failures in a row the other server gets no request for circuitPause, then one.
const (
	failuresToOpen = 5
	circuitPause   = 2 * time.Second
)

// Proxy forwards requests. It is safe for concurrent use.
type Proxy struct {
	options   Options
	base      *url.URL // without a slash at the end
	name      string   // of this process in Via, which reveals a request that comes back
	transport *http.Transport
	circuit   *gobreaker.CircuitBreaker[*http.Response]
	kept      *ristretto.Cache[[]byte, variants]
	shares    shares
	keeping   sync.Mutex // one change of kept at a time
	counts    counts

	flights sync.Map        // by key, channels that are closed when the flight ends
	life    context.Context // of requests that several clients may share
	end     context.CancelFunc
	running sync.WaitGroup // validations in the background
}

// New returns a Proxy. Close it when done.
func New(o Options) (*Proxy, error) {
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.User != nil {
		return nil, fmt.Errorf("upstream: %q is not the address of a web server", o.URL)
	}
	o.Host = cmp.Or(o.Host, base.Host)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Budget = cmp.Or(o.Budget, 64<<20)
	o.KeptBytes = cmp.Or(o.KeptBytes, 4<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Proxy{options: o, base: base, name: "vitrine-" + rand.Text()[:8], shares: newShares()}
	p.kept, err = ristretto.NewCache(&ristretto.Config[[]byte, variants]{
		NumCounters: max(o.Budget/1024, 1000), MaxCost: o.Budget, BufferItems: 64, // ten counters an entry of 10 kB
	})
	if err != nil {
		return nil, err
	}
	p.transport = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: o.Timeout}).DialContext,
		TLSClientConfig:     &tls.Config{ServerName: (&url.URL{Host: o.Host}).Hostname()},
		TLSHandshakeTimeout: o.Timeout,
		DisableCompression:  true, // bodies are forwarded unchanged
		MaxConnsPerHost:     mostConnections, MaxIdleConnsPerHost: mostConnections, IdleConnTimeout: time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
	p.circuit = gobreaker.NewCircuitBreaker[*http.Response](gobreaker.Settings{
		Timeout:     circuitPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToOpen },
		IsExcluded:  func(err error) bool { return err != nil && !unreachable(err) },
	})
	p.measure()
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// unreachable reports whether an error shows that the server cannot be reached, or hangs. Other failures may be those of a
// single URL, for which a client could ask again and again.
func unreachable(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, ErrTimeout) || ok && dial.Op == "dial"
}

// Close ends running requests and waits for those in the background.
func (p *Proxy) Close() {
	p.end()
	p.running.Wait()
	p.transport.CloseIdleConnections()
	p.kept.Close()
}

// Client says who sent a request.
type Client struct {
	Scheme string // http or https
	Known  bool   // the request has credentials, so that its answer is only for its sender
	Addr   netip.Addr
	Query  []byte // the query to forward
	// Withhold deletes headers that must not be forwarded, in addition to those of a hop. If nil, it deletes none.
	Withhold func(http.Header)
	Key      string // key for the other server, which admits the request; empty if none
}

// Serve answers a request. Errors are ErrBadGateway, ErrTimeout, a *rules.RetryError, or say what is wrong with the request.
func (p *Proxy) Serve(c *fiber.Ctx, from Client) error {
	h, reads := &c.Request().Header, c.Method() == http.MethodGet || c.Method() == http.MethodHead
	if !reads && !slices.Contains(p.options.Methods, c.Method()) {
		c.Set(fiber.HeaderAllow, strings.Join(append([]string{http.MethodGet, http.MethodHead}, p.options.Methods...), ", "))
		return fiber.ErrMethodNotAllowed
	}
	if misleads(c.Context().URI().PathOriginal()) {
		return &rules.Error{Kind: rules.ErrWrongCall, Reason: "The path has a segment that consists of dots, or cannot be read."}
	}
	key, now := appendKey(nil, c, from), p.options.Now()
	var e *entry
	why := "" // why the cache is not used; "" if it is
	switch {
	case !reads:
		why = "method"
	case from.Known, len(c.Request().Body()) > 0:
		why = "bypass"
	default:
		e = p.find(key, h)
	}
	conn, _ := c.Context().Conn().(*listener.Conn)
	if e != nil && e.left(now) > 0 {
		p.counts.hits.Inc()
		if conn != nil && conn.Repeats {
			c.Context().SetUserValue(listener.HitKey{}, &repeatable{p, key, p.entries(key), e})
		}
		return p.answer(c, e, now, hit, "")
	}
	r := newRequest(c, string(key), from)
	if strings.Contains(strings.Join(r.header["Via"], ","), p.name) {
		return fmt.Errorf("%w: upstream.url leads back here", ErrBadGateway)
	}
	if e != nil && -e.left(now) < e.revalidating && !e.strict {
		p.validateLater(r, e)
		p.counts.stale.Inc()
		return p.answer(c, e, now, hit, "; detail=revalidating")
	}
	ctx := c.UserContext()
	if conn != nil {
		watched, leave := conn.Watch(ctx)
		defer leave()
		ctx = watched
	}
	if why == "" && (r.method == http.MethodHead || len(h.Peek(fiber.HeaderRange)) > 0) { // the cache keeps only whole answers
		why = "uri-miss"
	}
	if why != "" {
		return p.pass(ctx, c, r, why)
	}
	return p.load(ctx, c, r, e)
}

// appendKey appends the requested URL, with the path as the client sent it. The other server gets all of it, so an answer
// may depend on the host, too.
func appendKey(dst []byte, c *fiber.Ctx, from Client) []byte {
	dst = append(append(append(append(dst, from.Scheme...), "://"...), c.Request().Host()...), c.Context().URI().PathOriginal()...)
	if len(from.Query) > 0 {
		dst = append(append(dst, '?'), from.Query...)
	}
	return dst
}

// misleads reports whether the other server could read a path as another one. Such requests are not forwarded.
func misleads(path []byte) bool {
	if bytes.IndexByte(path, '%') < 0 && bytes.IndexByte(path, '\\') < 0 && !bytes.Contains(path, []byte("/.")) {
		return len(path) == 0 || path[0] != '/'
	}
	plain, err := url.PathUnescape(string(path))
	dots := func(segment string) bool {
		segment, _, _ = strings.Cut(segment, ";") // some servers ignore the rest
		return segment == "." || segment == ".."
	}
	return err != nil || path[0] != '/' || slices.ContainsFunc(strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' }), dots)
}

// pass forwards a request without the cache, and drops the entries that it may have changed.
func (p *Proxy) pass(ctx context.Context, c *fiber.Ctx, r *request, why string) error {
	p.counts.passed.Inc()
	resp, err := p.send(ctx, r, nil)
	if err != nil {
		p.counts.failed.Inc()
		return err
	}
	if why == "method" && r.method != http.MethodOptions && resp.StatusCode < 400 {
		p.invalidate(r, resp.Header)
	}
	return p.stream(c, resp, "fwd="+why)
}

// load answers from the other server, sharing the request with concurrent requests for the same key. e is the kept
// entry, or nil.
func (p *Proxy) load(ctx context.Context, c *fiber.Ctx, r *request, e *entry) error {
	arrived := p.options.Now()
	ended, leads := p.board(r.key)
	if leads {
		defer p.land(r.key)
	} else {
		select {
		case <-ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	// Another flight may also have landed between the look-up of e and this one.
	if shared, now := p.find([]byte(r.key), &c.Request().Header), p.options.Now(); shared != nil && shared != e && (shared.left(now) > 0 || !shared.received.Before(arrived)) {
		p.counts.collapsed.Inc()
		return p.answer(c, shared, now, "fwd=miss; collapsed", "")
	}
	why := "uri-miss"
	if e != nil {
		why = "stale"
	}
	p.counts.misses.Inc()
	got, err := p.fetch(r, e)
	now := p.options.Now()
	if e != nil && e.standsIn(now, err != nil) && (err != nil || got.response != nil && got.status >= 500) {
		if err == nil {
			_ = got.response.Body.Close()
		}
		p.counts.stale.Inc()
		return p.answer(c, e, now, hit, "; detail=upstream-failed")
	}
	if err != nil {
		p.counts.failed.Inc()
		return err
	}
	status := "fwd=" + why + "; fwd-status=" + strconv.Itoa(got.status)
	if got.entry == nil {
		return p.stream(c, got.response, status)
	}
	return p.answer(c, got.entry, now, status, "; stored")
}

// board begins a flight for a key, or returns the end of the one under way.
func (p *Proxy) board(key string) (ended chan struct{}, leads bool) {
	flight, flies := p.flights.LoadOrStore(key, make(chan struct{}))
	return flight.(chan struct{}), !flies
}

// land ends a flight.
func (p *Proxy) land(key string) {
	flight, _ := p.flights.LoadAndDelete(key)
	close(flight.(chan struct{}))
}

// validateLater validates an entry in the background, unless its URL is being fetched.
func (p *Proxy) validateLater(r *request, e *entry) {
	if _, leads := p.board(r.key); !leads {
		return
	}
	r.method = http.MethodGet
	p.running.Go(func() {
		defer p.land(r.key)
		if got, err := p.fetch(r, e); err == nil && got.response != nil {
			_ = got.response.Body.Close()
		}
	})
}

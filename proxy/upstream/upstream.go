package upstream

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/result"
	"vitrine/proxy/listener"
	"vitrine/proxy/metrics"
	"vitrine/proxy/upstream/gate"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
)

// Options configures a Proxy. Only URL is required. Without Metrics nothing is counted.
type Options struct {
	URL       string           // of the other server, such as https://old.example.org
	Host      string           // the host that requests name, and its certificate; if empty, that of URL
	Scheme    string           // by which clients reach that host; if empty, that of each client's request
	Timeout   time.Duration    // how long the other server may be silent; 30 s
	Budget    int64            // of the kept answers, in bytes; 64 MiB
	KeptBytes int              // a longer answer is not kept; 4 MiB
	Recheck   time.Duration    // after which a failed request is repeated, if no client sends one; 30 s
	Now       func() time.Time // if nil, time.Now
	Metrics   prometheus.Registerer
	// InFlight is the memory for bodies of requests and answers on their way. If nil, it has no bound.
	InFlight *result.InFlight
}

// Proxy forwards requests. It is safe for concurrent use. It has one other server.
type Proxy struct {
	options Options
	base    *url.URL // without a slash at the end
	marks   marks
	gate    *gate.Gate
	store   *store
	traffic outcomes
	flights flights
	unkept  *unkept
	life    context.Context // of requests that several clients may share
	end     context.CancelFunc
	running sync.WaitGroup // validations in the background
}

// New returns a Proxy. Close it when done.
func New(o Options) (*Proxy, error) {
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" ||
		base.User != nil {
		return nil, fmt.Errorf("upstream: %q is not the address of a web server", o.URL)
	}
	o.Host = cmp.Or(o.Host, base.Host)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Budget = cmp.Or(o.Budget, 64<<20)
	o.KeptBytes = cmp.Or(o.KeptBytes, 4<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.InFlight == nil {
		o.InFlight = &result.InFlight{} // which has no bound
	}
	if o.Scheme != "" && o.Scheme != "http" && o.Scheme != "https" {
		return nil, fmt.Errorf("upstream: the scheme %q is neither http nor https", o.Scheme)
	}
	p := &Proxy{options: o, base: base, unkept: newUnkept()}
	p.traffic = outcomes{traffic.New(o.Metrics, o.Now), p.Down}
	if p.store, err = newStore(o.Budget, o.InFlight, o.Now); err != nil {
		return nil, err
	}
	ended := newStats(o.Metrics, p.store.bytes, p.Down)
	p.life, p.end = context.WithCancel(context.Background())
	p.gate = gate.New(gate.Options{
		ServerName: (&url.URL{Host: o.Host}).Hostname(), Timeout: o.Timeout, InFlight: o.InFlight,
		Ended: ended.Inc, Reached: p.traffic.Reached,
		Probe: func(ctx context.Context, method, path string) (*http.Request, error) {
			return p.outgoing(ctx, &request{method: method, target: path, header: ownHeader()}, nil)
		},
	})
	return p, nil
}

// ownHeader returns what requests of Vitrine's own have in their headers.
func ownHeader() http.Header { return http.Header{"User-Agent": {"vitrine"}} }

// Close ends running requests and waits for those in the background.
func (p *Proxy) Close() {
	p.end()
	p.gate.Close()
	p.running.Wait()
	p.store.kept.Close()
}

// Down reports whether the other server gets no requests because it fails.
func (p *Proxy) Down() bool { return p.gate.Down() }

// Client says who sent a request.
type Client struct {
	Scheme string // http or https
	Known  bool   // the request has credentials, so that its answer is only for its sender
	Addr   netip.Addr
	Query  []byte // the query to forward
	// Withhold deletes headers that must not be forwarded, in addition to those of a hop. If nil, it deletes none.
	Withhold func(http.Header)
	Key      string // key for the other server, which admits the request; empty if none
	counted  counted
}

// Serve answers a request whose path the other server may get. Errors are ErrBadGateway, ErrTimeout, a
// *rules.RetryError, or say what is wrong with the request. From the fast to the slow: a fresh entry costs a
// look-up and no copy of the request; a stale one that may be used while it is validated is answered at once; all
// others wait for the other server, and their memory is counted first.
func (p *Proxy) Serve(c *fiber.Ctx, from Client) error {
	h, reads := &c.Request().Header, c.Method() == http.MethodGet || c.Method() == http.MethodHead
	// Many servers leave such a body unread (RFC 9110: 9.3.1). On a connection that is used again they would take it
	// for the next request, and another client would get the answer to it.
	if reads && listener.AnnouncesBody(c.Context()) {
		return &rules.Error{Kind: rules.ErrWrongCall,
			Reason: "A " + c.Method() + " request has no body. This one has, and is not forwarded."}
	}
	key, now := appendKey(nil, c, from), p.options.Now()
	var e *entry
	why := "" // why the cache is not used; "" if it is
	switch {
	case !reads:
		why = "method"
	case from.Known:
		why = "bypass"
	default:
		e = p.store.find(key, h)
	}
	if e != nil && e.left(now) > 0 {
		e.counts.Hits.Inc()
		metrics.ByEndpoint(c, &e.counts.Endpoint)
		return p.answer(c, key, e, now, hit, "")
	}
	r := newRequest(c, string(key), from)
	r.counts, r.opens = p.traffic.countsOf(from.counted), strings.Clone(from.counted.path)
	defer func() { metrics.ByEndpoint(c, &r.counts.Endpoint) }() // the answer may give the path counts of its own
	if p.marks.comesBack(r.header["Via"]) {
		return fmt.Errorf("%w: upstream.url leads back here", ErrBadGateway)
	}
	if e != nil && -e.left(now) < e.revalidating && !e.strict {
		later := *r // it outlives this request
		p.validateLater(&later, e)
		e.counts.Stale.Inc()
		return p.answer(c, key, e, now, hit, "; detail=revalidating")
	}
	if n := r.memory(c); n > result.Uncounted {
		if !p.options.InFlight.TryAcquire(n) {
			return result.ErrInFlight
		}
		defer p.options.InFlight.Release(n)
	}
	ctx := c.UserContext()
	if conn := connOf(c); conn != nil {
		watched, leave := conn.Watch(ctx)
		defer leave()
		ctx = watched
	}
	if why == "" && (r.method == http.MethodHead || len(h.Peek(fiber.HeaderRange)) > 0) {
		// the cache keeps only whole answers
		why = "uri-miss"
	}
	if why != "" {
		return p.pass(ctx, c, r, why)
	}
	return p.load(ctx, c, r, e)
}

// appendKey appends the requested URL, with the path as the client sent it. The other server gets all of it, so an
// answer may depend on the host, too. https://portal.example/api/x?a=1 is a key. The method is no part: HEAD is
// answered from the entry of GET.
func appendKey(dst []byte, c *fiber.Ctx, from Client) []byte {
	dst = append(append(append(append(dst, from.Scheme...), "://"...), c.Request().Host()...),
		c.Context().URI().PathOriginal()...)
	if len(from.Query) > 0 {
		dst = append(append(dst, '?'), from.Query...)
	}
	return dst
}

// pass forwards a request without the cache, and drops the entries that it may have changed.
func (p *Proxy) pass(ctx context.Context, c *fiber.Ctx, r *request, why string) error {
	var resp *gate.Response
	by, err := p.admit(ctx, r)
	if err == nil {
		resp, err = p.send(ctx, r, nil, by)
	}
	r.counts.Passed.Inc()
	if err != nil {
		r.counts.Failed.Inc()
		return err
	}
	if why == "method" && r.method != http.MethodOptions && resp.StatusCode < 400 {
		p.invalidate(r, resp.Header)
	}
	return p.forward(ctx, c, r, resp, nil, "fwd="+why)
}

// invalidate drops what an unsafe request may have changed: its own target, and those of the same site that the
// response names (RFC 9111: 4.4). Other hosts' answers stay, since a response must not drop what is not its own.
func (p *Proxy) invalidate(r *request, header http.Header) {
	p.store.remove(r.key)
	own, err := url.Parse(r.key)
	if err != nil {
		return
	}
	for _, name := range []string{"Location", "Content-Location"} {
		if u, err := own.Parse(header.Get(name)); err == nil && header.Get(name) != "" && u.Host == own.Host {
			p.store.remove(r.scheme + "://" + u.Host + u.RequestURI())
		}
	}
}

// SentBy reports whether a request with these lines in Via is one of this Proxy that runs: Options.URL leads back
// here.
func (p *Proxy) SentBy(lines [][]byte) bool {
	via := make([]string, len(lines))
	for i, line := range lines {
		via[i] = string(line)
	}
	return p.marks.comesBack(via)
}

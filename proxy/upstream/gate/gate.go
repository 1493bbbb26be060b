// Package gate sends requests to another server so that no client can take it from others, nor fill memory with its
// answers.
//
//	share → connection → circuit → request → head → body: whole in memory, and the connection is free,
//	(of the client) (of all)                              or a stream, which has a place of its own
//
// A request waits for its client's share, then for a connection, and only then reaches the circuit: waiting is never
// the server's failure. An answer of up to some megabytes is read whole, within the budget of bytes in flight, before
// its client reads any of it. A longer one is a stream: it holds a connection for as long as its client reads, so
// streams are few, and the slowest ends if others wait.
//
// places.go has the shares and connections, conn.go says when a connection is used again, circuit.go has the circuit
// and its probes, body.go reads bodies, streams.go bounds streams.
package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/sync/semaphore"

	"vitrine/cache/result"
)

// Errors of the other server. A *rules.RetryError of rules.ErrUnavailable means that it gets no requests for a while.
var (
	ErrBadGateway = errors.New("the other server sent no usable answer")
	ErrTimeout    = errors.New("the other server did not answer in time")
)

// mostDialing bounds how long it takes to connect; Options.Timeout is for answers.
const mostDialing = 5 * time.Second

// Options configures a Gate. All but Reached are required.
type Options struct {
	ServerName string        // in the server's certificate
	Timeout    time.Duration // how long the server may be silent
	InFlight   *result.InFlight
	// Probe makes a HEAD or GET request for a path, for which any answer will do.
	Probe func(ctx context.Context, method, path string) (*http.Request, error)
	Ended func() // called for each stream that ends for others
	// Reached is called when the server answers a probe. If nil, no call is made.
	Reached func()
}

// Gate sends requests to one server. It is safe for concurrent use.
type Gate struct {
	options     Options
	transport   *http.Transport // for GET
	single      *http.Transport // for other methods: each request has a connection of its own
	circuit     *circuit
	shares      shares
	connections *semaphore.Weighted // for clients' requests
	own         *semaphore.Weighted // for requests of Vitrine's own
	streams     *streams

	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup // the circuit's probes
}

// New returns a Gate. Close it when done.
func New(o Options) *Gate {
	g := &Gate{
		options: o, shares: shares{of: map[netip.Prefix]*share{}}, streams: newStreams(o.Ended),
		connections: semaphore.NewWeighted(mostConnections), own: semaphore.NewWeighted(mostOwn),
	}
	g.circuit = newCircuit(g.probe, o.Reached)
	most := mostConnections + mostOwn + 1 // and a probe
	g.transport = &http.Transport{
		DialContext: g.dial, DialTLSContext: g.dialTLS,
		DisableCompression: true, // bodies are forwarded unchanged
		// No request waits for these, since fewer are admitted. They bound the dials of requests that have ended.
		MaxConnsPerHost: most, MaxIdleConnsPerHost: most, IdleConnTimeout: time.Minute,
		MaxResponseHeaderBytes: mostHead,
	}
	g.single = g.transport.Clone()
	g.single.DisableKeepAlives = true
	g.life, g.end = context.WithCancel(context.Background())
	g.running.Go(func() { g.circuit.run(g.life) })
	return g
}

// Close ends running requests.
func (g *Gate) Close() {
	g.end()
	g.running.Wait()
	g.transport.CloseIdleConnections()
}

// Down reports whether the server gets no requests because it fails.
func (g *Gate) Down() bool { return g.circuit.check() != nil }

// Request is a request to send.
type Request struct {
	// Make makes the request. An error of it is the result.
	Make func(context.Context) (*http.Request, error)
	URL  string // distinguishes what is requested
	// Probe is the path that a probe may ask for, without credentials, if there is an answer. If empty, it may not.
	Probe string
}

// Response is a response whose body holds a connection, until it is closed or read to the end.
type Response struct {
	*http.Response
	gate *Gate
	body *body // Body
}

// Cancel makes reading the body fail with a cause.
func (r *Response) Cancel(cause error) { r.body.cancel(cause) }

// Send sends a request that has its client's share, and returns the share when the response has been read. It waits
// for the beginning of the response until waiting ends. Reading the body fails once the server sends nothing for
// Options.Timeout.
func (g *Gate) Send(waiting context.Context, by Share, r Request) (*Response, error) {
	if err := g.circuit.check(); err != nil { // before it waits
		by.Leave()
		return nil, err
	}
	leave, err := g.connect(waiting)
	if err != nil {
		by.Leave()
		return nil, err
	}
	return g.exchange(waiting, r, permit{by.Leave, leave})
}

// SendOwn is Send for requests of Vitrine's own, which have connections of their own.
func (g *Gate) SendOwn(waiting context.Context, r Request) (*Response, error) {
	if err := g.acquire(waiting, g.own, errOwn); err != nil {
		return nil, err
	}
	leave := sync.OnceFunc(func() { g.own.Release(1) })
	return g.exchange(waiting, r, permit{func() {}, leave})
}

// permit is the right of a request to a connection.
type permit struct{ leaveShare, leaveConnection func() }

func (t permit) leave() { t.leaveShare(); t.leaveConnection() }

// exchange sends a request with a permit.
func (g *Gate) exchange(waiting context.Context, r Request, by permit) (*Response, error) {
	if err := g.circuit.check(); err != nil {
		by.leave()
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(g.life)
	// with context.Canceled, which is not the server's fault
	defer context.AfterFunc(waiting, func() { cancel(nil) })()
	patience := time.AfterFunc(g.options.Timeout, func() { cancel(ErrTimeout) })
	defer patience.Stop()
	resp, err := g.roundTrip(ctx, r)
	if err != nil {
		silent, ok := errors.AsType[net.Error](err)
		timeout := errors.Is(context.Cause(ctx), ErrTimeout) || ok && silent.Timeout()
		cancel(nil)
		by.leave()
		switch {
		case waiting.Err() != nil:
			return nil, context.Cause(waiting)
		case timeout:
			g.circuit.unanswered(r.URL)
			return nil, fmt.Errorf("%w: %w", ErrTimeout, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrBadGateway, err)
	}
	g.circuit.answered(r.Probe)
	b := &body{
		ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timeout: g.options.Timeout, permit: by,
		patience: time.AfterFunc(g.options.Timeout, func() { cancel(ErrTimeout) }),
	}
	b.patience.Stop() // until it is read
	resp.Body = b
	return &Response{resp, g, b}, nil
}

// roundTrip returns the final response, whatever it says. It follows no redirects.
func (g *Gate) roundTrip(ctx context.Context, r Request) (*http.Response, error) {
	req, err := r.Make(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := g.transportOf(req).RoundTrip(req)
	if err == nil {
		if err = malformed(resp); err != nil {
			_ = resp.Body.Close()
		}
	}
	return resp, err
}

// transportOf returns the transport for a request. Only GET may use a connection again: after an answer to HEAD some
// servers send a body, others leave the body of a request unread, and if the server closes the connection meanwhile,
// it is not known whether it has acted on a POST. The transport would send some of those again, if they have an
// Idempotency-Key, which clients choose.
func (g *Gate) transportOf(req *http.Request) *http.Transport {
	if req.Method != http.MethodGet || req.Body != nil {
		return g.single
	}
	return g.transport
}

// malformed returns why a response must not be read. net/http accepts field names with blanks; a client might read
// "Set-Cookie : a" as a field that this server has not recognised, and so has kept for others.
func malformed(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode > 599 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	for name, lines := range resp.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header field %q, which is no name", name)
		}
		if i := slices.IndexFunc(lines,
			func(line string) bool { return !httpguts.ValidHeaderFieldValue(line) }); i >= 0 {
			return fmt.Errorf("header field %s has a control character", name)
		}
	}
	return nil
}

// probe sends a probe.
func (g *Gate) probe(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, min(g.options.Timeout, mostProbing))
	defer cancel()
	req, err := g.options.Probe(ctx, method, path)
	if err != nil {
		return err
	}
	resp, err := g.transportOf(req).RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

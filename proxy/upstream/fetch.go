package upstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/sony/gobreaker/v2"

	"vitrine/rules"
)

// Errors of the other server. A *rules.RetryError of rules.ErrUnavailable means that it gets no requests for a while.
var (
	ErrBadGateway = errors.New("the other server sent no usable answer")
	ErrTimeout    = errors.New("the other server did not answer in time")
)

// request is a request to forward. It does not use memory of the client's request.
type request struct {
	method string
	target string // path and query, as the client sent them
	key    string // under which an answer is kept, from appendKey
	host   string // that the client asked for
	header http.Header
	body   []byte
	client netip.Addr
	scheme string // of the client's request
	secret string // Client.Key
}

func newRequest(c *fiber.Ctx, key string, from Client) *request {
	host := string(c.Request().Host())
	r := &request{
		method: strings.Clone(c.Method()), target: key[len(from.Scheme+"://"+host):], key: key, host: host, header: requestHeader(&c.Request().Header),
		body: slices.Clone(c.Request().Body()), client: from.Addr, scheme: from.Scheme, secret: from.Key,
	}
	if from.Withhold != nil {
		from.Withhold(r.header)
	}
	return r
}

// send sends a request to the other server, unless waiting ends before the response begins. The body of the response must
// be closed; reading it fails once the server sends nothing for Options.Timeout.
func (p *Proxy) send(waiting context.Context, r *request, more http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(p.life)
	defer context.AfterFunc(waiting, func() { cancel(nil) })() // with context.Canceled, which is not the server's fault
	patience := time.AfterFunc(p.options.Timeout, func() { cancel(ErrTimeout) })
	share := p.shares.of(r.client)
	select {
	case share <- struct{}{}:
	case <-ctx.Done():
		patience.Stop()
		cancel(nil)
		return nil, cmp.Or(context.Cause(waiting), error(&rules.RetryError{Err: fmt.Errorf("%w: the client has %d requests under way", rules.ErrUnavailable, mostOfClient), After: time.Second}))
	}
	end := sync.OnceFunc(func() { cancel(nil); <-share })
	resp, err := p.circuit.Execute(func() (*http.Response, error) {
		req, err := p.outgoing(ctx, r, more)
		if err != nil {
			return nil, err
		}
		resp, err := p.transport.RoundTrip(req) // which follows no redirects
		if err == nil && (resp.StatusCode < 200 || resp.StatusCode > 599) {
			_ = resp.Body.Close()
			err = fmt.Errorf("status %d", resp.StatusCode)
		}
		return resp, err
	})
	if err != nil {
		patience.Stop()
		cause := context.Cause(ctx)
		end()
		switch {
		case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
			return nil, &rules.RetryError{Err: fmt.Errorf("%w: %w", rules.ErrUnavailable, err), After: circuitPause}
		case waiting.Err() != nil:
			return nil, context.Cause(waiting)
		case errors.Is(cause, ErrTimeout):
			return nil, fmt.Errorf("%w: %w", ErrTimeout, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrBadGateway, err)
	}
	endToEnd(resp.Header)
	resp.Header.Add("Via", p.via(resp.ProtoMinor))
	p.relocate(r, resp.Header)
	r.hideSecret(resp.Header)
	resp.Body = &patientBody{ReadCloser: resp.Body, patience: patience, timeout: p.options.Timeout, end: end}
	return resp, nil
}

// via names this hop (RFC 9110: 7.6.3).
func (p *Proxy) via(minor int) string { return fmt.Sprintf("1.%d %s", minor, p.name) }

// outgoing returns the request for the other server, with the headers of more in place of the client's.
func (p *Proxy) outgoing(ctx context.Context, r *request, more http.Header) (*http.Request, error) {
	u, err := url.ParseRequestURI(r.target)
	if err != nil {
		return nil, &rules.Error{Kind: rules.ErrWrongCall, Reason: "The URL cannot be read."}
	}
	base := *p.base
	base.Path, base.RawPath, base.RawQuery = base.Path+u.Path, base.EscapedPath()+u.EscapedPath(), r.query(u)
	var body io.Reader
	if len(r.body) > 0 {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, base.String(), body)
	if err != nil {
		return nil, err
	}
	req.Host, req.Header = p.options.Host, r.header.Clone()
	for name, lines := range more {
		req.Header[name] = lines
	}
	if r.secret != "" {
		req.Header.Set("X-Api-Key", r.secret)
	}
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header["User-Agent"] = nil // so that none is sent
	}
	client := r.client.String()
	req.Header.Set("X-Forwarded-For", client)
	req.Header.Set("X-Forwarded-Host", r.host)
	req.Header.Set("X-Forwarded-Proto", r.scheme)
	if r.client.Is6() {
		client = "\"[" + client + "]\""
	}
	req.Header.Set("Forwarded", fmt.Sprintf("for=%s;host=%q;proto=%s", client, r.host, r.scheme)) // RFC 7239
	req.Header.Add("Via", p.via(1))
	return req, nil
}

// mostOfClient bounds the connections to the other server that one client uses, so that clients which read long answers
// slowly leave some for others.
const mostOfClient = mostConnections / 2

// shares have an element for each connection that a client uses. Their number is fixed, so that clients cost no memory;
// clients with the same hash are bounded together.
type shares [256]chan struct{}

func newShares() (s shares) {
	for i := range s {
		s[i] = make(chan struct{}, mostOfClient)
	}
	return s
}

var sharesSeed = maphash.MakeSeed() // so that clients cannot choose their share

// of returns the share of a client. All addresses in an IPv6 network are one client.
func (s *shares) of(addr netip.Addr) chan struct{} {
	client, _ := addr.Prefix(min(addr.BitLen(), 64)) // fails for the zero Addr
	return s[maphash.Comparable(sharesSeed, client)%uint64(len(s))]
}

// patientBody is a body that fails when the server has sent nothing for too long.
type patientBody struct {
	io.ReadCloser
	patience *time.Timer
	timeout  time.Duration
	end      func()
}

// Read implements io.Reader.
func (b *patientBody) Read(p []byte) (int, error) {
	b.patience.Reset(b.timeout)
	n, err := b.ReadCloser.Read(p)
	b.patience.Stop() // the client may be slow
	return n, err
}

// Close implements io.Closer.
func (b *patientBody) Close() error {
	b.patience.Stop()
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// fetched is the result of a fetch: an entry that was kept, or a response that must be streamed to one client.
type fetched struct {
	entry    *entry
	response *http.Response
	status   int // of the other server's response
}

// fetch requests a target whose answer may be kept. It validates stale unless that is nil. It ignores the request's own
// conditions.
func (p *Proxy) fetch(r *request, stale *entry) (fetched, error) {
	whole := *r
	whole.header = r.header.Clone()
	for _, name := range conditions {
		delete(whole.header, name)
	}
	more := http.Header{}
	if stale != nil && stale.etag != "" {
		more.Set("If-None-Match", stale.etag)
	} else if stale != nil && stale.modified != "" {
		more.Set("If-Modified-Since", stale.modified)
	}
	requested := p.options.Now()
	resp, err := p.send(p.life, &whole, more)
	if err != nil {
		return fetched{}, err
	}
	received := p.options.Now()
	if resp.StatusCode == http.StatusNotModified && stale != nil {
		_ = resp.Body.Close()
		e := stale.updated(whole.header, resp.Header, requested, received)
		if storable(e.status, e.header, parseDirectives(e.header["Cache-Control"])) {
			p.keep(r.key, e)
		} else {
			p.drop(r.key)
		}
		return fetched{entry: e, status: resp.StatusCode}, nil
	}
	if resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		return fetched{}, fmt.Errorf("%w: status 304 without a condition", ErrBadGateway)
	}
	if !storable(resp.StatusCode, resp.Header, parseDirectives(resp.Header["Cache-Control"])) {
		if resp.StatusCode < 500 {
			p.drop(r.key)
		}
		return fetched{response: resp, status: resp.StatusCode}, nil
	}
	var body []byte
	for until := time.Now().Add(p.options.Timeout); err == nil && len(body) <= p.options.KeptBytes && time.Now().Before(until); {
		var n int
		body = slices.Grow(body, bytes.MinRead)
		n, err = resp.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	if err == nil || err == io.EOF && len(body) > p.options.KeptBytes { // it arrives too slowly, or is too long
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return fetched{response: resp, status: resp.StatusCode}, nil
	}
	if closed := resp.Body.Close(); err != io.EOF || closed != nil {
		return fetched{}, fmt.Errorf("%w: %w", ErrBadGateway, errors.Join(err, closed))
	}
	e := newEntry(whole.header, resp.StatusCode, resp.Header, body, requested, received)
	p.keep(r.key, e)
	return fetched{entry: e, status: resp.StatusCode}, nil
}

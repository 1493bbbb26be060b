package upstream

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/upstream/gate"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
)

// Errors of the other server. A *rules.RetryError of rules.ErrUnavailable means that it gets no requests for a while.
var (
	ErrBadGateway = gate.ErrBadGateway
	ErrTimeout    = gate.ErrTimeout
)

// request is a request to forward. It does not use memory of the client's request. It outlives the client's request
// in validations and flights, whose buffers the HTTP server uses again.
type request struct {
	method string
	target string // path and query, as the client sent them
	key    string // under which an answer is kept, from appendKey
	host   string // that the client asked for
	header http.Header
	body   []byte
	client netip.Addr // zero for requests of Vitrine's own
	scheme string     // of the client's request
	secret string     // Client.Key
	known  bool       // Client.Known

	counts *traffic.Counts
	opens  string // the path that gets counts of its own after a good answer; empty if none does
}

// newRequest copies what it needs, because the HTTP server uses the memory of a request again after the handler.
func newRequest(c *fiber.Ctx, key string, from Client) *request {
	host := string(c.Request().Host())
	r := &request{
		method: strings.Clone(c.Method()), target: key[len(from.Scheme+"://"+host):], key: key, host: host,
		header: requestHeader(&c.Request().Header),
		body:   slices.Clone(c.Request().Body()), client: from.Addr,
		scheme: from.Scheme, secret: from.Key, known: from.Known,
	}
	if from.Withhold != nil {
		from.Withhold(r.header)
	}
	return r
}

// requestCopies estimates how many copies of its head a request takes until it is answered: that of the HTTP server,
// its parts, the key, and the headers to send.
const requestCopies = 4

// memory estimates how many bytes the request takes while it waits for the other server, beside its connection.
func (r *request) memory(c *fiber.Ctx) int64 {
	head := len(c.Request().Header.RequestURI()) + len(c.Request().Header.RawHeaders())
	return int64(len(r.body) + requestCopies*head)
}

// toGate returns the request to send, with the headers of more in place of the client's.
func (p *Proxy) toGate(r *request, more http.Header) gate.Request {
	all := gate.Request{URL: r.key, Probe: r.probe()}
	all.Make = func(ctx context.Context) (*http.Request, error) { return p.outgoing(ctx, r, more) }
	return all
}

// probe returns the path of a request that Vitrine may repeat to see whether the server answers, or "". It never
// repeats a request for a page that only its user may see.
func (r *request) probe() (path string) {
	if !r.known && (r.method == http.MethodGet || r.method == http.MethodHead) {
		path, _, _ = strings.Cut(r.target, "?") // parameters may cost much
	}
	return path
}

// translate makes the headers of a response those of this server. The order matters: the secret is looked for in
// the addresses that relocate has written.
func (p *Proxy) translate(r *request, resp *gate.Response) {
	endToEnd(resp.Header)
	resp.Header.Add("Via", via(resp.ProtoMinor))
	p.relocate(r, resp.Header)
	r.hideSecret(resp.Header)
}

// admit waits for the share of a request's client.
func (p *Proxy) admit(ctx context.Context, r *request) (gate.Share, error) {
	by, err := p.gate.Admit(ctx, r.client)
	if err != nil {
		p.traffic.failed(r.counts, err, traffic.Recheck{}, 0)
	}
	return by, err
}

// send sends a client's request, and records the outcome.
func (p *Proxy) send(waiting context.Context, r *request, more http.Header, by gate.Share) (*gate.Response, error) {
	began := time.Now()
	resp, err := p.gate.Send(waiting, by, p.toGate(r, more))
	p.record(r, began, resp, err)
	if err == nil {
		p.translate(r, resp)
	}
	return resp, err
}

// record records the outcome of a request that began at a time.
func (p *Proxy) record(r *request, began time.Time, resp *gate.Response, err error) {
	r.counts = p.traffic.record(sent{r.counts, r.opens, r.probe(), time.Since(began)}, resp, err)
}

// outgoing returns the request for the other server, with the headers of more in place of the client's. The path
// goes as the client wrote it, encoded, since servers differ in what they read in another spelling.
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
	req.Header.Add("Via", p.marks.add(ctx))
	p.setForwarded(req.Header, r)
	return req, nil
}

// setForwarded sets the headers that name the client and the public address to servers behind a proxy. A request of
// Vitrine's own has no client, but names the public address, too: the answer is kept for all clients, and the other
// server must write the same addresses into it as into the answer to a client.
func (p *Proxy) setForwarded(h http.Header, r *request) {
	scheme := p.schemeOf(r)
	if !r.client.IsValid() {
		if p.options.Scheme != "" {
			h.Set("X-Forwarded-Host", p.options.Host)
			h.Set("X-Forwarded-Proto", scheme)
		}
		return
	}
	client := r.client.String()
	h.Set("X-Forwarded-For", client)
	h.Set("X-Forwarded-Host", r.host)
	h.Set("X-Forwarded-Proto", scheme)
	if r.client.Is6() {
		client = "\"[" + client + "]\""
	}
	h.Set("Forwarded", fmt.Sprintf("for=%s;host=%q;proto=%s", client, r.host, scheme)) // RFC 7239
}

// schemeOf returns the scheme of the public address that the other server is asked for.
func (p *Proxy) schemeOf(r *request) string { return cmp.Or(p.options.Scheme, r.scheme) }

package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"vitrine/proxy/upstream/gate"
	"vitrine/rules"
	"vitrine/rules/urlpath"
)

// ErrTooLong reports an answer that is longer than WholeRequest.Most.
var ErrTooLong = gate.ErrTooLong

// WholeRequest is a request of Vitrine's own for a path that it keeps by rule: nothing of a client's request is in
// it.
type WholeRequest struct {
	Target         string // path and query below Options.URL, encoded
	Accept         string // media type asked for; if empty, any
	Key            string // the other server's key; empty if none
	ETag, Modified string // validators of the answer that the caller has; empty if none
	Most           int    // the longest body to take, in bytes
}

// WholeAnswer is the answer to a WholeRequest.
type WholeAnswer struct {
	Status int         // of HTTP; 304 has no body
	Header http.Header // end to end, without Set-Cookie and Content-Length, and addresses are those of this server
	Body   []byte
}

// FetchWhole gets an answer whole. It has connections of its own: clients' requests do not delay it, and few run at
// once. Errors are those of Serve, ErrTooLong, and result.ErrInFlight if too little memory is left. An answer in a
// coding, a part of one, or one that has the key, is errUnfit. The caller owns the body. Cookies go, because
// all callers get the answer.
func (p *Proxy) FetchWhole(ctx context.Context, w WholeRequest) (WholeAnswer, error) {
	path, _, _ := strings.Cut(w.Target, "?")
	if _, err := urlpath.Parse(path); err != nil {
		return WholeAnswer{}, &rules.Error{Kind: rules.ErrWrongCall, Reason: err.Error()}
	}
	r := newWhole(w)
	resp, err := p.gate.SendOwn(ctx, p.toGate(r, nil))
	if err != nil {
		return WholeAnswer{}, err
	}
	p.translate(r, resp)
	body, err := p.readWhole(ctx, w, resp)
	if err != nil {
		_ = resp.Body.Close() // the error is known
		return WholeAnswer{}, err
	}
	if r.shows(body) { // all callers would get it
		return WholeAnswer{}, fmt.Errorf("%w: the answer has this server's key for it", errUnfit)
	}
	resp.Header.Del("Set-Cookie")
	resp.Header.Del("Content-Length")
	return WholeAnswer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// newWhole returns the request to send. Its scheme makes relocate recognise the other server's addresses by either.
func newWhole(w WholeRequest) *request {
	header := ownHeader()
	header.Set("Accept", cmp.Or(w.Accept, "*/*"))
	header.Set("Accept-Encoding", "identity")
	if w.ETag != "" {
		header.Set("If-None-Match", w.ETag)
	}
	if w.Modified != "" {
		header.Set("If-Modified-Since", w.Modified)
	}
	return &request{
		method: http.MethodGet, target: w.Target, key: w.Target, header: header, scheme: "https", secret: w.Key,
	}
}

// readWhole reads the body of a response and closes it, unless it fails. A coded body is refused, since kept
// answers are coded anew for each client.
func (p *Proxy) readWhole(ctx context.Context, w WholeRequest, resp *gate.Response) ([]byte, error) {
	coding := strings.Join(listed(resp.Header["Content-Encoding"]), ", ")
	switch {
	case resp.StatusCode == http.StatusNotModified && w.ETag == "" && w.Modified == "":
		return nil, fmt.Errorf("%w: status 304 without a condition", errUnfit)
	case resp.StatusCode == http.StatusNotModified:
		return nil, resp.Body.Close()
	case resp.StatusCode == http.StatusPartialContent:
		return nil, fmt.Errorf("%w: status 206 without a range", errUnfit)
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, fmt.Errorf("%w: the coding is %q", errUnfit, coding)
	}
	// Otherwise a server that sends a byte now and then would keep the connection.
	late := time.AfterFunc(p.options.Timeout, func() { resp.Cancel(ErrTimeout) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { resp.Cancel(context.Cause(ctx)) })()
	g := resp.Gather(w.Most, time.Now().Add(p.options.Timeout))
	body := exact(g.Bytes)
	g.Drop() // the caller has it now
	switch {
	case g.Why == nil:
		return body, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(g.Why, ErrTimeout), errors.Is(g.Why, gate.ErrLate):
		return nil, fmt.Errorf("%w: it sent only %d bytes of the body", ErrTimeout, len(body))
	case g.Rest: // too long, or too little memory
		return nil, fmt.Errorf("%w: %d bytes at most", g.Why, w.Most)
	}
	return nil, fmt.Errorf("%w: %w", ErrBadGateway, g.Why)
}

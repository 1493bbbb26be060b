package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vitrine/cache/result"
	"vitrine/proxy/upstream/gate"
	"vitrine/proxy/upstream/traffic"
)

// fetched is the result of a fetch: an entry that was kept, or a response that must be forwarded to one client. One
// of entry and response is set, unless there was an error. Its owner must send or discard the response, which has a
// connection and a place at the gate.
type fetched struct {
	entry    *entry
	response *gate.Response
	begun    *gate.Gathered // of the response; nil if its body is not read yet
	status   int            // of the other server's response
}

// discard closes a response that no client needs.
func (f fetched) discard() {
	if f.response != nil {
		_ = f.response.Body.Close()
	}
	if f.begun != nil {
		f.begun.Drop()
	}
}

// whole returns a request without its conditions: this package evaluates them on the whole answer. A condition of
// the first client would otherwise decide what all others get.
func (r *request) whole() *request {
	all := *r
	all.header = r.header.Clone()
	for _, name := range conditions {
		delete(all.header, name)
	}
	return &all
}

// fetch requests a target whose answer may be kept, for a client whose share the request has. It validates stale
// unless that is nil. It ignores the request's own conditions. It ends with waiting, until the response begins. In
// steps: ask, with the validators of a stale entry; take a 304 as its renewal; hand back what must not be kept;
// read the body, and hand back what turns out too long or too slow; keep the rest.
func (p *Proxy) fetch(waiting context.Context, r *request, stale *entry, by gate.Share) (fetched, error) {
	whole, more := r.whole(), http.Header{}
	if stale != nil && stale.etag != "" {
		more.Set("If-None-Match", stale.etag)
	} else if stale != nil && stale.modified != "" {
		more.Set("If-Modified-Since", stale.modified)
	}
	requested := p.options.Now()
	resp, err := p.send(waiting, whole, more, by)
	r.counts = whole.counts
	if err != nil {
		return fetched{}, err
	}
	received := p.options.Now()
	if resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close() // there is none
		if stale == nil {
			return fetched{}, fmt.Errorf("%w: status 304 without a condition", ErrBadGateway)
		}
		e := stale.updated(whole.header, resp.Header, requested, received)
		if storable(e.status, e.header, parseDirectives(e.header["Cache-Control"])) {
			p.store.keep(r.key, e)
		} else {
			p.store.drop(r.key, stale)
		}
		return fetched{entry: e, status: resp.StatusCode}, nil
	}
	if !storable(resp.StatusCode, resp.Header, parseDirectives(resp.Header["Cache-Control"])) {
		if resp.StatusCode < 500 { // entries for other headers stay: clients choose theirs
			p.store.drop(r.key, stale)
			p.unkept.note(r.key, received)
		}
		return fetched{response: resp, status: resp.StatusCode}, nil
	}
	g := resp.Gather(p.options.KeptBytes, time.Now().Add(p.options.Timeout))
	if g.Rest { // it arrives too slowly, is too long, or leaves too little memory
		if !errors.Is(g.Why, result.ErrInFlight) {
			p.unkept.note(r.key, received)
		}
		return fetched{response: resp, begun: g, status: resp.StatusCode}, nil
	}
	defer g.Drop()
	if g.Why != nil {
		err := fmt.Errorf("%w: %w", ErrBadGateway, g.Why)
		p.traffic.failed(r.counts, err, traffic.Recheck{Target: r.probe()}, 0)
		return fetched{}, err
	}
	body := &result.Answer{Body: exact(g.Bytes)}
	e := newEntry(whole.header, resp.StatusCode, resp.Header, body, r.counts, requested, received)
	p.store.keep(r.key, e)
	p.unkept.forget(r.key)
	return fetched{entry: e, status: resp.StatusCode}, nil
}

// exact returns a body without much room at its end, which a kept one would hold for as long. An eighth is the
// waste that a copy is worth.
func exact(body []byte) []byte {
	if cap(body)-len(body) > len(body)/8 {
		return bytes.Clone(body)
	}
	return body
}

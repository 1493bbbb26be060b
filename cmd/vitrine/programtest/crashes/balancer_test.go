package crashes

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// balancer is a small load balancer: it distributes requests in turn to the servers that report
// ready, over connections that it keeps open. It tries another server only if it could not connect
// to the first, so that nothing was sent.
type balancer struct {
	*httptest.Server
	transport *http.Transport
	refused   atomic.Int64 // connections; the balancer tried another server
	resent    atomic.Int64 // requests sent twice: must stay 0
	late      atomic.Int64 // requests sent again that the balancer had sent too late to a server that ends

	probes   sync.WaitGroup
	mu       sync.Mutex // guards the fields below
	backends []*backend
	turn     int
}

// backend is a server behind a balancer.
type backend struct {
	host  string
	ready atomic.Bool
	ends  atomic.Pointer[time.Time] // see leaves
	stop  chan struct{}
}

// leaves tells the balancer that a server has been told to end and goes on answering for a delay. The balancer itself
// notices that within a few probes, unless it does not run for so long on a busy machine: what it sends to the server
// in the second half of the delay or later is no proof of anything.
func (b *balancer) leaves(s *programtest.Server, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, back := range b.backends {
		if ends := time.Now().Add(delay / 2); back.host == s.Base[len("http://"):] {
			back.ends.Store(&ends)
		}
	}
}

func newBalancer(t *testing.T, servers ...*programtest.Server) *balancer {
	b := &balancer{transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		Transport: b,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			t.Errorf("%s: %v", r.URL, err)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	b.Server = httptest.NewServer(proxy)
	for _, s := range servers {
		b.add(s)
	}
	t.Cleanup(func() {
		for _, back := range b.backends {
			close(back.stop)
		}
		b.probes.Wait()
		b.Close()
		b.transport.CloseIdleConnections()
	})
	return b
}

// add puts a server behind the balancer, which polls whether the server is ready.
func (b *balancer) add(s *programtest.Server) {
	back := &backend{host: s.Base[len("http://"):], stop: make(chan struct{})}
	b.mu.Lock()
	b.backends = append(b.backends, back)
	b.mu.Unlock()
	b.probes.Go(func() {
		probe := time.NewTicker(20 * time.Millisecond)
		defer probe.Stop()
		for {
			res, err := b.transport.RoundTrip(programtest.NewRequest(s.Base + "/readyz"))
			if err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			back.ready.Store(err == nil && res.StatusCode == http.StatusOK)
			select {
			case <-back.stop:
				return
			case <-probe.C:
			}
		}
	})
}

// next returns the server whose turn it is.
func (b *balancer) next() (*backend, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.backends {
		b.turn = (b.turn + 1) % len(b.backends)
		if back := b.backends[b.turn]; back.ready.Load() {
			return back, true
		}
	}
	return nil, false
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(req *http.Request) (*http.Response, error) {
	for {
		back, ok := b.next()
		if !ok {
			return nil, errors.New("no server is ready")
		}
		sent := 0
		var late atomic.Bool
		trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
			sent++
			switch ends := back.ends.Load(); {
			case sent == 1:
				late.Store(ends != nil && time.Now().After(*ends))
			case !late.Load():
				b.resent.Add(1)
			}
		}}
		out := req.Clone(httptrace.WithClientTrace(req.Context(), trace))
		out.URL.Host = back.host
		res, err := b.transport.RoundTrip(out)
		var failed *net.OpError
		if errors.As(err, &failed) && failed.Op == "dial" {
			b.refused.Add(1)
			back.ready.Store(false)
			continue
		}
		if err != nil && late.Load() {
			b.late.Add(1)
			back.ready.Store(false)
			continue
		}
		return res, err
	}
}

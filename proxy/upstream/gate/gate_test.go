package gate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/result"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream/gate"
	"vitrine/rules"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// site is a Gate before a server.
type site struct {
	*gate.Gate
	t        *testing.T
	old      *httptest.Server
	asked    atomic.Int64
	ended    atomic.Int64
	inFlight *result.InFlight
}

func newSite(t *testing.T, inFlight int64, answer http.HandlerFunc) *site {
	cache, err := result.New(result.Options{InFlight: inFlight})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cache.Close)
	s := &site{t: t, inFlight: cache.InFlight()}
	s.old = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		answer(rw, r)
	}))
	t.Cleanup(s.old.Close)
	s.Gate = gate.New(gate.Options{
		Timeout: proxytest.Patience, InFlight: s.inFlight, Ended: func() { s.ended.Add(1) },
		Probe: func(ctx context.Context, method, path string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, method, s.old.URL+path, nil)
		},
	})
	t.Cleanup(s.Gate.Close)
	return s
}

func (s *site) request(path string) gate.Request {
	return gate.Request{URL: path, Make: func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, s.old.URL+path, nil)
	}}
}

// send sends a request of a client.
func (s *site) send(ctx context.Context, client netip.Addr, path string) (*gate.Response, error) {
	by, err := s.Admit(ctx, client)
	if err != nil {
		return nil, err
	}
	return s.Send(ctx, by, s.request(path))
}

func address(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }

// TestShares: a client's requests that hang leave connections for others, and all clients' for Vitrine's own
// requests.
func TestShares(t *testing.T) {
	s := newSite(t, 0, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	const clients, each = 10, 40
	failed := make(chan error)
	ask := func(client int) {
		for range each {
			go func() {
				_, err := s.send(ctx, address(client), "/hang")
				failed <- err
			}()
		}
	}
	ask(1)
	proxytest.Until(t, "the client has its share", func() bool { return s.asked.Load() == 32 })
	if resp, err := s.send(t.Context(), address(0), "/"); err != nil {
		t.Errorf("another client: %v", err)
	} else {
		resp.Body.Close()
	}
	for i := 2; i <= clients; i++ {
		ask(i)
	}
	proxytest.Until(t, "all connections are in use", func() bool { return s.asked.Load() == 128+1 })
	resp, err := s.SendOwn(t.Context(), s.request("/"))
	if err != nil {
		t.Fatalf("a request of Vitrine's own: %v", err)
	}
	resp.Body.Close()
	leave()
	for range clients * each {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("a request that hangs: %v", err)
		}
	}
	if s.Down() {
		t.Error("waiting counts as the server's failure")
	}
}

// TestStreams: a client has few streams; each one more is refused, or ends a slow one.
func TestStreams(t *testing.T) {
	s := newSite(t, 0, func(rw http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 1<<16); ; {
			if _, err := rw.Write(piece); err != nil {
				return
			}
		}
	})
	open := int64(0)
	for range 12 {
		resp, err := s.send(t.Context(), address(1), "/endless")
		if err != nil {
			t.Fatal(err)
		}
		g := resp.Gather(1<<20, time.Now().Add(proxytest.Patience))
		if !errors.Is(g.Why, gate.ErrTooLong) || !g.Rest || len(g.Bytes) > 1<<20+1 {
			t.Fatalf("%d bytes, because of %v", len(g.Bytes), g.Why)
		}
		body, err := resp.Forward(t.Context(), address(1), g)
		_, refused := errors.AsType[*rules.RetryError](err)
		switch {
		case err == nil:
			open++
			defer body.Close()
		case !refused:
			t.Fatal(err)
		}
	}
	if n := open - s.ended.Load(); n != 8 {
		t.Errorf("%d streams are open, %d have ended", n, s.ended.Load())
	}
}

// TestGather: bodies take memory in flight while they are held, and are not gathered without.
func TestGather(t *testing.T) {
	const size = 1 << 20
	body := strings.Repeat("0123456789abcdef", size/16)
	s := newSite(t, 3*3*size, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/known" {
			rw.Header().Set("Content-Length", fmt.Sprint(size))
		}
		_, _ = io.WriteString(rw, body)
	})
	for _, path := range []string{"/known", "/unknown"} {
		var all []*gate.Gathered
		for s.inFlight.Bytes() < 2*size {
			resp, err := s.send(t.Context(), address(1), path)
			if err != nil {
				t.Fatal(err)
			}
			g := resp.Gather(2*size, time.Now().Add(proxytest.Patience))
			if g.Why != nil || string(g.Bytes) != body {
				t.Fatalf("%s: %d bytes, error %v", path, len(g.Bytes), g.Why)
			}
			all = append(all, g)
		}
		s.inFlight.Acquire(size)
		resp, err := s.send(t.Context(), address(1), path)
		if err != nil {
			t.Fatal(err)
		}
		g := resp.Gather(2*size, time.Now().Add(proxytest.Patience))
		if !errors.Is(g.Why, result.ErrInFlight) || !g.Rest {
			t.Errorf("%s without memory: %v", path, g.Why)
		}
		sent, err := resp.Forward(t.Context(), address(1), g)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(sent); string(text) != body || err != nil {
			t.Errorf("%s as a stream: %d bytes, error %v", path, len(text), err)
		}
		sent.Close()
		for _, g := range all {
			g.Drop()
		}
		s.inFlight.Release(size)
		if n := s.inFlight.Bytes(); n != 0 {
			t.Errorf("%s: %d bytes stay in flight", path, n)
		}
	}
}

// TestGatherLate: what has arrived goes on when the time is over, while the server is silent, and nothing gets lost.
func TestGatherLate(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := newSite(t, 1<<20, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "first")
		rw.(http.Flusher).Flush()
		<-release
		_, _ = io.WriteString(rw, strings.Repeat("second", 10_000))
	})
	resp, err := s.send(t.Context(), address(1), "/")
	if err != nil {
		t.Fatal(err)
	}
	g := resp.Gather(1<<20, time.Now().Add(20*time.Millisecond))
	if !errors.Is(g.Why, gate.ErrLate) || !g.Rest {
		t.Errorf("%v, want ErrLate", g.Why)
	}
	sent, err := resp.Forward(t.Context(), address(1), g)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("first"))
	if _, err := io.ReadFull(sent, first); err != nil || string(first) != "first" {
		t.Errorf("%q, error %v", first, err)
	}
	close(release)
	if rest, err := io.ReadAll(sent); string(rest) != strings.Repeat("second", 10_000) || err != nil {
		t.Errorf("then %d bytes, error %v", len(rest), err)
	}
	sent.Close()
	if n := s.inFlight.Bytes(); n != 0 {
		t.Errorf("%d bytes stay in flight", n)
	}
}

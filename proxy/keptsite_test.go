package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/kept"
	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
	"vitrine/rules"
)

// keptSite is a site before another server whose answers it keeps by rule.
type keptSite struct {
	*proxytest.Live
	keeper *kept.Keeper
	old    *httptest.Server
	server *proxy.Server // set before the first request

	mu       sync.Mutex // guards the rest
	requests []*http.Request
	answer   http.HandlerFunc
	now      time.Time
}

// keptRule keeps the answers below /portfolio/.
func keptRule() kept.Rule {
	return kept.Rule{
		Name: "/portfolio/", Auth: "portfolio", Paths: []string{"/portfolio/"},
		Until: []string{rules.ViewActivities, kept.Today},
		For:   24 * time.Hour, Stale: 7 * 24 * time.Hour,
		Parameters: []string{"limit", "lang"}, Rate: 10_000, Connections: 100,
	}
}

// php answers as a program with PHP sessions does: it forbids caches to keep anything.
func php(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json; charset=utf-8")
		h.Set("Set-Cookie", "PHPSESSID=secretsession; path=/")
		h.Set("Cache-Control", "no-store, no-cache, must-revalidate")
		h.Set("Expires", "Thu, 19 Nov 1981 08:52:00 GMT")
		h.Set("Pragma", "no-cache")
		status := http.StatusOK
		for i := 0; i < len(headers); i += 2 {
			if h.Set(headers[i], headers[i+1]); headers[i] == "Status" {
				h.Del("Status")
				_, _ = fmt.Sscan(headers[i+1], &status)
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// newKeptSite serves a site; change may alter the options.
func newKeptSite(t testing.TB, change func(*proxy.Options)) *keptSite {
	data := strings.Repeat("unit ", 1000)
	s := &keptSite{now: proxytest.Published.Add(time.Hour), answer: php(`{"status": 200, "data": "` + data + `"}`)}
	s.old = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Clone(context.Background()))
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.old.Close)
	o := proxytest.Options(t)
	o.Now = s.time
	var views proxy.Source
	var marks atomic.Pointer[map[string]int64]
	var err error
	s.keeper, err = kept.New(kept.Options{
		Now: s.time, Zone: time.UTC,
		Fetch: func(ctx context.Context, r kept.Request) (kept.Answer, error) { return s.server.Fetch(ctx, r) },
		Views: func() map[string]int64 {
			snapshot, err := views.Snapshot(rules.ViewActivities)
			if err != nil {
				return nil
			}
			// in place of the time, which is the same for all of a test
			generation := int64(snapshot.Meta().Generation)
			if last := marks.Load(); last != nil && (*last)[rules.ViewActivities] == generation {
				return *last
			}
			marks.Store(&map[string]int64{rules.ViewActivities: generation})
			return *marks.Load()
		},
		Changed: func(keys []string) { s.server.KeptChanged(keys) },
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Upstream = proxy.UpstreamOptions{
		Options: upstream.Options{URL: s.old.URL, Timeout: proxytest.Patience}, Paths: []string{"/"},
		Keeper: s.keeper, Keep: []kept.Rule{keptRule()},
	}
	if change != nil {
		change(&o)
	}
	site := proxytest.Open(t, proxytest.Institute(t), o)
	views, s.server = site.Views, site.Server
	t.Cleanup(s.keeper.Close)
	s.Live = proxytest.ServeLive(t, site)
	return s
}

func (s *keptSite) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// pass lets time pass.
func (s *keptSite) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// answers makes the other server answer otherwise.
func (s *keptSite) answers(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// asked returns the requests that reached the other server since the last call.
func (s *keptSite) asked() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

var plainClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask sends a request over the network, with headers given as name, value pairs.
func (s *keptSite) ask(method, target string, headers ...string) proxytest.Response {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, "http://"+s.Addr+target, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := plainClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return proxytest.Response{Response: res, Body: body}
}

func (s *keptSite) get(target string, headers ...string) proxytest.Response {
	s.T.Helper()
	return s.ask(http.MethodGet, target, headers...)
}

// late reports whether a response is a stale answer, which the keeper sent because the other server's took longer
// than two seconds. A busy machine may be as slow at any time.
func late(res proxytest.Response) bool {
	return strings.HasSuffix(res.Header.Get("Cache-Status"), "detail=revalidating")
}

// getInTime sends a request, again if the answer is late.
func (s *keptSite) getInTime(target string) proxytest.Response {
	s.T.Helper()
	res := s.get(target)
	for late(res) {
		res = s.get(target)
	}
	return res
}

// getStale makes what is kept stale, and sends a request. If the answer is late, it waits until that is kept, and
// tries again: then the other server answers otherwise, by what answer returns for the number of the try.
func (s *keptSite) getStale(target string, answer func(try int) http.HandlerFunc) proxytest.Response {
	s.T.Helper()
	for try := 0; ; try++ {
		s.answers(answer(try))
		s.Refresh(rules.ViewActivities)
		res := s.get(target)
		if !late(res) {
			return res
		}
		s.getInTime(target)
	}
}

// want checks the status of a response and some of its headers, given as name, value pairs.
func want(t *testing.T, what string, res proxytest.Response, status int, headers ...string) {
	t.Helper()
	if res.StatusCode != status {
		t.Errorf("%s: status %d, want %d: %.200s", what, res.StatusCode, status, res.Body)
	}
	for i := 0; i < len(headers); i += 2 {
		if got := strings.Join(res.Header.Values(headers[i]), " | "); got != headers[i+1] {
			t.Errorf("%s: %s %q, want %q", what, headers[i], got, headers[i+1])
		}
	}
}

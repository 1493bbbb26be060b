package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
	"vitrine/rules"
)

// fetcher is a Proxy before a server, without a site.
type fetcher struct {
	*upstream.Proxy
	old   *httptest.Server
	asked atomic.Int64
}

func newFetcher(t *testing.T, answer http.HandlerFunc, change func(*upstream.Options)) *fetcher {
	f := &fetcher{}
	f.old = otherServer(t, func(rw http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		answer(rw, r)
	})
	o := upstream.Options{URL: f.old.URL, Host: "old.example.org", Timeout: proxytest.Patience}
	if change != nil {
		change(&o)
	}
	p, err := upstream.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	f.Proxy = p
	return f
}

// TestWholeRequest: a request of Vitrine's own has nothing of a client's, and the key where the other server reads
// it.
func TestWholeRequest(t *testing.T) {
	requests := make(chan *http.Request, 1)
	f := newFetcher(t, func(_ http.ResponseWriter, r *http.Request) { requests <- r }, nil)
	const modified = "Mon, 04 May 2026 09:00:00 GMT"
	for target, want := range map[string]string{
		"/portfolio/unit/a%2Fb?limit=1": "/portfolio/unit/a%2Fb?limit=1&apikey=k+y", "/api/x": "/api/x",
	} {
		w := upstream.WholeRequest{
			Target: target, Accept: "application/json", Key: "k y", ETag: `"a"`, Modified: modified, Most: 10,
		}
		if _, err := f.FetchWhole(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		r := <-requests
		via := r.Header.Get("Via")
		r.Header.Del("Via")
		headers := http.Header{
			"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "User-Agent": {"vitrine"},
			"X-Api-Key": {"k y"}, "If-None-Match": {`"a"`}, "If-Modified-Since": {modified},
		}
		if r.RequestURI != want || r.Host != "old.example.org" || !strings.HasPrefix(via, "1.1 vitrine-") ||
			!reflect.DeepEqual(r.Header, headers) {
			t.Errorf("asked %s for %s with %v", r.Host, r.RequestURI, r.Header)
		}
	}
	if _, err := f.FetchWhole(
		t.Context(), upstream.WholeRequest{Target: "/a/%2e%2e/b"},
	); !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("a path with dots: %v", err)
	}
}

// TestWholeAnswer: an answer comes whole and without what belongs to a session or a key, or as an error.
func TestWholeAnswer(t *testing.T) {
	unknown := func(body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.(http.Flusher).Flush()
			_, _ = io.WriteString(rw, body)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code) }
	}
	breaks := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		etag   string
		status int
		body   string
		err    error
	}{
		"whole":             {answer: says("0123456789"), status: 200, body: "0123456789"},
		"of unknown length": {answer: unknown("0123456789"), status: 200, body: "0123456789"},
		"empty":             {answer: says(""), status: 200},
		"not found":         {answer: http.NotFound, status: 404, body: "404 page not found\n"},
		"an error":          {answer: status(500), status: 500},
		"unchanged":         {answer: status(304), etag: `"a"`, status: 304},
		"304 unasked":       {answer: status(304), err: upstream.ErrBadGateway},
		"a part":            {answer: status(206), err: upstream.ErrBadGateway},
		"too long":          {answer: says(strings.Repeat("x", 21)), err: upstream.ErrTooLong},
		"too long, unknown": {answer: unknown(strings.Repeat("x", 5000)), err: upstream.ErrTooLong},
		"coded":             {answer: says("x", "Content-Encoding", "gzip"), err: upstream.ErrBadGateway},
		"not coded":         {answer: says("x", "Content-Encoding", "identity"), status: 200, body: "x"},
		"cut":               {answer: says("x", "Content-Length", "2"), err: upstream.ErrBadGateway},
		"none":              {answer: breaks, err: upstream.ErrBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t, func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Set-Cookie", "sid=1")
				rw.Header().Set("X-Link", "/x?apikey=secret")
				rw.Header().Set("Connection", "X-Hop")
				rw.Header().Set("X-Hop", "1")
				rw.Header().Set("Location", "https://old.example.org/osiris/x?apikey=secret&a=b")
				c.answer(rw, r)
			}, func(o *upstream.Options) { o.URL += "/osiris" })
			w := upstream.WholeRequest{Target: "/portfolio/x", Key: "secret", ETag: c.etag, Most: 20}
			a, err := f.FetchWhole(t.Context(), w)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || a.Status != c.status ||
				string(a.Body) != c.body {
				t.Errorf("%d %q, error %v", a.Status, a.Body, err)
			}
			if err != nil {
				return
			}
			for _, deleted := range []string{"Set-Cookie", "X-Hop", "Connection", "Content-Length"} {
				if a.Header.Get(deleted) != "" {
					t.Errorf("the answer has %s", deleted)
				}
			}
			if a.Header.Get("X-Link") != "/x" || a.Header.Get("Location") != "/x?a=b" || a.Header.Get("Via") == "" {
				t.Errorf("headers %v", a.Header)
			}
		})
	}
}

// TestWholeSilence: a request ends when the server is silent or drips, and when its caller ends it.
func TestWholeSilence(t *testing.T) {
	for _, path := range []string{"/silent", "/half", "/drips"} {
		// Each has a circuit of its own: on a slow machine it may open after such a request.
		f := newFetcher(t, func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/silent" {
				rw.(http.Flusher).Flush()
			}
			for tick := time.Tick(time.Millisecond); r.Context().Err() == nil; <-tick {
				if r.URL.Path == "/drips" {
					_, _ = io.WriteString(rw, "x")
					rw.(http.Flusher).Flush()
				}
			}
		}, func(o *upstream.Options) { o.Timeout = 200 * time.Millisecond })
		_, err := f.FetchWhole(t.Context(), upstream.WholeRequest{Target: path, Most: 1 << 20})
		if !errors.Is(err, upstream.ErrTimeout) {
			t.Errorf("%s: %v", path, err)
		}
	}
	began := make(chan bool)
	patient := newFetcher(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			rw.(http.Flusher).Flush()
		}
		began <- true
		<-r.Context().Done()
	}, nil)
	for _, path := range []string{"/silent", "/half"} {
		ctx, leave := context.WithCancel(t.Context())
		go func() { <-began; leave() }()
		if _, err := patient.FetchWhole(
			ctx, upstream.WholeRequest{Target: path, Most: 20},
		); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after its caller has left", path, err)
		}
	}
}

// TestWholeDown: a server that cannot be reached is left alone for a while, which Down says.
func TestWholeDown(t *testing.T) {
	f := newFetcher(t, says("x"), nil)
	if _, err := f.FetchWhole(t.Context(), upstream.WholeRequest{Target: "/x", Most: 20}); err != nil || f.Down() {
		t.Errorf("before: %v, down %v", err, f.Down())
	}
	f.old.Close()
	proxytest.Until(t, "it is down", func() bool {
		_, err := f.FetchWhole(t.Context(), upstream.WholeRequest{Target: "/x", Most: 20})
		if err == nil {
			t.Fatal("an answer from a closed server")
		}
		return f.Down()
	})
	_, err := f.FetchWhole(t.Context(), upstream.WholeRequest{Target: "/x", Most: 20})
	if _, retry := errors.AsType[*rules.RetryError](err); !retry || !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// TestWholeKey: an answer that repeats the key of the other server is an error, since it would be kept for all
// callers.
func TestWholeKey(t *testing.T) {
	f := newFetcher(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, `{"self":"`+r.RequestURI+`"}`)
	}, nil)
	for _, key := range []string{"key-of-the-other", "key of the+other"} {
		w := upstream.WholeRequest{Target: "/portfolio/unit/BIO?limit=1", Key: key, Most: 1000}
		if a, err := f.FetchWhole(t.Context(), w); !errors.Is(err, upstream.ErrBadGateway) {
			t.Errorf("%s: %d %s (%v)", key, a.Status, a.Body, err)
		}
	}
}

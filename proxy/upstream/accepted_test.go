package upstream_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
)

// TestAcceptedByReload: methods and the longest body change with a reload, and the refusal of a body says the limit.
func TestAcceptedByReload(t *testing.T) {
	w := newWorld(t, says("text"), nil)
	post := func(size int, want int, message string) {
		t.Helper()
		head := fmt.Sprintf("POST /old HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		res, _ := w.Exchange(t, head+strings.Repeat("x", size))
		if res.Response == nil || res.StatusCode != want || !strings.Contains(string(res.Body), message) {
			t.Fatalf("a body of %d bytes: %v %.300s, want %d", size, res.Response, res.Body, want)
		}
	}
	adopt := func(a upstream.Accepted) {
		t.Helper()
		o := proxytest.Options(t)
		o.Upstream.Accepted = a
		if err := w.Server.Adopt(o); err != nil {
			t.Fatal(err)
		}
	}
	post(10, 405, "does not support")
	post(20_000, 413, "16384 bytes is the limit")
	adopt(upstream.Accepted{Methods: []string{"POST"}})
	post(1<<20, 200, "text")
	post(1<<20+1, 413, "1048576 bytes is the limit")
	adopt(upstream.Accepted{Methods: []string{"POST"}, BodyBytes: 3 << 20})
	post(3<<20, 200, "text")
	if _, body := w.request(); len(body) != 3<<20 {
		t.Errorf("%d bytes reached the other server", len(body))
	}
	post(3<<20+1, 413, "3145728 bytes is the limit")
	adopt(upstream.Accepted{})
	post(10, 405, "does not support")
}

// TestRoutable: only HTTP's own methods, and those of the start, come without a restart.
func TestRoutable(t *testing.T) {
	began := upstream.Accepted{Methods: []string{"PROPFIND"}}
	for method, want := range map[string]bool{"POST": true, "PROPFIND": true, "M-SEARCH": false} {
		if got := began.Routable(upstream.Accepted{Methods: []string{method}}); got != want {
			t.Errorf("%s: %t", method, got)
		}
	}
}

// TestScheme: the other server learns by which scheme and host clients ask, also from requests of Vitrine's own.
func TestScheme(t *testing.T) {
	for _, tt := range []struct{ scheme, host, own, forwarded string }{
		{"", "", "", "http"}, {"https", "public.example", "https", "https"},
	} {
		w := newWorld(t, says("text"), func(o *proxy.UpstreamOptions) { o.Scheme, o.Host = tt.scheme, tt.host })
		w.get("/old", "Host", "public.example")
		r, _ := w.request()
		if got := r.Header.Get("X-Forwarded-Proto"); got != tt.forwarded ||
			r.Header.Get("X-Forwarded-Host") != "public.example" ||
			!strings.Contains(r.Header.Get("Forwarded"), "proto="+tt.forwarded) || tt.host != "" && r.Host != tt.host {
			t.Errorf("%+v: a client's request: host %s, %v", tt, r.Host, r.Header)
		}
		p, err := upstream.New(upstream.Options{URL: w.old.URL, Scheme: tt.scheme, Host: tt.host})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.FetchWhole(t.Context(), upstream.WholeRequest{Target: "/own", Most: 1 << 20}); err != nil {
			t.Error(err)
		}
		p.Close()
		r, _ = w.request()
		if r.Header.Get("X-Forwarded-Proto") != tt.own || r.Header.Get("X-Forwarded-Host") != tt.host ||
			r.Header.Get("X-Forwarded-For") != "" {
			t.Errorf("%+v: a request of its own: %v", tt, r.Header)
		}
	}
	if p, err := upstream.New(upstream.Options{URL: "http://old.example", Scheme: "ftp"}); err == nil {
		p.Close()
		t.Error("another scheme was accepted")
	}
}

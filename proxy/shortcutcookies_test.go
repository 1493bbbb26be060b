package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// TestShortcutCookies: requests that differ only in the cookies of trackers get one prepared response. A session has
// none.
func TestShortcutCookies(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Auth.Session = auth.SessionOptions{Secret: []byte(strings.Repeat("s", 32)), Cookie: "vitrine_session"}
	r := newRepeater(t, proxytest.ListStore(t, nil), o)
	request := func(cookies string) string {
		return "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nCookie: " + cookies + "\r\n\r\n"
	}
	_, _ = r.exchange(request("_ga=first"))
	want, logged := r.exchange(unrepeated(1, request("_ga=first")))
	const metric = "vitrine_requests_repeated_total"
	before, n := r.Metric(metric), 0
	for ; n < mostRepeats && r.Metric(metric) == before; n++ {
		got, line := r.exchange(request(fmt.Sprintf("_ga=GA1.1.%d; seen=yes", n)))
		if got != want || line != logged {
			t.Fatalf("got %q and %q, want %q and %q", got, line, want, logged)
		}
	}
	if n == mostRepeats {
		t.Error("never answered by the shortcut")
	}
	for _, session := range []string{"vitrine_session=x", "_ga=1; vitrine_session=x", "vitrine_session=x; _ga=1"} {
		n++
		want, logged := r.exchange(unrepeated(n, request(session)))
		if r.repeat(request(session), 32, want, logged) {
			t.Errorf("%s: answered by the shortcut", session)
		}
	}
}

// TestShortcutCookiesElsewhere: a request with cookies goes to the other server, although the same one without them,
// and requests with others, are answered by prepared responses.
func TestShortcutCookiesElsewhere(t *testing.T) {
	s := newKeptSite(t, nil)
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = io.WriteString(w, "for "+r.Header.Get("Cookie"))
	})
	const metric = "vitrine_requests_repeated_total"
	for n := 0; n < mostRepeats && s.Metric(metric) == 0; n++ {
		if res := s.get("/elsewhere"); string(res.Body) != "for " {
			t.Fatalf("without cookies: %s", res.Body)
		}
	}
	if s.Metric(metric) == 0 {
		t.Fatal("never answered by the shortcut")
	}
	s.asked()
	for n := range 32 {
		cookie := fmt.Sprintf("sid=%d", n/4)
		if res := s.get("/elsewhere", "Cookie", cookie); string(res.Body) != "for "+cookie {
			t.Errorf("%s: %s", cookie, res.Body)
		}
	}
	if n := len(s.asked()); n != 32 {
		t.Errorf("the other server got %d of 32 requests with cookies", n)
	}
}

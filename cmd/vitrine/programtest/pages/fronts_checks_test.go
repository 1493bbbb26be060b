package pages

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/proxytest/osiristest"
)

// routes checks which server gets what.
func (f *front) routes(t *testing.T) {
	t.Helper()
	if a := f.ask(t, http.MethodGet, "http://"+publicName+"/x?y=1", ""); a.status != http.StatusPermanentRedirect ||
		a.header.Get("Location") != "https://"+publicName+"/x?y=1" {
		t.Errorf("without TLS: %d %v", a.status, a.header)
	}
	upload := strings.Repeat("0123456789abcdef", 5<<16) // 5 MiB
	for _, tt := range []struct {
		method, target, body, cookie string
		vitrine                      bool
		old                          int // requests for the target that reach the old server; -1: any number
	}{
		{"GET", "/api/activities?limit=1", "", "", true, 0},
		{"HEAD", "/api/activities?limit=2", "", "", true, 0},
		{"GET", "/api/activities?json=%7B%22title%22:%22a%2Fb%22%7D", "", "", true, 0},
		{"GET", "/api/activities?limit=3", "", "a=b; PHPSESSID=x", false, 1}, // a page of the staff
		{"GET", "/api/journals", "", "", true, 1},                            // forwarded
		// The old server answers these only if it gets answers of itself. Vitrine may have fetched them before.
		{"GET", "/portfolio/unit/" + osiristest.Unit, "", "", true, -1},
		{"GET", "/portfolio/unit/" + osiristest.OtherUnit, "", "PHPSESSID=x", true, -1},
		{"GET", "/lists", "", "", true, 0},
		{"GET", "/lists/activities.json?limit=1", "", "", true, 0},
		{"GET", "/lists.json", "", "", true, 0},
		{"GET", "/sitemap.xml", "", "", true, 0},
		{"GET", "/oembed?url=https%3A%2F%2F" + publicName + "%2Flists%2Factivities", "", "", true, 0},
		{"GET", "/portal/a%2Fb%20c?d=%2F", "", "PHPSESSID=x", false, 1},
		{"POST", "/user/login", "user=a", "PHPSESSID=x", false, 1},
		{"POST", "/api/openalex/enrich", "id=1", "", false, 1},
		{"POST", "/portfolio/a%2Fb", "id=1", "", false, 1},
		{"POST", "/activities/upload", upload, "PHPSESSID=x", false, 1},
	} {
		f.old.Forget()
		headers := []string{}
		if tt.cookie != "" {
			headers = []string{"Cookie", tt.cookie}
		}
		a := f.ask(t, tt.method, tt.target, tt.body, headers...)
		if a.byVitrine() != tt.vitrine || a.status >= 500 || tt.vitrine && a.status != http.StatusOK {
			t.Errorf("%s %s: %d, by Vitrine %t: %.300s", tt.method, tt.target, a.status, a.byVitrine(), a.body)
		}
		if n := f.old.Count(tt.target); n != tt.old && tt.old >= 0 {
			t.Errorf("%s %s: the old server got %d, want %d of %v", tt.method, tt.target, n, tt.old, f.old.Counts())
		}
		for _, r := range f.old.Requests() {
			if r.Host != publicName || r.Header.Get("X-Forwarded-Proto") != "https" ||
				r.Header.Get("X-Forwarded-Host") != publicName || r.Target == tt.target && r.Body != tt.body {
				t.Errorf("%s %s: reached the old server as %s %s for %s, body of %d bytes, %v", tt.method, tt.target,
					r.Method, r.Target, r.Host, len(r.Body), r.Header)
			}
		}
	}
}

// says checks that both servers learn the client's address, and nothing that it makes up.
func (f *front) says(t *testing.T) {
	t.Helper()
	for _, target := range []string{"/portal/x", "/api/organizations"} {
		f.old.Forget()
		f.ask(t, http.MethodGet, target, "", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "gopher",
			"X-Forwarded-Host", "evil.example", "Forwarded", "for=192.0.2.2;host=evil.example",
			"Connection", "X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host")
		for _, r := range f.old.Requests() {
			if r.Target != target {
				continue // Vitrine fetches pages ahead
			}
			text := r.Text()
			if r.Header.Get("X-Forwarded-For") != "127.0.0.9" || r.Header.Get("X-Forwarded-Proto") != "https" ||
				strings.Contains(text, "192.0.2.") || strings.Contains(text, "evil") {
				t.Errorf("%s: the old server reads %s", target, text)
			}
		}
		if f.old.Count(target) != 1 {
			t.Errorf("%s: %v", target, f.old.Counts())
		}
	}
}

// smuggles checks that no request in the body of another one reaches a server.
func (f *front) smuggles(t *testing.T) {
	t.Helper()
	const evil = "GET /portal/evil HTTP/1.1\r\nHost: " + publicName + "\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(evil), evil)
	f.old.Forget()
	for _, head := range []string{
		"GET /api/activities HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"POST /user/login HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
		"POST /user/login HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding : chunked\r\n",
		"GET /portfolio/units HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
	} {
		conn, err := tls.Dial("tcp", f.safe, &tls.Config{RootCAs: f.pool, ServerName: publicName})
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(proxytest.Patience))
		_, _ = fmt.Fprintf(conn, "%sHost: %s\r\nConnection: close\r\n\r\n%s", head, publicName, chunked)
		_, _ = io.Copy(io.Discard, bufio.NewReader(conn)) // to its end
		_ = conn.Close()
		for range 3 {
			if a := f.ask(t, http.MethodGet, "/api/activities?limit=1", ""); !strings.Contains(a.body, `"count"`) {
				t.Errorf("after %q: %d %.200s", head, a.status, a.body)
			}
		}
	}
	if n := f.old.CountPath("/portal/evil"); n > 0 {
		t.Errorf("%d smuggled requests", n)
	}
}

// falls checks that the old server answers for Vitrine when that has ended.
func (f *front) falls(t *testing.T, vitrine *programtest.Server) {
	t.Helper()
	vitrine.Stop()
	for _, target := range []string{"/portfolio/unit/" + osiristest.Unit, "/api/journals?limit=2"} {
		f.old.Forget()
		a := f.ask(t, http.MethodGet, target, "")
		if a.status != http.StatusOK || a.byVitrine() || f.old.Count(target) != 1 {
			t.Errorf("%s without Vitrine: %d, %v", target, a.status, f.old.Counts())
		}
	}
	if a := f.ask(t, http.MethodGet, "/lists/activities", ""); a.status < 500 {
		t.Errorf("a list without Vitrine: %d", a.status)
	}
}

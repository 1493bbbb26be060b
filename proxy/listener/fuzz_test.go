package listener_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/configs"
	"vitrine/proxy/auth"
)

// FuzzQuery: for any query string every endpoint answers with a valid envelope and never with a
// 5xx.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&offset=2", "limit=-1", "full=1&limit=2", "columns[]=authors.user&columns=web,print",
		"aggregate=authors.user",
		`json={"year":{"$gte":2020},"$or":[{"type":"x"},{"title":{"$regex":"^a","$options":"i"}}]}`,
		"filter[year][$gte]=2020&filter[$or][0][type]=x",
		"filter[type][$in][]=a&filter[_id][$oid]=64a000000000000000000001",
		"filter[a][$elemMatch][$gte]=1&filter[a][$not][$all][]=x", "filter[%00]=1&columns[]=%ff", "spectrum=Soil",
		"spectrum[]=x",
		"page=my-activities&user=bob", "page=portal&path=//x", "path=https://example.org/%22",
		"type=publication&json={", "&&=&a[=]&[]=1",
	} {
		f.Add(seed)
	}
	s := proxytest.Open(f, proxytest.Institute(f), proxytest.Options(f))
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/api/activities", "/api/html", "/api/all-activities",
			"/api/spectrum-activities"} {
			req := httptest.NewRequest(http.MethodGet, path, nil)
			req.URL.RawQuery = proxytest.OnTheWire(query)
			req.RequestURI = req.URL.RequestURI()
			res := (&proxytest.Site{T: t, Server: s.Server}).Send(req)
			if res.StatusCode >= 500 {
				t.Fatalf("%s?%q: %d %s", path, query, res.StatusCode, res.Body)
			}
			res.Envelope(t)
		}
	})
}

// FuzzConnection: for any bytes on a connection no request panics, and every line of the log can be
// parsed. The test runs the whole server: connections, parser, handlers, metrics and log.
func FuzzConnection(f *testing.F) {
	for _, seed := range malformed {
		if len(seed.request) < 4<<10 {
			f.Add([]byte(seed.request))
		}
	}
	f.Add(
		[]byte(health +
			"GET /api/activities?limit=2&%61pikey=x% HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nX-API-Key: " +
			"KEY\r\n\r\n"))
	f.Add(
		[]byte(
			"HEAD /api/all-activities?page=portal HTTP/1.1\r\nHost: x\r\nCookie: vitrine_session=a.b.c\r\nReferer: " +
				"http://x/\r\nX-Request-Id: KEY\r\n\r\n"))
	f.Add(
		[]byte(
			"GET /api/users/a%2fb HTTP/1.0\r\nAuthorization: Bearer a.b.c\r\nOrigin: http://x\r\nIf-None-Match: " +
				"*\r\n\r\n"))
	var log proxytest.LockedBuffer
	o := proxytest.Options(f)
	o.Logger, o.AccessLog = slog.New(slog.NewJSONHandler(&log, nil)), true
	o.Auth = auth.Options{APIKey: "KEY",
		Session: auth.SessionOptions{Secret: []byte("session secret"), Cookie: "vitrine_session"}}
	o.CORS = configs.CORS{Origins: []string{"http://x"}}
	o.Limits.Rate, o.Limits.KeyFailures = 1<<30, 1<<30
	// a socket file, because the system would run out of ports
	ln, err := net.Listen("unix", filepath.Join(f.TempDir(), "s"))
	if err != nil {
		f.Fatal(err)
	}
	l := proxytest.ServeOn(f, proxytest.Open(f, proxytest.Institute(f), o), ln)
	f.Fuzz(func(t *testing.T, sent []byte) {
		conn, err := net.Dial("unix", l.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(proxytest.Patience)); err != nil {
			t.Fatal(err)
		}
		go func() { // in a goroutine, because the server may answer and close before it has read everything
			_, _ = conn.Write(sent)
			_ = conn.(*net.UnixConn).CloseWrite()
		}()
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		for line := range strings.Lines(log.Taken()) {
			var entry struct{ Level string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "ERROR" {
				t.Fatalf("%.600s: %v", line, err)
			}
		}
	})
}

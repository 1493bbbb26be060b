package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"vitrine/cmd/vitrine/internal/accesslog"
)

// read returns the requests of a log, one a line, and "-" for a line without one.
func read(t *testing.T, log io.Reader) string {
	t.Helper()
	var all strings.Builder
	for e, err := range accesslog.Read(log) {
		switch {
		case errors.Is(err, accesslog.ErrLine):
			all.WriteString("-\n")
		case err != nil:
			fmt.Fprintf(&all, "error: %v\n", err)
		default:
			all.WriteString(e.Method + " " + e.URL + "\n")
		}
	}
	return strings.TrimSpace(all.String())
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	tests := []struct{ name, log, want string }{
		{"common", `10.0.0.1 - - [27/Nov/2026:20:50:35 +0000] "GET /api/html?limit=3 HTTP/1.1" 200 12`,
			"GET /api/html?limit=3"},
		{"combined",
			`::1 - frank [27/Nov/2026:20:50:35 +0000] "HEAD /api/html HTTP/2.0" 200 12 "https://x.example/a?b" ` +
				`"curl/8 (\"x\")"`, "HEAD /api/html"},
		{"Apache escapes a quote", `::1 - - [x] "GET /api/html?q=\"a\" HTTP/1.1" 200 1 "-" "-"`,
			`GET /api/html?q="a"`},
		{"nginx escapes a quote", `::1 - - [x] "GET /api/html?q=\x22\xC3\xA4\x22 HTTP/1.1" 200 1`,
			`GET /api/html?q="ä"`},
		{"HTTP/0.9", `::1 - - [x] "GET /api/html" 200 1`, "GET /api/html"},
		{"a handshake on the wrong port", `::1 - - [x] "\x16\x03\x01\x02\x00" 400 150 "-" "-"`, "-"},
		{"no request", `::1 - - [x] "-" 408 0 "-" "-"`, "-"},
		{"a virtual host before", `www.example:443 ::1 - - [x] "GET /a HTTP/1.1" 200 1`, "GET /a"},
		{"Caddy",
			`{"level":"info","ts":1.5,"logger":"http.log.access.log0","msg":"handled request",` +
				`"request":{"remote_ip":"::1","proto":"HTTP/2.0","method":"GET","host":"h","uri":"/api/html?a=1",` +
				`"headers":{"A":["x"]}},"status":200}`, "GET /api/html?a=1"},
		{"nginx, JSON with a request line", `{"time":"x","request":"GET /a?b=c HTTP/1.1","status":"200"}`,
			"GET /a?b=c"},
		{"nginx, JSON with parts", `{"request_method":"POST","request_uri":"/a?b"}`, "POST /a?b"},
		{"nginx, JSON without a method", `{"uri":"/a"}`, "GET /a"},
		{"nginx, JSON with a path beside the whole", `{"uri":"/a","request_uri":"/a?b=c","args":"b=c"}`,
			"GET /a?b=c"},
		{"nginx, JSON with path and query apart", `{"uri":"/a","args":"b=c"}` + "\n" + `{"uri":"/a","args":""}`,
			"GET /a?b=c\nGET /a"},
		{"Caddy, for people", "2026/11/27 20:50:35.000\tINFO\thttp.log.access\thandled request\t" +
			`{"request": {"method": "GET", "uri": "/api/html?a=1"}, "status": 200}`, "GET /api/html?a=1"},
		{"JSON of a container", `web-1  | {"msg":"request","method":"GET","url":"/a"}`, "GET /a"},
		{"JSON in a query", `::1 - - [x] "GET /a?json={%22b%22:1} HTTP/1.1" 200 1` + "\n" +
			`::1 - - [x] "GET /a?json={\"url\":\"/b\"}"`, "GET /a?json={%22b%22:1}\nGET /a?json={\"url\":\"/b\"}"},
		{"a mark of UTF-8", "\uFEFF/a\n/b", "GET /a\nGET /b"},
		{"Vitrine, JSON",
			`{"time":"x","level":"INFO","msg":"request","id":"a","method":"GET","url":"/api/html?…&limit=1",` +
				`"status":200}`, "GET /api/html?…&limit=1"},
		{"Vitrine, text",
			`time=2026-11-27T20:50:35.000Z level=INFO msg=request id=a method=GET url="/api/html?limit=1" ` +
				`status=200 bytes=1`, "GET /api/html?limit=1"},
		{"Vitrine, text without a query", `time=x level=INFO msg=request id=a method=GET url=/api/html status=200`,
			"GET /api/html"},
		{"Vitrine, another line", `time=x level=INFO msg=listening address=127.0.0.1:1`, "-"},
		{"paths", "/api/html\n# a comment\n\nhttps://other.example/api/x?y#z\nGET /api/y\n",
			"GET /api/html\nGET https://other.example/api/x?y#z\nGET /api/y"},
		{"Windows", "/a\r\n/b\r\n", "GET /a\nGET /b"},
		{"HAR",
			"\uFEFF{ \"log\": {\"version\": \"1.2\", \"comment\": \"entries\", \"pages\": [{\"id\": \"entries\"}], " +
				"\"entries\": [\n{\"request\": {\"method\": \"GET\", \"url\": \"https://h/a?b\", \"headers\": []}, " +
				"\"response\": {\"content\": {\"text\": \"" + long +
				"\"}}}, {\"request\": {\"method\": \"POST\", \"url\": \"https://h/c\"}}]}}",
			"GET https://h/a?b\nPOST https://h/c"},
		{"HAR that is cut off", `{"log":{"entries":[{"request":{"method":"GET","url":"/a"}},{"req`,
			"GET /a\nerror: HAR: after 1 entries: unexpected EOF"},
		{"HAR that is cut off between entries", `{"log":{"entries":[{"request":{"method":"GET","url":"/a"}}`,
			"GET /a\nerror: HAR: after 1 entries: EOF"},
		{"HAR with an endless entry", `{"log":{"entries":[{"request":{"method":"GET","url":"` +
			strings.Repeat(long, 40), "error: HAR: after 0 entries: unexpected EOF"},
		{"a long line", "/a\n/" + long + "\n/b\n" + long, "GET /a\n-\nGET /b\n-"},
		{"binary", "\x00\xff\xfe\x01\n/a\n\x1b[2J", "-\nGET /a\n-"},
		{"JSON that is cut off", `{"msg":"request","url":"/a`, "-"},
		{"other types in JSON", `{"url":5,"request":[1]}` + "\n" + `{"request":{"uri":7}}`, "-\n-"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, strings.NewReader(tt.log)); got != tt.want {
				t.Errorf("read\n%.300s\nwant\n%.300s", got, tt.want)
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = z.Write([]byte(tt.log)) // a buffer takes all
			_ = z.Close()
			if got := read(t, iotest.OneByteReader(&packed)); got != tt.want {
				t.Errorf("packed: read\n%.300s\nwant\n%.300s", got, tt.want)
			}
		})
	}
}

func TestReadFails(t *testing.T) {
	if got := read(t, io.MultiReader(strings.NewReader("/a\n"), iotest.ErrReader(errors.New("disk")))); got !=
		"GET /a\nerror: disk" {
		t.Errorf("read %s", got)
	}
	if got := read(t, strings.NewReader("\x1f\x8bxx")); !strings.HasPrefix(got, "error: ") {
		t.Errorf("read %s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"log":{"entries":[{"request":{"url":"/a"}}]}}`))
	f.Add([]byte(`::1 - - [x] "GET /a\x22 HTTP/1.1" 200 1`))
	f.Fuzz(func(t *testing.T, log []byte) {
		n := 0
		for range accesslog.Read(bytes.NewReader(log)) {
			if n++; n > len(log)+1 {
				t.Fatal("more requests than bytes")
			}
		}
	})
}

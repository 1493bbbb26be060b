package listener_test

import (
	"bufio"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"vitrine/proxy/listener"
)

// TestCheckHead: the server refuses a head that another server may parse differently, and closes
// the connection (RFC 9112: 3.2, 5.2, 6.1, 6.3).
func TestCheckHead(t *testing.T) {
	tests := []struct {
		name, head string
		want       string // part of the reason; empty if the head is accepted
		closes     bool
	}{
		{"plain", "GET / HTTP/1.1\r\nHost: x\r\n", "", false},
		{"HTTP/1.0 without a host", "GET / HTTP/1.0\r\n", "", false},
		{"odd but good", "GET / HTTP/1.1\r\nhOST: [::1]:80\r\nX-1~!#: a\r\nEmpty:\r\n", "", false},
		{"a body", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n", "", true},
		{"chunks", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n", "", true},
		{"no host", "GET / HTTP/1.1\r\n", "one Host", true},
		{"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHOST: x\r\n", "one Host", true},
		{"a host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n", "names no host", true},
		{"a host with a blank", "GET / HTTP/1.1\r\nHost: x y\r\n", "names no host", true},
		{"another protocol", "GET / HTTP/1.2\r\nHost: x\r\n", "protocol", true},
		{"two lengths", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\ncontent-length: 3\r\n", "length twice",
			true},
		{"a length and a coding", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
			"length twice", true},
		{"another coding", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n", "transfer coding", true},
		{"chunks in HTTP/1.0", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", "transfer coding", true},
		{"two Authorizations", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nauthorization: b\r\n",
			"Authorization twice", true},
		{"a blank in a name", "GET / HTTP/1.1\r\nHost: x\r\nX A: b\r\n", "name", true},
		{"a byte beyond ASCII in a name", "GET / HTTP/1.1\r\nHost: x\r\nX\xc3\xbc: b\r\n", "name", true},
		{"no name", "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n", "no name", true},
		{"a folded line", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n", "next line", true},
		{"a bare CR", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n", "bare carriage return", true},
		{
			"an announced trailer", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n",
			"after its body", true,
		},
		{"a zero byte", "GET / HTTP/1.1\r\nHost: x\r\nA: b\x00\r\n", "zero byte", true},
	}
	// byServer are the heads that fasthttp refuses before we check them.
	byServer := []string{
		"no host", "two hosts", "two lengths", "another coding", "chunks in HTTP/1.0",
		"a byte beyond ASCII in a name",
		"no name", "a bare CR", "a zero byte",
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var h fasthttp.RequestHeader
			err := h.Read(bufio.NewReader(strings.NewReader(tt.head + "\r\n")))
			if refused := slices.Contains(byServer, tt.name); refused != (err != nil) {
				t.Fatalf("fasthttp: %v; refused %t", err, refused)
			} else if refused {
				return
			}
			request := fasthttp.RequestCtx{}
			h.CopyTo(&request.Request.Header)
			reason, closes := listener.HeadOf(&request).Check(&request.Request.Header)
			if !strings.Contains(reason, tt.want) || (reason == "") != (tt.want == "") || closes != tt.closes {
				t.Errorf("%q, closes %t; want %q, %t", reason, closes, tt.want, tt.closes)
			}
		})
	}
}

package upstream

import (
	"net/http"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// ofHop are headers of one connection (RFC 9110: 7.6.1).
var ofHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// withheld are headers of requests that are not passed on: those that say who asked and for what, which only proxies may
// say, and those that make some servers answer another request than the one that the answer is kept for.
var withheld = []string{
	"Content-Length", "Expect", "Forwarded", "Host", "X-Real-Ip", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url", "X-Host",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

// conditions are headers that ask for less than the whole answer. They are evaluated here, with the whole answer.
var conditions = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range"}

// requestHeader returns the headers that are passed on. The values do not depend on the request's memory.
func requestHeader(h *fasthttp.RequestHeader) http.Header {
	header := http.Header{}
	for name, value := range h.All() {
		header.Add(string(name), string(value))
	}
	endToEnd(header)
	for name := range header {
		if isWithheld(name) || strings.Contains(name, "_") { // which many servers read as a hyphen
			delete(header, name)
		}
	}
	return header
}

func isWithheld(name string) bool {
	return slices.Contains(withheld, name) || strings.HasPrefix(name, "X-Forwarded-")
}

// endToEnd deletes the headers of a connection, those that Connection names included.
func endToEnd(header http.Header) {
	for _, name := range listed(header["Connection"]) {
		header.Del(name)
	}
	for _, name := range ofHop {
		delete(header, name)
	}
}

// readyHeader returns a header to send, without Age and Cache-Status. The HTTP server sets the length itself.
func readyHeader(status int, header http.Header) *fasthttp.ResponseHeader {
	ready := &fasthttp.ResponseHeader{}
	ready.SetStatusCode(status)
	ready.SetNoDefaultContentType(true)
	for name, lines := range header {
		if name == "Content-Length" || name == "Age" || name == "Date" {
			continue
		}
		for _, line := range lines {
			ready.Add(name, line)
		}
	}
	return ready
}

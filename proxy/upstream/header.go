package upstream

import (
	"net/http"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// ofHop are headers of one connection (RFC 9110: 7.6.1). Some are of older standards, and some servers still send
// them.
var ofHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// withheld are headers of requests that are not forwarded: those that name the client and the original request, which
// only proxies may set, and those that make some servers answer another request than the one under which the answer
// is kept. families are beginnings of further ones, and addresses the last words of those that name the client: every
// network and framework has its own (Client-IP, CF-Connecting-IP, X-Remote-Addr …), and a list would never be whole.
var (
	withheld = []string{
		"Content-Length", "Expect", "Host", "X-Coming-From", "X-Host", "X-Http-Method", "X-Http-Method-Override",
		"X-Http-Path-Override", "X-Method-Override", "X-Script-Name",
	}
	families = []string{"Forwarded", "X-Forwarded", "X-Original-", "X-Rewrite-", "X-Override-", "X-Accel-",
		"X-Envoy-", "X-Waws-"}
	addresses = []string{"Ip", "Ipv4", "Ipv6", "Addr", "Clientip", "Realip", "Remoteaddr", "Remoteip", "Socketip",
		"Userip"}
)

// conditions are headers that request less than the whole answer. This package evaluates them on the whole answer.
var conditions = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
	"Range"}

// requestHeader returns the headers to forward. The values do not use the request's memory. The order is that of
// RFC 9110: 7.6.1, first what Connection names, then the rest.
func requestHeader(h *fasthttp.RequestHeader) http.Header {
	header := http.Header{}
	for name, value := range h.All() {
		header.Add(string(name), string(value))
	}
	endToEnd(header)
	for name := range header {
		if isWithheld(name) || strings.ContainsFunc(name, readAsHyphen) {
			delete(header, name)
		}
	}
	return header
}

// readAsHyphen reports whether a server that gives programs their headers as variables may read a character of a
// name as it reads a hyphen: as an underscore. CGI (RFC 3875: 4.1.18) turns hyphens into underscores, so
// X_Forwarded_For would become HTTP_X_FORWARDED_FOR.
func readAsHyphen(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// isWithheld reports whether a header, by its canonical name, is not forwarded.
func isWithheld(name string) bool {
	lastWord := name[strings.LastIndexByte(name, '-')+1:]
	return slices.Contains(withheld, name) || slices.Contains(addresses, lastWord) ||
		slices.ContainsFunc(families, func(family string) bool { return strings.HasPrefix(name, family) })
}

// forAll are headers that Connection cannot name: on these depends whom a message is for (RFC 9110: 7.6.1).
var forAll = []string{
	"Age", "Authorization", "Cache-Control", "Cookie", "Date", "Expires", "Pragma", "Range", "Set-Cookie", "Vary",
	"Via",
}

// endToEnd deletes the headers of a connection, including those that Connection names. It changes the header in
// place.
func endToEnd(header http.Header) {
	for _, name := range listed(header["Connection"]) {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(forAll, name) {
			delete(header, name)
		}
	}
	for _, name := range ofHop {
		delete(header, name)
	}
}

// readyHeader returns a header to send, without Age and Cache-Status. The HTTP server sets the length itself. It is
// made once for an entry, and copied for each answer.
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

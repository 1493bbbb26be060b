package upstream

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// ofHop are headers of one connection (RFC 9110: 7.6.1).
var ofHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// withheld are headers of requests that are not forwarded: those that name the client and the original request, which
// only proxies may set, and those that make some servers answer another request than the one under which the answer is
// kept.
var withheld = []string{
	"Content-Length", "Expect", "Forwarded", "Host", "X-Real-Ip", "X-Original-Url", "X-Original-Host", "X-Rewrite-Url", "X-Host",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
}

// conditions are headers that request less than the whole answer. This package evaluates them on the whole answer.
var conditions = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range"}

// requestHeader returns the headers to forward. The values do not use the request's memory.
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

// endToEnd deletes the headers of a connection, including those that Connection names.
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

// relocate makes addresses and cookies below the other server's base ones below this server's root.
func (p *Proxy) relocate(r *request, header http.Header) {
	for _, name := range []string{"Location", "Content-Location"} {
		at, own := header.Get(name), false
		for _, site := range []string{p.base.Scheme + "://" + p.base.Host, r.scheme + "://" + p.options.Host} {
			if rest, found := strings.CutPrefix(at, site); found && !own {
				at, own = rest, true
			}
		}
		if path, below := p.relocated(at); below && (own || p.base.Path != "") {
			header.Set(name, path)
		}
	}
	for i, cookie := range header["Set-Cookie"] {
		header["Set-Cookie"][i] = p.relocatedCookie(r, cookie)
	}
}

// relocated returns what a path below the other server's base path is here, and whether it is below. It never begins with
// two slashes, or what browsers read as such: clients would read a host after them.
func (p *Proxy) relocated(path string) (here string, below bool) {
	rest, below := strings.CutPrefix(path, p.base.EscapedPath())
	return "/" + strings.TrimLeft(rest, "/\\\t"), below && (rest == "" || strings.IndexByte("/?#", rest[0]) >= 0)
}

// relocatedCookie returns a Set-Cookie header with the path that the cookie has here, and without a domain of the other
// server to which this one does not belong: browsers would refuse the cookie.
func (p *Proxy) relocatedCookie(r *request, cookie string) string {
	parts := strings.Split(cookie, ";")
	kept := parts[:1]
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "path":
			if here, below := p.relocated(value); below && p.base.Path != "" {
				part = " Path=" + here
			}
		case "domain":
			if value = strings.ToLower(strings.TrimPrefix(value, ".")); belongs(p.options.Host, value) && !belongs(r.host, value) {
				continue
			}
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ";")
}

// belongs reports whether a host, perhaps with a port, is in a domain.
func belongs(host, domain string) bool {
	u := url.URL{Host: strings.ToLower(host)}
	return u.Hostname() == domain || strings.HasSuffix(u.Hostname(), "."+domain)
}

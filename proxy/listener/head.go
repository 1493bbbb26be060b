package listener

import (
	"bytes"
	"fmt"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"
)

// CheckHead returns why to refuse a request, or "", and whether to close its connection. It refuses requests that
// servers on the way may have read differently: all must agree where a request ends and whose it is (RFC 9112: 3.2,
// 5.2, 6.1, 6.3). The HTTP server refuses most of them itself (TestCheckHead). It reads the others leniently, so
// CheckHead reads the raw header.
//
// It also refuses fields after the body, and takes them out of the header, in which the HTTP server finds them under
// their names: a proxy in front may pass them on as the client wrote them, although it sets or deletes the same
// fields before the body (RFC 9110: 6.5.1). A field of the header that has the name of one of them goes, too, because
// the HTTP server does not tell them apart.
func CheckHead(h *fasthttp.RequestHeader) (reason string, closes bool) {
	found, reason := readHead(h.RawHeaders())
	trails := false
	for _, name := range h.PeekTrailerKeys() {
		trails = true
		h.DelBytes(name)
	}
	proto := string(h.Protocol())
	switch {
	case reason != "":
	case proto != "HTTP/1.1" && proto != "HTTP/1.0":
		reason = "The protocol is neither HTTP/1.1 nor HTTP/1.0."
	case !httpguts.ValidHostHeader(string(h.Host())):
		reason = "The Host header names no host."
	case found.coding && found.length:
		reason = "The request gives its length twice."
	case found.authorizations > 1:
		reason = "The request has Authorization twice."
	case found.coding && !found.chunked:
		reason = "The request has a transfer coding other than chunked."
	case trails:
		reason = "The request has, or announces, fields after its body."
	}
	// The API has no request bodies: close, so that the bytes of one are never read as a request.
	return reason, reason != "" || found.length || found.coding
}

// head has the relevant facts about a header.
type head struct {
	length, coding bool // the header has Content-Length, Transfer-Encoding
	chunked        bool // the transfer encoding is chunked
	authorizations int  // number of Authorization fields
}

// readHead reads the lines of a header. If they are malformed, reason says why.
func readHead(lines []byte) (found head, reason string) {
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch {
		case line[0] == ' ' || line[0] == '\t':
			reason = "A header goes on in the next line."
		case !httpguts.ValidHeaderFieldName(string(name)):
			reason = "A header's name has a character that no name has."
		case bytes.EqualFold(name, []byte(fasthttp.HeaderAuthorization)):
			found.authorizations++
		case bytes.EqualFold(name, []byte(fasthttp.HeaderContentLength)):
			found.length = true
		case bytes.EqualFold(name, []byte(fasthttp.HeaderTransferEncoding)):
			found.coding, found.chunked = true, bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
		}
	}
	return found, reason
}

// AnnouncesBody reports whether a request has a body, or a transfer coding, even if no byte follows. The HTTP server
// deletes the coding of a body without bytes, so AnnouncesBody reads the raw header.
func AnnouncesBody(r *fasthttp.Request) bool {
	if len(r.Body()) > 0 || r.Header.ContentLength() > 0 {
		return true
	}
	found, _ := readHead(r.Header.RawHeaders())
	return found.coding
}

// shortcut reports whether Options.Shortcut has answered the request whose header was gathered.
func (c *Conn) shortcut() bool {
	if c.listener.options.Shortcut == nil || c.failed != nil {
		return false
	}
	answered, err := c.listener.options.Shortcut(c, c.head[:c.end])
	if c.failed = err; err != nil {
		c.listener.options.Logger.Debug(fmt.Sprintf("serve %s: %v", c.RemoteAddr(), err))
		c.end = len(c.head) // nothing else is answered
	}
	if answered {
		c.from = c.end
	}
	return answered
}

// Header returns the header of the request that the server has read. It is empty if the header was long.
func (c *Conn) Header() []byte { return c.head[:c.end] }

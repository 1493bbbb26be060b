package listener

import (
	"bytes"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"
)

// Head is the head of a request, split into its fields once for all code that reads them as they were sent. It shares
// the memory of the head, and is valid until the connection waits for the next request.
type Head struct {
	First  string // the first line, with its end; empty if the connection is none of a Listener, or the head was long
	Fields []Field

	lines []byte // what was split into Fields, as the HTTP server has it
}

// Len returns the size of the head in bytes.
func (h *Head) Len() int { return len(h.First) + len(h.lines) }

// Field is a line of a head, as it was sent but without its end. A line without a colon has no value.
type Field struct{ Line, Name, Value string }

// Is reports whether the field has a name, in any spelling.
func (f *Field) Is(name string) bool { return utils.EqualFold(f.Name, name) }

// Malformed reports whether the line has no colon.
func (f *Field) Malformed() bool { return len(f.Name) == len(f.Line) }

// split splits the lines after the first.
func (h *Head) split(lines []byte) {
	h.lines, h.Fields = lines, h.Fields[:0]
	for line := range bytes.Lines(lines) {
		line, _ = bytes.CutSuffix(line, []byte{'\n'})
		if line, _ = bytes.CutSuffix(line, []byte{'\r'}); len(line) == 0 {
			return
		}
		text := utils.UnsafeString(line)
		name, value, _ := strings.Cut(text, ":")
		h.Fields = append(h.Fields, Field{text, name, value})
	}
}

// heads is a pool of heads, so that idle connections hold none.
var heads = sync.Pool{New: func() any { return new(Head) }}

// mostPooled is the most fields of a head that the pool gets back: few clients send more.
const mostPooled = 64

// setHead splits the head that the connection has gathered. It drops the last one, if b is empty.
func (c *Conn) setHead(b []byte) {
	if h := c.parsed; h != nil {
		c.parsed = nil
		if clear(h.Fields); cap(h.Fields) <= mostPooled {
			h.First, h.lines = "", nil
			heads.Put(h)
		}
	}
	if first := bytes.IndexByte(b, '\n') + 1; first > 0 {
		c.parsed = heads.Get().(*Head)
		c.parsed.First = utils.UnsafeString(b[:first])
		c.parsed.split(b[first:])
	}
}

// HeadOf returns the head of a request. If its connection has split the very lines that the HTTP server has read, it
// returns that Head; otherwise, if the head was long or the connection is none of a Listener, it splits them.
func HeadOf(request *fasthttp.RequestCtx) *Head {
	lines := request.Request.Header.RawHeaders()
	c, ok := request.Conn().(*Conn)
	if ok && c.parsed != nil && bytes.Equal(c.parsed.lines, lines) {
		return c.parsed
	}
	h := &Head{}
	h.split(lines)
	if ok {
		c.setHead(nil)
		c.parsed = h
	}
	return h
}

// Check returns why to refuse a request, or "", and whether to close its connection. It refuses requests that
// servers on the way may have read differently: all must agree where a request ends and whose it is (RFC 9112: 3.2,
// 5.2, 6.1, 6.3). The HTTP server refuses most of them itself (TestCheckHead). It reads the others leniently, so
// Check reads the lines as they were sent; r is how the HTTP server has read them.
//
// It also refuses fields after the body, and takes them out of r, in which the HTTP server finds them under
// their names: a proxy in front may pass them on as the client wrote them, although it sets or deletes the same
// fields before the body (RFC 9110: 6.5.1). A field of the header that has the name of one of them goes, too, because
// the HTTP server does not tell them apart.
func (h *Head) Check(r *fasthttp.RequestHeader) (reason string, closes bool) {
	found := h.framing()
	trails := false
	for _, name := range r.PeekTrailerKeys() {
		trails = true
		r.DelBytes(name)
	}
	proto := utils.UnsafeString(r.Protocol())
	switch {
	case found.reason != "":
		reason = found.reason
	case proto != "HTTP/1.1" && proto != "HTTP/1.0":
		reason = "The protocol is neither HTTP/1.1 nor HTTP/1.0."
	case !httpguts.ValidHostHeader(utils.UnsafeString(r.Host())):
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

// framing says what the fields of a head say about where the request ends and whose it is.
type framing struct {
	length, coding bool   // the head has Content-Length, Transfer-Encoding
	chunked        bool   // the transfer encoding is chunked
	authorizations int    // number of Authorization fields
	reason         string // why a line is malformed; empty if none is
}

func (h *Head) framing() (found framing) {
	for i := range h.Fields {
		f := &h.Fields[i]
		switch {
		case f.Line[0] == ' ' || f.Line[0] == '\t':
			found.reason = "A header goes on in the next line."
		case !httpguts.ValidHeaderFieldName(f.Name):
			found.reason = "A header's name has a character that no name has."
		case f.Is(fasthttp.HeaderAuthorization):
			found.authorizations++
		case f.Is(fasthttp.HeaderContentLength):
			found.length = true
		case f.Is(fasthttp.HeaderTransferEncoding):
			found.coding, found.chunked = true, utils.EqualFold(strings.TrimSpace(f.Value), "chunked")
		}
	}
	return found
}

// AnnouncesBody reports whether a request has a body, or a transfer coding, even if no byte follows. The HTTP server
// deletes the coding of a body without bytes, so AnnouncesBody reads the fields as they were sent.
func AnnouncesBody(request *fasthttp.RequestCtx) bool {
	r := &request.Request
	return len(r.Body()) > 0 || r.Header.ContentLength() > 0 || HeadOf(request).framing().coding
}

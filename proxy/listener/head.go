package listener

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/http/httpguts"
)

// CheckHead returns why a request is refused that servers on the way here may have read
// otherwise than this one, and whether the connection ends with it: where a request ends,
// or whose it is, must not be a matter of opinion (RFC 9112: 3.2, 5.2, 6.1, 6.3). The
// server has read the header leniently; it is looked at as it came.
func CheckHead(h *fasthttp.RequestHeader) (reason string, closes bool) {
	found, reason := readHead(h)
	proto := string(h.Protocol())
	switch {
	case reason != "":
	case proto != "HTTP/1.1" && proto != "HTTP/1.0":
		reason = "The protocol is neither HTTP/1.1 nor HTTP/1.0."
	case found.hosts > 1 || found.hosts == 0 && proto == "HTTP/1.1":
		reason = "The request needs one Host header."
	case !httpguts.ValidHostHeader(string(h.Host())):
		reason = "The Host header names no host."
	case found.coding > 1 || found.length > 1 || found.coding+found.length > 1:
		reason = "The request gives its length twice."
	case found.authorizations > 1:
		reason = "The request has Authorization twice."
	case found.coding > 0 && (!found.chunked || proto != "HTTP/1.1"):
		reason = "The request has a transfer coding other than chunked."
	}
	// No call has a body: what follows one is not taken for a request. The server finds
	// Connection: close only where the header has no other option.
	return reason, reason != "" || found.length > 0 || found.coding > 0 || found.close
}

// head is what CheckHead counts in a header.
type head struct {
	hosts, length, coding int // how many fields of that name there are
	chunked               bool
	authorizations        int
	close                 bool // Connection asks for it
}

// readHead reads a header as it arrived; reason says what is wrong with its lines.
func readHead(h *fasthttp.RequestHeader) (found head, reason string) {
	rest := h.RawHeaders()
	if bytes.IndexByte(rest, 0) >= 0 {
		return found, "A header has a zero byte."
	}
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch first := line[0]; {
		case first == ' ' || first == '\t':
			reason = "A header goes on in the next line."
		case first == ':':
			reason = "A header has no name."
		case bytes.IndexByte(line, '\r') >= 0:
			reason = "A header has a bare carriage return."
		case !httpguts.ValidHeaderFieldName(string(name)):
			reason = "A header's name has a character that no name has."
		case strings.IndexByte("hctaHCTA", first) >= 0:
			found.count(name, value)
		}
	}
	return found, reason
}

func (f *head) count(name, value []byte) {
	switch {
	case equalFold(name, "Host"):
		f.hosts++
	case equalFold(name, "Content-Length"):
		f.length++
	case equalFold(name, "Transfer-Encoding"):
		f.coding++
		f.chunked = equalFold(bytes.TrimSpace(value), "chunked")
	case equalFold(name, "Authorization"):
		f.authorizations++
	case equalFold(name, "Connection"):
		for option := range bytes.SplitSeq(value, []byte{','}) {
			f.close = f.close || equalFold(bytes.TrimSpace(option), "close")
		}
	}
}

func equalFold(b []byte, s string) bool { return len(b) == len(s) && strings.EqualFold(string(b), s) }

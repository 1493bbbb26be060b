package upstream

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"vitrine/cache/result"
	"vitrine/proxy/upstream/traffic"
)

// entry is a kept response. It is immutable.
type entry struct {
	status int
	// Requests that run have the entry while another takes its place, so nothing of it changes.
	header   http.Header    // end to end, as the other server sent it
	content  *result.Answer // the body, which counts as in flight once, however many clients it is sent to
	vary     []selecting
	received time.Time
	counts   *traffic.Counts // of requests for the path
	etag     string          // empty if there is none
	modified string          // Last-Modified; empty if there is none

	// These are computed once, on receipt.
	age          time.Duration // when it was received
	life         time.Duration
	revalidating time.Duration // how long after life it is used while it is validated
	failing      time.Duration // … while the other server fails
	strict       bool          // never used when stale
	shared       bool          // its lifetime is for shared caches, which may then use it stale only if it says so
	ready        *fasthttp.ResponseHeader
}

// selecting is a header of requests that selects a response, with the value that the response is for. The line
// spares the splitting of lists for most requests: the same program sends the same line.
type selecting struct {
	name, value string
	line        string // as the client sent it, if it was one line
}

// newEntry returns a response to a GET with the request headers asked. counts are those of its path. Without a Date
// the time of receipt stands in (RFC 9110: 6.6.1).
func newEntry(
	asked http.Header, status int, header http.Header, content *result.Answer, counts *traffic.Counts,
	requested, received time.Time,
) *entry {
	d := parseDirectives(header["Cache-Control"])
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		date = received
		header.Set("Date", received.UTC().Format(http.TimeFormat))
	}
	e := &entry{
		status: status, header: header, content: content, received: received, counts: counts,
		etag: header.Get("Etag"), modified: header.Get("Last-Modified"),
		age: initialAge(header, date, requested, received), life: lifetime(header, d, date),
		strict: d.has("must-revalidate", "proxy-revalidate", "no-cache"), shared: d.has("s-maxage"),
	}
	e.revalidating, _ = d.duration("stale-while-revalidate")
	e.failing, _ = d.duration("stale-if-error")
	for _, name := range listed(header["Vary"]) {
		if isKeyed(name) {
			continue
		}
		lines := asked.Values(name)
		e.vary = append(e.vary, selecting{name, canonicalValue(lines), strings.Join(lines, "\n")})
	}
	e.ready = readyHeader(status, header)
	return e
}

// canonicalValue joins the lines of a header and removes blanks around commas, which have no meaning.
func canonicalValue(lines []string) string { return strings.Join(listed(lines), ",") }

var comma = []byte(",")

// of reports whether the entry is for a request with a header.
func (e *entry) of(h *fasthttp.RequestHeader) bool {
	for _, s := range e.vary {
		sent := h.PeekAll(s.name)
		if len(sent) == 0 && s.value == "" || len(sent) == 1 && string(sent[0]) == s.line {
			continue
		}
		if canonicalValue([]string{string(bytes.Join(sent, comma))}) != s.value {
			return false
		}
	}
	return true
}

// alike reports whether the same requests select two entries. A new entry replaces one that is alike; others are
// further variants of the key.
func (e *entry) alike(other *entry) bool {
	return slices.EqualFunc(e.vary, other.vary, func(a, b selecting) bool {
		return a.name == b.name && a.value == b.value
	})
}

// left returns how long the entry is fresh; it is stale from 0 on. It is negative for how long the entry has been
// stale.
func (e *entry) left(now time.Time) time.Duration { return e.life - e.ageAt(now) }

// ageAt returns the current age (RFC 9111: 4.2.3). A clock that goes back makes no entry younger than it arrived.
func (e *entry) ageAt(now time.Time) time.Duration { return e.age + max(now.Sub(e.received), 0) }

// mostUnreachable is how long stale responses are used while the other server cannot be reached, unless they set or
// forbid it themselves. A server that is away for a night or for maintenance so does not take its pages with it.
const mostUnreachable = 24 * time.Hour

// standsIn reports whether the stale entry may be used because the other server fails. unreachable means that it sent
// no response at all.
func (e *entry) standsIn(now time.Time, unreachable bool) bool {
	stale := -e.left(now)
	return !e.strict && (stale < e.failing || unreachable && !e.shared && e.failing == 0 && stale < mostUnreachable)
}

// updated returns the entry with the headers of a 304 for it (RFC 9111: 3.2). The headers that describe the stored
// body stay, since the body does. It makes another entry, because e may be in use.
func (e *entry) updated(asked, fresh http.Header, requested, received time.Time) *entry {
	header := e.header.Clone()
	for name, lines := range fresh {
		switch name {
		case "Content-Encoding", "Content-Length", "Content-Md5", "Content-Range", "Etag", "Vary":
			continue
		}
		header[name] = lines
	}
	if fresh["Age"] == nil {
		delete(header, "Age")
	}
	return newEntry(asked, e.status, header, e.content, e.counts, requested, received)
}

// size is about how many bytes the entry takes. 1024 stands for the structures; headers count twice, for the map
// and for the ready header.
func (e *entry) size() int64 {
	n := 1024 + cap(e.content.Body)
	for _, s := range e.vary {
		n += 64 + len(s.name) + len(s.value) + len(s.line)
	}
	for name, lines := range e.header {
		n += 2 * (len(name) + len(strings.Join(lines, "  ")))
	}
	return int64(n)
}

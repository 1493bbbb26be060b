package proxy

import (
	"bytes"
	"hash/maphash"
	"io"
	"log/slog"
	"net/textproto"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"golang.org/x/net/http/httpguts"

	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/metrics"
	"vitrine/proxy/purge"
)

// prepared is the response to a request for which an answer was in memory, for requests within the same second
// that differ from it only in harmless headers. To parse such a request, route it and write the header anew would
// cost more than everything else. It is immutable: a newer one takes its place in the table.
//
// The same second is the limit, because a header has times in it: Date, Age and the age of the data count whole
// seconds.
type prepared struct {
	key    []byte // see keyOf
	second int64  // Unix time
	hit    listener.Hit
	header []byte // as the HTTP server writes it
	id     int    // offset in header of the request id
	body   bool   // the answer follows the header
	tags   string // of the answer for caches in front; empty if there are none to purge
	logged []byte // from appendRequest; nil if the request is not logged
	series metrics.Series
}

// shortcuts answers requests by prepared responses, under one generation of settings. It is safe for concurrent
// use, without a lock: two requests that prepare the same place do so one after the other, and the last one stays.
type shortcuts struct {
	auth    *auth.Authenticator
	client  string // the request header with the client's address; empty if there is none
	user    string // the request header with the session's user; empty if there is none
	cookie  string // the cookie with a session; empty if sessions do not come in cookies
	metrics *metrics.Metrics
	purger  *purge.Purger // nil if there are no caches to purge
	log     io.Writer

	// A key has its place in these by its hash, and takes that of others.
	table [4096]atomic.Pointer[prepared]
	seen  [4096]atomic.Uint64 // the hash of the last key, plus the time
}

// shortcutSeed is random, so that no client can choose keys which all have the same place.
var shortcutSeed = maphash.MakeSeed()

// writeBuffer is how many bytes are sent in one write. Longer bodies are not copied (listener.Conn.Join).
const writeBuffer = 2 << 10

// longestPrepared is the longest header, in bytes, of a request whose response is prepared. That of the response may
// be twice as long: another server's may be much longer, and the table has a header in each place.
const longestPrepared = 2 << 10

// answer sends the prepared response to a request, if it is the one that the HTTP server and its handlers would send.
// Such requests never wait before the response is sent, so they are not among those in flight.
func (s *shortcuts) answer(c *listener.Conn, head *listener.Head) (answered bool, err error) {
	began, buffer := time.Now(), lines.Get().(*[]byte)
	defer lines.Put(buffer)
	key, forwarded := s.keyOf((*buffer)[:0], c, head)
	if key == nil {
		return false, nil
	}
	*buffer = key
	hash, second := maphash.Bytes(shortcutSeed, key), began.Unix()
	place := hash % uint64(len(s.table))
	p := s.table[place].Load()
	if p == nil || !bytes.Equal(p.key, key) {
		// A response is prepared only at the second request, because preparing one that never repeats is lost
		// work.
		mark := hash + uint64(second)
		c.Repeats = s.seen[place].Swap(mark) == mark
		return false, nil
	}
	var body []byte
	var reservation listener.Reservation
	ok, begun := p.second == second, s.purger.Begin()
	if ok {
		body, reservation, ok = p.hit.Again()
	}
	if !ok {
		c.Repeats = true // prepare it again
		return false, nil
	}
	c.SetReservation(reservation)
	if p.tags != "" {
		reportSent(c, s.purger, begun, p.tags)
	}
	s.metrics.Repeated.Inc()
	out := append(key[:0], p.header...)
	id := out[p.id : p.id+idDigits]
	appendID(id[:0])
	if !p.body {
		body = nil
	}
	took := time.Since(began)
	p.series.Seconds.Observe(took.Seconds())
	p.series.Bytes.Observe(float64(len(body)))
	if p.logged != nil {
		addr := s.auth.AddrOf(c.RemoteAddr(), func(string) [][]byte { return [][]byte{utils.UnsafeBytes(forwarded)} })
		out = appendLine(out, began.Add(took), slog.LevelInfo, id, p.logged, took, addr)
		_, _ = s.log.Write(out[len(p.header):])
		out = out[:len(p.header)]
	}
	copied := min(len(body), writeBuffer)
	out, body = append(out, body[:copied]...), body[copied:]
	*buffer = out
	c.Join(len(body) > 0)
	if _, err = c.Write(out); err == nil && len(body) > 0 {
		_, err = c.Write(body)
	}
	return true, err
}

// record makes the response to a request of a connection a prepared one, if nothing about the request is unusual.
func (s *shortcuts) record(c *fiber.Ctx, conn *listener.Conn, logs bool) {
	req, res, status := &c.Request().Header, &c.Response().Header, c.Response().StatusCode()
	switch {
	case status != fiber.StatusOK && status != fiber.StatusNotModified:
		return
	case c.Method() != fiber.MethodGet || !req.IsHTTP11() || req.ConnectionClose() || res.ConnectionClose() ||
		c.Request().MayContinue():
		return
	// These say who sent the request, or what the response is to say.
	case len(req.Peek(fiber.HeaderAuthorization)) > 0, len(req.Peek(headerRequestID)) > 0:
		return
	}
	p := &prepared{second: time.Now().Unix(), hit: conn.Hit, body: status == fiber.StatusOK,
		series: s.metrics.SeriesOf(c)}
	for _, line := range res.PeekAll(fiber.HeaderVary) {
		for name := range strings.SplitSeq(string(line), ",") {
			if name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)); harmless(name) &&
				!strings.EqualFold(name, s.user) || name != "" && strings.EqualFold(name, s.client) {
				return // another server's response depends on what is not in the key
			}
		}
	}
	if s.purger != nil {
		p.tags = string(res.Peek(headerTags))
	}
	if p.key, _ = s.keyOf(nil, conn, listener.HeadOf(c.Context())); p.key == nil {
		return
	}
	if logs {
		var ok bool
		if p.logged, ok = appendRequest(nil, c, s.auth); !ok {
			return
		}
	}
	res.SetContentLength(len(c.Response().Body()))
	if p.header = res.AppendBytes(nil); len(p.header) > 2*longestPrepared {
		return
	}
	conn.Date(p.header)
	p.id = bytes.Index(p.header, []byte("\r\n"+headerRequestID+": ")) + len("\r\n"+headerRequestID+": ")
	s.table[maphash.Bytes(shortcutSeed, p.key)%uint64(len(s.table))].Store(p)
}

// keyOf appends everything in the head of a request that the response may depend on: whether the peer is a trusted
// proxy, of which kind, the first line, and all fields that are not harmless, as they were sent. A head that the HTTP
// server or checkHead refuses has no prepared response; its key is that of no other. keyOf returns nil if the request
// is unusual, or may have a session. Of other cookies, such as trackers' that each visitor has another of, the key
// only says that there are some: no answer of this server depends on them, and no answer of another server to them
// has a Hit. forwarded is the value of the header with the client's address; it is empty if there is none.
func (s *shortcuts) keyOf(dst []byte, c *listener.Conn, head *listener.Head) (key []byte, forwarded string) {
	if head.First == "" || head.Len() > longestPrepared {
		return nil, ""
	}
	dst = append(dst, head.First...)
	// Whose headers count for what: both marks may be there, or one. No line of a header ends as they do.
	switch byClient, bySession := s.auth.Trusts(c.RemoteAddr()); {
	case byClient && bySession:
		dst = append(dst, "client session\n"...)
	case byClient:
		dst = append(dst, "client\n"...)
	case bySession:
		dst = append(dst, "session\n"...)
	}
	forwards := false
	for i := range head.Fields {
		f := &head.Fields[i]
		bySession := s.user != "" && f.Is(s.user)
		switch {
		case f.Malformed() || !httpguts.ValidHeaderFieldValue(f.Value):
			return nil, ""
		case s.client != "" && f.Is(s.client):
			if forwards {
				return nil, ""
			}
			forwards, forwarded = true, f.Value
		case f.Is(fiber.HeaderCookie) && !bySession:
			if s.cookie != "" && strings.Contains(f.Value, s.cookie) {
				return nil, ""
			}
			dst = append(dst, "cookie\n"...)
		case !harmless(f.Name) || bySession:
			dst = append(append(dst, f.Line...), "\r\n"...)
		}
	}
	return dst, forwarded
}

// harmless reports whether no response depends on a field of the request without a session. The names are in the
// spelling of the canonical form, in which clients send nearly all of them; another spelling makes another key,
// which costs a place and nothing else.
func harmless(name string) bool {
	switch name {
	case "User-Agent", "Referer", "Cache-Control", "Pragma", "Priority", "Dnt", "Sec-Gpc",
		"Upgrade-Insecure-Requests", "X-Forwarded-For", "X-Real-Ip",
		"Sec-Ch-Ua", "Sec-Ch-Ua-Mobile", "Sec-Ch-Ua-Platform", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site",
		"Sec-Fetch-User":
		return true
	}
	return false
}

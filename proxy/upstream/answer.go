package upstream

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"weak"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/result"
	"vitrine/proxy/listener"
)

// status is the beginning of Cache-Status (RFC 9211), and hit that of kept answers, followed by their remaining
// lifetime.
const (
	status = "vitrine; "
	hit    = "hit; ttl="
)

// answer sends an entry of a key, or 304 if the client has it. how and detail are for Cache-Status. The error is
// result.ErrInFlight if too many bytes wait to be sent. The body is shared memory: it is retained until the
// connection has sent it. If memory for whole answers is short, the body is sent in pieces from the cache, and the
// budget counts one piece.
func (p *Proxy) answer(c *fiber.Ctx, key []byte, e *entry, now time.Time, how, detail string) error {
	unchanged := e.status == http.StatusOK && e.known(c)
	sends := !unchanged && c.Method() != fiber.MethodHead
	whole := sends && p.options.InFlight.Retain(e.content)
	if sends && !whole {
		kept := slices.Contains(p.store.entries(key), e) // otherwise nothing keeps it while it is sent
		if !kept || !p.options.InFlight.TryAcquirePiece(pieceBytes) {
			return result.ErrInFlight
		}
	}
	h := setHeader(c, e.ready)
	var buffer [64]byte
	h.SetBytesV(fiber.HeaderAge,
		strconv.AppendInt(buffer[:0], int64(min(e.ageAt(now), 1<<31*time.Second)/time.Second), 10))
	said := append(append(buffer[:0], status...), how...)
	if how == hit {
		said = strconv.AppendInt(said, int64(e.left(now)/time.Second), 10)
	}
	h.AddBytesV("Cache-Status", append(said, detail...))
	setDate(c, e.header.Get(fiber.HeaderDate))
	conn := connOf(c)
	// The connection may repeat a fresh hit without this package, as long as the entry stays (hit.go).
	if how == hit && detail == "" && conn != nil && conn.Repeats && (whole || unchanged) {
		if again := newRepeatable(p.store, key, e); again != nil {
			conn.Hit = again
		}
	}
	if unchanged {
		h.Del(fiber.HeaderContentType)
		h.Del(fiber.HeaderContentEncoding)
		h.SetStatusCode(http.StatusNotModified)
		return nil
	}
	// A 304 has no part, and for HEAD the range does not count (RFC 9110: 14.2).
	from, to := e.part(c)
	switch {
	case sends && !whole:
		rest := &pieces{budget: p.options.InFlight, entry: weak.Make(e), at: from, to: to}
		listener.SetStream(c.Context(), rest, to-from)
		return nil
	case whole && conn != nil:
		conn.SetReservation(e.content) // until the answer is sent
	case whole:
		e.content.Release()
	}
	c.Response().SetBodyRaw(e.content.Body[from:to])
	return nil
}

// connOf returns the connection of a request, or nil in tests with other connections.
func connOf(c *fiber.Ctx) *listener.Conn {
	conn, _ := c.Context().Conn().(*listener.Conn)
	return conn
}

// pieceBytes is about how much memory an answer takes that is sent in pieces. It is what the budget counts for one
// such answer, whatever its length.
const pieceBytes = 64 << 10

// pieces is a kept body that is sent while memory for whole answers is short. It does not keep the body in memory: if
// the cache drops it, the answer breaks off.
type pieces struct {
	budget *result.InFlight
	entry  weak.Pointer[entry]
	at, to int
}

// Read implements io.Reader.
func (s *pieces) Read(p []byte) (int, error) {
	if s.at == s.to {
		return 0, io.EOF
	}
	e := s.entry.Value()
	if e == nil {
		return 0, errDropped
	}
	n := copy(p, e.content.Body[s.at:s.to])
	s.at += n
	return n, nil
}

// Close implements io.Closer.
func (s *pieces) Close() error {
	s.budget.Release(pieceBytes)
	return nil
}

var errDropped = errors.New("the answer is no longer kept")

// part returns the range of the body that the client requests, and sets its headers, or the whole body (RFC 9110:
// 14.2). It does not serve several ranges, or ranges outside of the body. If-Range with another or a weak tag asks
// for the whole body (RFC 9110: 13.1.5).
func (e *entry) part(c *fiber.Ctx) (from, to int) {
	asked, unless := c.Request().Header.Peek(fiber.HeaderRange), string(c.Request().Header.Peek(fiber.HeaderIfRange))
	size := len(e.content.Body)
	other := unless != "" && (unless != e.etag && unless != e.modified || strings.HasPrefix(unless, "W/"))
	if len(asked) == 0 || c.Method() != http.MethodGet || e.status != http.StatusOK || other {
		return 0, size
	}
	from, last, err := fasthttp.ParseByteRange(asked, size)
	if err != nil {
		return 0, size
	}
	c.Status(http.StatusPartialContent).Response().Header.SetContentRange(from, last, size)
	return from, last + 1
}

// known reports whether the client has the entry (RFC 9110: 13.2.2). If-None-Match is compared weakly, and
// If-Modified-Since counts only without it.
func (e *entry) known(c *fiber.Ctx) bool {
	h := &c.Request().Header
	if tags := h.PeekAll(fiber.HeaderIfNoneMatch); len(tags) > 0 {
		return slices.ContainsFunc(listed([]string{string(bytes.Join(tags, comma))}), func(tag string) bool {
			return tag == "*" || e.etag != "" && strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(e.etag, "W/")
		})
	}
	since, err := http.ParseTime(string(h.Peek(fiber.HeaderIfModifiedSince)))
	if err != nil {
		return false
	}
	modified, err := http.ParseTime(cmp.Or(e.modified, e.header.Get(fiber.HeaderDate)))
	return err == nil && !modified.After(since)
}

// setDate makes the connection send the other server's Date (RFC 9111: 4.2.3), which the HTTP server always sets
// itself.
func setDate(c *fiber.Ctx, date string) {
	if conn, ok := c.Context().Conn().(*listener.Conn); ok && date != "" {
		conn.SetDate(date)
	}
}

// setHeader replaces the header of a response, except for the id of the request, and that the connection closes.
func setHeader(c *fiber.Ctx, ready *fasthttp.ResponseHeader) *fasthttp.ResponseHeader {
	h := &c.Response().Header
	var id [64]byte // as long as the longest
	n, closes := copy(id[:], h.Peek(fiber.HeaderXRequestID)), h.ConnectionClose()
	ready.CopyTo(h)
	h.SetBytesV(fiber.HeaderXRequestID, id[:n])
	if closes {
		h.SetConnectionClose()
	}
	return h
}

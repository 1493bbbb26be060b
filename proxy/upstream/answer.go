package upstream

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/listener"
)

// status is the beginning of Cache-Status (RFC 9211), and hit that of kept answers, followed by their remaining
// lifetime.
const (
	status = "vitrine; "
	hit    = "hit; ttl="
)

// answer sends an entry, or 304 if the client has it. how and detail are for Cache-Status.
func (p *Proxy) answer(c *fiber.Ctx, e *entry, now time.Time, how, detail string) error {
	h := setHeader(c, e.ready)
	var buffer [64]byte
	h.SetBytesV(fiber.HeaderAge, strconv.AppendInt(buffer[:0], int64(min(e.ageAt(now), 1<<31*time.Second)/time.Second), 10))
	said := append(append(buffer[:0], status...), how...)
	if how == hit {
		said = strconv.AppendInt(said, int64(e.left(now)/time.Second), 10)
	}
	h.AddBytesV("Cache-Status", append(said, detail...))
	setDate(c, e.header.Get(fiber.HeaderDate))
	if e.status == http.StatusOK && e.known(c) {
		h.Del(fiber.HeaderContentType)
		h.Del(fiber.HeaderContentEncoding)
		h.SetStatusCode(http.StatusNotModified)
		return nil
	}
	c.Response().SetBodyRaw(e.part(c))
	return nil
}

// part returns the range of the body that the client requests, and sets its headers, or the whole body (RFC 9110:
// 14.2). It does not serve several ranges, or ranges outside of the body.
func (e *entry) part(c *fiber.Ctx) []byte {
	asked, unless := c.Request().Header.Peek(fiber.HeaderRange), string(c.Request().Header.Peek(fiber.HeaderIfRange))
	if len(asked) == 0 || c.Method() != http.MethodGet || e.status != http.StatusOK || unless != "" && (unless != e.etag && unless != e.modified || strings.HasPrefix(unless, "W/")) {
		return e.body
	}
	from, to, err := fasthttp.ParseByteRange(asked, len(e.body))
	if err != nil {
		return e.body
	}
	c.Status(http.StatusPartialContent).Response().Header.SetContentRange(from, to, len(e.body))
	return e.body[from : to+1]
}

// known reports whether the client has the entry (RFC 9110: 13.2.2).
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

// stream sends a response to one client while it arrives.
func (p *Proxy) stream(c *fiber.Ctx, resp *http.Response, how string) error {
	h := setHeader(c, readyHeader(resp.StatusCode, resp.Header))
	if age := resp.Header.Get(fiber.HeaderAge); age != "" {
		h.Set(fiber.HeaderAge, age)
	}
	h.Add("Cache-Status", status+how)
	setDate(c, resp.Header.Get(fiber.HeaderDate))
	if c.Method() == fiber.MethodHead || resp.StatusCode == http.StatusNotModified || resp.StatusCode == http.StatusNoContent {
		if resp.ContentLength >= 0 && resp.StatusCode != http.StatusNoContent {
			h.SetContentLength(int(resp.ContentLength))
		}
		return resp.Body.Close()
	}
	listener.SetStream(c.Context(), resp.Body, int(resp.ContentLength))
	return nil
}

// setDate makes the connection send the other server's Date (RFC 9111: 4.2.3), which the HTTP server always sets itself.
func setDate(c *fiber.Ctx, date string) {
	if conn, ok := c.Context().Conn().(*listener.Conn); ok && date != "" {
		conn.SetDate(date)
	}
}

// setHeader replaces the header of a response, except for the id of the request.
func setHeader(c *fiber.Ctx, ready *fasthttp.ResponseHeader) *fasthttp.ResponseHeader {
	h := &c.Response().Header
	var id [64]byte // as long as the longest
	n := copy(id[:], h.Peek(fiber.HeaderXRequestID))
	ready.CopyTo(h)
	h.SetBytesV(fiber.HeaderXRequestID, id[:n])
	return h
}

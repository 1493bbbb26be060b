package proxy

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
)

// headerRequestID is the header of requests and responses with the id under which the log has a request.
const headerRequestID = "X-Request-Id"

// idDigits is the length of a request id that the server makes.
const idDigits = 16

// appendID appends a new request id.
func appendID(dst []byte) []byte {
	return strconv.AppendUint(dst, rand.Uint64()|1<<63, 16) // the high bit makes it idDigits long
}

// lines is a pool of buffers, because every request needs one for its line and its key.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// appendRequest appends the part of a line that requests which repeat this one have in common. plain is false if
// the URL needs an escape. For example: ` method=GET url=/api/activities status=200 bytes=812 key=portal`.
func appendRequest(dst []byte, c *fiber.Ctx, a *auth.Authenticator) (line []byte, isPlain bool) {
	line = append(append(append(dst, " method="...), c.Method()...), " url="...)
	begin := len(line)
	line = a.AppendURL(append(line, '"'), c.Path(), c.Context().URI().QueryString())
	url := line[begin+1:]
	if isPlain = plain(url); bytes.IndexByte(url, '=') >= 0 {
		line = append(line, '"')
	} else {
		line = append(line[:begin], url...)
	}
	line = strconv.AppendInt(append(line, " status="...), int64(c.Response().StatusCode()), 10)
	line = strconv.AppendInt(append(line, " bytes="...), int64(bodyBytes(c)), 10)
	if key := auth.KeyName(c); key != "" {
		line = append(append(line, " key="...), key...)
	}
	return line, isPlain
}

// appendLine appends a line of the access log; request is from appendRequest.
func appendLine(dst []byte, at time.Time, level slog.Level, id, request []byte, took time.Duration,
	peer netip.Addr) []byte {
	dst = append(append(appendTime(dst, at), " level="...), level.String()...)
	dst = append(append(append(dst, " msg=request id="...), id...), request...)
	dst = append(append(dst, " took="...), took.String()...)
	return append(peer.AppendTo(append(dst, " peer="...)), '\n')
}

// plain reports whether a URL has only characters that need no escape in a line. An ellipsis, in place of a secret,
// needs none either.
func plain(url []byte) bool {
	for i := 0; i < len(url); i++ {
		switch c := url[i]; {
		case bytes.HasPrefix(url[i:], []byte("…")):
			i += len("…") - 1
		case c <= ' ' || c == '"' || c == '\\' || c > '~':
			return false
		}
	}
	return true
}

// appendTime appends the time of a line, with milliseconds.
func appendTime(dst []byte, t time.Time) []byte {
	millis := len(dst) + len("time=2006-01-02T15:04:05.000")
	// The layout RFC3339Nano is fast, but leaves out zeros at the end: the fourth digit is there to keep them.
	dst = t.Truncate(time.Millisecond).Add(time.Millisecond/10).AppendFormat(append(dst, "time="...),
		time.RFC3339Nano)
	return slices.Delete(dst, millis, millis+1)
}

// bodyBytes returns how many bytes of body are sent; -1 for a stream of unknown length.
func bodyBytes(c *fiber.Ctx) int {
	switch status := c.Response().StatusCode(); {
	case c.Method() == fiber.MethodHead || status == fiber.StatusNotModified || status == fiber.StatusNoContent:
		return 0 // Fiber has a text for these
	case c.Response().IsBodyStream():
		return c.Response().Header.ContentLength()
	}
	return len(c.Response().Body())
}

package response

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"vitrine/cache/view"
)

// Headers configures what caches outside may do.
type Headers struct {
	Vary   []string // names of request headers that answers depend on, beside Accept-Encoding
	CORS   bool     // a middleware writes Vary, too
	MaxAge time.Duration
	// StaleWhileRevalidate and StaleIfError are how much longer a cache may hand an answer out.
	StaleWhileRevalidate, StaleIfError time.Duration
	// KeyedPublic lets shared caches keep what needs a key.
	KeyedPublic bool
}

// headers are those every answer carries, worked out once.
type headers struct {
	Headers
	vary    string
	shared  string        // Cache-Control of what anybody may have
	private string        // of what is one person's, or needs a key
	longest time.Duration // that a cache may hand an answer out, stale included
}

func newHeaders(o Headers) headers {
	lives := "max-age=" + seconds(o.MaxAge)
	shared := "public, " + lives
	if d := o.StaleWhileRevalidate; d > 0 {
		shared += ", stale-while-revalidate=" + seconds(d)
	}
	if d := o.StaleIfError; d > 0 {
		shared += ", stale-if-error=" + seconds(d)
	}
	return headers{
		Headers: o, vary: strings.Join(append([]string{fiber.HeaderAcceptEncoding}, o.Vary...), ", "), shared: shared, private: "private, " + lives,
		longest: o.MaxAge + max(o.StaleWhileRevalidate, o.StaleIfError),
	}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// headerCacheStatus is RFC 9211's.
const headerCacheStatus = "Cache-Status"

func (h *headers) set(c *fiber.Ctx, personal bool) {
	if h.CORS {
		c.Append(fiber.HeaderVary, h.vary) // beside what CORS has put there
	} else {
		SetHeader(c, fiber.HeaderVary, h.vary)
	}
	if personal {
		SetHeader(c, fiber.HeaderCacheControl, h.private)
		return
	}
	SetHeader(c, fiber.HeaderCacheControl, h.shared)
}

// setUntil makes sure that no cache has an answer longer than it holds.
func (h *headers) setUntil(c *fiber.Ctx, personal bool, left time.Duration) {
	if left >= h.longest {
		return
	}
	scope := "public, "
	if personal {
		scope = "private, "
	}
	SetHeader(c, fiber.HeaderCacheControl, scope+"max-age="+seconds(max(min(left, h.MaxAge), 0)))
}

// SetHeader is Fiber's Set for names already in canonical form, which it need
// not look at again.
func SetHeader(c *fiber.Ctx, name, value string) {
	c.Response().Header.SetCanonical(utils.UnsafeBytes(name), utils.UnsafeBytes(value))
}

// HeaderDataAge reports the seconds since the store last confirmed what an answer is made
// from. Age does not: caches take from it how long an answer is fresh.
const HeaderDataAge = "Vitrine-Data-Age"

// setModified sets Last-Modified: when the view of an answer was published. It is not
// set where a date of whole seconds, the view's alone, would be taken for more than it
// says: of what the clock, or settings adopted since, have changed as well. What
// If-Modified-Since asks is decided here; where it does not hold, it is taken away.
func (r *Responder) setModified(c *fiber.Ctx, p *Plan, snapshot *view.Snapshot, st age) {
	published := snapshot.Meta().Published
	if !published.Equal(st.published) {
		st.modified = pastDate(published, r.options.Now())
	}
	second := published.Truncate(time.Second)
	if (p.Once || !p.Until.IsZero()) && p.Since.IsZero() || !second.After(p.Since) || !second.After(r.options.Adopted) || st.modified == "" {
		return
	}
	SetHeader(c, fiber.HeaderLastModified, st.modified)
	since := c.Get(fiber.HeaderIfModifiedSince)
	if since == "" || since == st.modified {
		return
	}
	// Another date is the caller's own. Until the snapshot was shown here, callers were
	// given the one before, though this was published already.
	if at, err := http.ParseTime(since); err != nil || !at.After(snapshot.Loaded()) {
		c.Request().Header.Del(fiber.HeaderIfModifiedSince)
	}
}

// unchanged reports whether the caller has what it asks for (RFC 9110: 13.2.2).
func unchanged(c *fiber.Ctx, etag string) bool {
	if header := c.Get(fiber.HeaderIfNoneMatch); header != "" {
		return matches(header, etag)
	}
	asked := &c.Request().Header
	return c.Get(fiber.HeaderIfModifiedSince) != "" && len(c.Response().Header.Peek(fiber.HeaderLastModified)) > 0 &&
		len(asked.PeekAll(fiber.HeaderIfNoneMatch)) == 0
}

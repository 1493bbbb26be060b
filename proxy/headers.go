package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"vitrine/cache/view"
)

// headers are those every answer carries, worked out once.
type headers struct {
	vary    string
	cors    bool   // others write Vary too
	shared  string // Cache-Control of what anybody may have
	private string // of what is one person's, or needs a key
	keyed   bool   // what needs a key is shared, too
	maxAge  time.Duration
	longest time.Duration // that a cache may hand an answer out, stale included
}

func newHeaders(o Options) headers {
	vary := []string{fiber.HeaderAcceptEncoding}
	if o.Auth.APIKey != "" || o.Auth.PortfolioKey != "" {
		vary = append(vary, "X-API-Key")
	}
	session := o.Auth.Session
	if len(session.Secret)+len(session.PublicKey) > 0 {
		vary = append(vary, fiber.HeaderAuthorization)
		if session.Cookie != "" {
			// Where the request came from decides only whether a cookie counts; a request
			// without the cookie is the same wherever it came from.
			vary = append(vary, fiber.HeaderCookie)
		}
	}
	if session.UserHeader != "" {
		vary = append(vary, session.UserHeader)
	}
	lives := "max-age=" + seconds(o.Fresh.MaxAge)
	shared := "public, " + lives
	if d := o.Fresh.StaleWhileRevalidate; d > 0 {
		shared += ", stale-while-revalidate=" + seconds(d)
	}
	if d := o.Fresh.StaleIfError; d > 0 {
		shared += ", stale-if-error=" + seconds(d)
	}
	return headers{
		vary: strings.Join(vary, ", "), cors: len(o.CORS.Origins) > 0, shared: shared, private: "private, " + lives,
		keyed: o.Fresh.KeyedPublic, maxAge: o.Fresh.MaxAge,
		longest: o.Fresh.MaxAge + max(o.Fresh.StaleWhileRevalidate, o.Fresh.StaleIfError),
	}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// headerCacheStatus is RFC 9211's.
const headerCacheStatus = "Cache-Status"

func (h *headers) set(c *fiber.Ctx, personal bool) {
	if h.cors {
		c.Append(fiber.HeaderVary, h.vary) // beside what CORS has put there
	} else {
		setHeader(c, fiber.HeaderVary, h.vary)
	}
	if personal {
		setHeader(c, fiber.HeaderCacheControl, h.private)
		return
	}
	setHeader(c, fiber.HeaderCacheControl, h.shared)
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
	setHeader(c, fiber.HeaderCacheControl, scope+"max-age="+seconds(max(min(left, h.maxAge), 0)))
}

// setHeader is Fiber's Set for names already in canonical form, which it need
// not look at again.
func setHeader(c *fiber.Ctx, name, value string) {
	c.Response().Header.SetCanonical(utils.UnsafeBytes(name), utils.UnsafeBytes(value))
}

// headerDataAge tells the seconds since the store last confirmed what an answer is made
// from. Age does not: caches take from it how long an answer is fresh.
const headerDataAge = "Vitrine-Data-Age"

// tellModified sets Last-Modified: when the view of an answer was published. It is not
// set where a date of whole seconds, the view's alone, would be taken for more than it
// says: of what the clock, or settings adopted since, have changed as well. What
// If-Modified-Since asks is decided here; where it does not hold, it is taken away.
func (s *Server) tellModified(c *fiber.Ctx, p plan, snapshot *view.Snapshot, st standing) {
	published := snapshot.Meta().Published
	if !published.Equal(st.published) {
		st.modified = pastDate(published, s.now())
	}
	second := published.Truncate(time.Second)
	if (p.once || !p.until.IsZero()) && p.since.IsZero() || !second.After(p.since) || !second.After(s.adopted) || st.modified == "" {
		return
	}
	setHeader(c, fiber.HeaderLastModified, st.modified)
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

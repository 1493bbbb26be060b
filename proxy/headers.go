package proxy

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
)

// headers are those every answer carries, worked out once.
type headers struct {
	vary    string
	cors    bool   // others write Vary too
	shared  string // Cache-Control of what anybody may have
	private string // of what is one person's
	public  string // what shared begins with where it is for everybody
	maxAge  time.Duration
	longest time.Duration // that a cache may hand an answer out, stale included
}

func newHeaders(o Options) headers {
	vary := []string{fiber.HeaderAcceptEncoding}
	keyed := o.Auth.APIKey != "" || o.Auth.PortfolioKey != ""
	if keyed {
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
	public := ""
	if !keyed {
		public = "public, " // behind a key nothing is for everybody, but Vary keeps callers apart
	}
	shared := public + lives
	if d := o.Fresh.StaleWhileRevalidate; d > 0 {
		shared += ", stale-while-revalidate=" + seconds(d)
	}
	if d := o.Fresh.StaleIfError; d > 0 {
		shared += ", stale-if-error=" + seconds(d)
	}
	return headers{
		vary: strings.Join(vary, ", "), cors: len(o.CORS.Origins) > 0, shared: shared, private: "private, " + lives,
		public: public, maxAge: o.Fresh.MaxAge,
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
	scope := h.public
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

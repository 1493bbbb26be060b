package proxy

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

// headers are those every answer carries, worked out once.
type headers struct {
	vary    string
	shared  string // Cache-Control of what anybody may have
	private string // of what is one person's
}

func newHeaders(o Options) headers {
	vary := []string{fiber.HeaderAcceptEncoding}
	if o.Auth.APIKey != "" {
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
	shared := lives
	if o.Auth.APIKey == "" {
		shared = "public, " + lives // behind a key nothing is for everybody, but Vary keeps callers apart
	}
	if d := o.Fresh.StaleWhileRevalidate; d > 0 {
		shared += ", stale-while-revalidate=" + seconds(d)
	}
	if d := o.Fresh.StaleIfError; d > 0 {
		shared += ", stale-if-error=" + seconds(d)
	}
	return headers{vary: strings.Join(vary, ", "), shared: shared, private: "private, " + lives}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

func (h *headers) set(c *fiber.Ctx, personal bool) {
	c.Append(fiber.HeaderVary, h.vary) // beside what CORS has put there
	if personal {
		c.Set(fiber.HeaderCacheControl, h.private)
		return
	}
	c.Set(fiber.HeaderCacheControl, h.shared)
}

// ages tells how long ago a view was last known to be current, which is what
// Age means of a cache's answer. Status is asked at most once a second.
type ages struct {
	views Source
	now   func() time.Time
	last  atomic.Pointer[checks]
}

type checks struct {
	at    time.Time
	views map[string]time.Time // when the store last confirmed each view
}

// of returns a view's age; 0 when it was never confirmed.
func (a *ages) of(view string) time.Duration {
	now := a.now()
	last := a.last.Load()
	if last == nil || now.Sub(last.at) >= time.Second {
		fresh := &checks{at: now, views: map[string]time.Time{}}
		for _, status := range a.views.Status() {
			fresh.views[status.View] = status.Checked
		}
		a.last.Store(fresh) // of several at once any will do
		last = fresh
	}
	checked := last.views[view]
	if checked.IsZero() {
		return 0
	}
	return max(now.Sub(checked), 0)
}

func setAge(c *fiber.Ctx, age time.Duration) { c.Set(fiber.HeaderAge, seconds(age)) }

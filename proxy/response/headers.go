package response

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"vitrine/cache/result"
	"vitrine/configs"
)

// headers are header values that do not depend on the request. They are made once for a generation of settings, and
// immutable, so that a Responder can use them in parallel without a copy.
type headers struct {
	vary string
	// Cache-Control of answers for all callers, and of answers for one caller or with a key
	shared, private string
	longest         time.Duration // how long a cache may use an answer, even a stale one
	maxAge          time.Duration // how long a cache may use an answer that is not stale
	adopted         time.Time     // see Options.Adopted
}

func newHeaders(vary []string, f configs.CacheControl, adopted time.Time) headers {
	lives := "max-age=" + seconds(f.MaxAge)
	shared := "public, " + lives
	if d := f.StaleWhileRevalidate; d > 0 {
		shared += ", stale-while-revalidate=" + seconds(d)
	}
	if d := f.StaleIfError; d > 0 {
		shared += ", stale-if-error=" + seconds(d)
	}
	return headers{
		vary: strings.Join(append([]string{fiber.HeaderAcceptEncoding}, vary...), ", "), shared: shared,
		private: "private, " + lives,
		longest: f.MaxAge + max(f.StaleWhileRevalidate, f.StaleIfError), maxAge: f.MaxAge, adopted: adopted,
	}
}

// seconds returns a duration in whole seconds, as headers have it.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// headerCacheStatus is defined by RFC 9211.
const headerCacheStatus = "Cache-Status"

// setCaching sets Vary and Cache-Control. Shared caches may not keep a private answer, and may not use an answer
// after its period. An open answer is the same for all callers.
func (h *headers) setCaching(c *fiber.Ctx, now time.Time, open, private bool, in Period) {
	vary := h.vary
	if open {
		vary = fiber.HeaderAcceptEncoding
	}
	if len(c.Response().Header.Peek(fiber.HeaderVary)) > 0 { // a middleware has already set it
		c.Append(fiber.HeaderVary, vary)
	} else {
		SetHeader(c, fiber.HeaderVary, vary)
	}
	control, scope := h.shared, "public, "
	if private {
		control, scope = h.private, "private, "
	}
	if in.ends() {
		if left := in.left(now); left < h.longest {
			control = scope + "max-age=" + seconds(max(min(left, h.maxAge), 0))
		}
	}
	SetHeader(c, fiber.HeaderCacheControl, control)
}

// SetHeader sets a response header whose name is in canonical form.
func SetHeader(c *fiber.Ctx, name, value string) {
	c.Response().Header.SetCanonical(utils.UnsafeBytes(name), utils.UnsafeBytes(value))
}

// setLinks sets the Link header of an answer.
func setLinks(c *fiber.Ctx, links string) {
	if links != "" {
		SetHeader(c, fiber.HeaderLink, links)
	}
}

// HeaderDataAge reports the seconds since the store confirmed the data, which Age cannot: caches compute with it.
const HeaderDataAge = "Vitrine-Data-Age"

// setModified sets Last-Modified to the time at which the view of an answer was published. It does not set it if the
// clock, or settings adopted since, also determine the answer. It reports whether nothing has changed since the date
// of If-Modified-Since, which may be empty.
func (h *headers) setModified(
	c *fiber.Ctx, p *servedPlan, s Snapshots, st age, since string, now time.Time,
) (unmodified bool) {
	published, shown := s.own.Meta().Published, s.own.Loaded()
	for _, other := range s.also {
		published = slices.MaxFunc([]time.Time{published, other.Meta().Published}, time.Time.Compare)
		shown = slices.MaxFunc([]time.Time{shown, other.Loaded()}, time.Time.Compare)
	}
	if !published.Equal(st.published) {
		st.modified = pastDate(published, now)
	}
	second := published.Truncate(time.Second)
	// A body that also depends on the clock or on another record may change while the date of the view stays. Within
	// a Period whose beginning is known, the date must be of that Period: then both have not changed since.
	varies := p.Once || len(p.of) > 0 || p.Period.ends()
	begun := p.Period.since
	if varies && begun.IsZero() || !second.After(begun) || !second.After(h.adopted) || st.modified == "" {
		return false
	}
	SetHeader(c, fiber.HeaderLastModified, st.modified)
	if since == "" || since == st.modified {
		return since != ""
	}
	// The date may be the caller's own. Until the snapshot was shown here, callers got the previous one, although
	// this one was already published.
	at, err := http.ParseTime(since)
	return err == nil && at.After(shown)
}

// streamed is the outcome of an answer that is made while it is sent.
const streamed result.Outcome = "streamed"

// cacheStatus returns the Cache-Status of an answer (RFC 9211):
//
//	vitrine; hit                         from memory
//	vitrine; fwd=miss; collapsed         another request was already making it
//	vitrine; fwd=miss; stored            made for this request, and kept
//	vitrine; fwd=bypass; detail=streamed too large to keep
//
// detail=stale, or streamed-stale, says that the store could not confirm the data.
func cacheStatus(o result.Outcome, stale bool) string {
	status := "vitrine; hit"
	switch o {
	case result.Shared:
		status = "vitrine; fwd=miss; collapsed"
	case result.Loaded:
		status = "vitrine; fwd=miss; stored"
	case streamed:
		if stale {
			return "vitrine; fwd=bypass; detail=streamed-stale"
		}
		return "vitrine; fwd=bypass; detail=streamed"
	}
	if stale {
		status += "; detail=stale"
	}
	return status
}

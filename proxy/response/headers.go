package response

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"vitrine/cache/result"
	"vitrine/configs"
	"vitrine/proxy/listener"
	"vitrine/rules"
)

// headers are header values that do not depend on the request.
type headers struct {
	vary string
	// Cache-Control of answers for all callers, and of answers for one caller or with a key
	shared, private string
	longest         time.Duration // how long a cache may use an answer, even a stale one
}

func newHeaders(vary []string, f configs.CacheControl) headers {
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
		longest: f.MaxAge + max(f.StaleWhileRevalidate, f.StaleIfError),
	}
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// headerCacheStatus is defined by RFC 9211.
const headerCacheStatus = "Cache-Status"

// setCaching sets Vary and Cache-Control. Shared caches may not keep a private answer, and may not use an answer
// after its period. An open answer is the same for all callers.
func (r *Responder) setCaching(c *fiber.Ctx, now time.Time, open, private bool, in Period) {
	vary := r.headers.vary
	if open {
		vary = fiber.HeaderAcceptEncoding
	}
	if len(c.Response().Header.Peek(fiber.HeaderVary)) > 0 { // a middleware has already set it
		c.Append(fiber.HeaderVary, vary)
	} else {
		SetHeader(c, fiber.HeaderVary, vary)
	}
	control, scope := r.headers.shared, "public, "
	if private {
		control, scope = r.headers.private, "private, "
	}
	if in.ends() {
		if left := in.left(now); left < r.headers.longest {
			control = scope + "max-age=" + seconds(max(min(left, r.MaxAge), 0))
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
func (r *Responder) setModified(c *fiber.Ctx, p *servedPlan, s Snapshots, st age, since string) (unmodified bool) {
	published, shown := s.own.Meta().Published, s.own.Loaded()
	for _, other := range s.also {
		published = slices.MaxFunc([]time.Time{published, other.Meta().Published}, time.Time.Compare)
		shown = slices.MaxFunc([]time.Time{shown, other.Loaded()}, time.Time.Compare)
	}
	if !published.Equal(st.published) {
		st.modified = pastDate(published, r.Now())
	}
	second := published.Truncate(time.Second)
	varies := p.Once || len(p.of) > 0 || p.Period.ends()
	begun := p.Period.since
	if varies && begun.IsZero() || !second.After(begun) || !second.After(r.Adopted) || st.modified == "" {
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

// fields are the header fields that an answer depends on. The first value of a name that is not empty counts.
type fields struct {
	codings       string // Accept-Encoding
	noneMatch     string // If-None-Match
	hasNoneMatch  bool
	modifiedSince string // If-Modified-Since
	unmodified    bool   // nothing has changed since modifiedSince, see setModified
	hasPrefer     bool
}

// fieldsOf returns the fields of a request.
func fieldsOf(c *fiber.Ctx) (f fields) {
	head := listener.HeadOf(c.Context())
	for i := range head.Fields {
		sent := &head.Fields[i]
		var field *string
		switch {
		case sent.Is(fiber.HeaderAcceptEncoding):
			field = &f.codings
		case sent.Is(fiber.HeaderIfNoneMatch):
			field, f.hasNoneMatch = &f.noneMatch, true
		case sent.Is(fiber.HeaderIfModifiedSince):
			field = &f.modifiedSince
		case sent.Is(headerPrefer):
			f.hasPrefer = true
		}
		if field != nil && *field == "" {
			*field = strings.TrimSpace(sent.Value)
		}
	}
	return f
}

// Response headers that report which parts of a request the answer ignores (docs/decisions.md: What was ignored).
const (
	HeaderIgnored    = "Vitrine-Ignored"    // parameters and paths that the answer does not depend on
	HeaderRestricted = "Vitrine-Restricted" // the permission that the caller lacks to see the whole list
	headerPrefer     = "Prefer"
	headerApplied    = "Preference-Applied"
	handlingStrict   = "handling=strict"
)

// ReportIgnored sets Vitrine-Ignored to the parts of the request that the answer does not depend on. Callers that
// prefer strict handling get an error instead; a cache must not give them the response to others.
func ReportIgnored(c *fiber.Ctx, ignored string) error {
	if ignored == "" {
		return nil
	}
	if before := c.GetRespHeader(HeaderIgnored); before == "" {
		SetHeader(c, HeaderIgnored, ignored)
	} else if before != ignored && !strings.HasSuffix(before, ", "+ignored) {
		// the header may be set twice, see Serve
		SetHeader(c, HeaderIgnored, before+", "+ignored)
	}
	c.Append(fiber.HeaderVary, headerPrefer)
	if !strict(c) {
		return nil
	}
	SetHeader(c, headerApplied, handlingStrict)
	return &rules.Error{Kind: rules.ErrWrongCall,
		Reason: "Strict handling was asked for, and these are ignored: " + ignored}
}

// strict reports whether the caller prefers strict handling (RFC 7240).
func strict(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll(headerPrefer) {
		for preference := range strings.SplitSeq(string(header), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") { // if there are several, the first counts
				return strings.EqualFold(strings.Trim(value, ` "	`), "strict")
			}
		}
	}
	return false
}

// reportHandling sets the headers that report which parts of the request a plan ignores or restricts.
func reportHandling(c *fiber.Ctx, p *servedPlan, hasPrefer bool) error {
	if p.Restricted != "" {
		SetHeader(c, HeaderRestricted, p.Restricted)
	}
	if hasPrefer && strict(c) {
		SetHeader(c, headerApplied, handlingStrict)
	}
	return ReportIgnored(c, p.Ignored)
}

// age is how old the data of a view is.
type age struct {
	// seconds is the number of whole seconds since the store last confirmed the view. For a view from a file, the
	// process that wrote the file got that confirmation.
	seconds string
	// published is when the view was published, and modified the same in HTTP's format; modified is empty while that
	// is in the future by this clock.
	published time.Time
	modified  string
	// stale: the store did not confirm the view at the last attempt.
	stale bool
}

// agesFor is how long ages are cached.
const agesFor = time.Second

// ages caches the ages of all views. It reads their status at most once in agesFor.
type ages struct {
	views Views
	last  atomic.Pointer[agesAt]
}

// agesAt has the ages of all views, by name, at a time.
type agesAt struct {
	at    time.Time
	views map[string]age
}

// of returns the age of a view.
func (a *ages) of(view string, now time.Time) age {
	last := a.last.Load()
	if last == nil || now.Sub(last.at) >= agesFor {
		last = &agesAt{at: now, views: map[string]age{}}
		for _, status := range a.views.Status() {
			since := time.Duration(0)
			if !status.Checked.IsZero() {
				since = max(now.Sub(status.Checked), 0)
			}
			last.views[status.View] = age{
				seconds: seconds(since), stale: status.Stale, published: status.Meta.Published,
				modified: pastDate(status.Meta.Published, now),
			}
		}
		a.last.Store(last) // concurrent calls store about the same value
	}
	return last.views[view]
}

// pastDate formats a time for HTTP. It returns "" for a time in the future.
func pastDate(t, now time.Time) string {
	if t.Truncate(time.Second).After(now) {
		return ""
	}
	return t.UTC().Format(http.TimeFormat)
}

// streamed is the outcome of an answer that is made while it is sent.
const streamed result.Outcome = "streamed"

// cacheStatus returns the Cache-Status of an answer (RFC 9211).
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

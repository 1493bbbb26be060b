package response

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/proxy/listener"
	"vitrine/rules"
)

// KeptRequest is a request for an answer of the other server that is kept by rule.
type KeptRequest struct {
	Keeper  *kept.Keeper
	Rule    *kept.Rule
	Key     string   // from Rule.Key
	Ignored string   // the parameters that are no part of the key, in the form for Vitrine-Ignored
	Tags    []Header // for caches in front, which drop by them what has changed
	// OwnCORS says that http.cors decides which sites' scripts may read the answer. Otherwise the kept headers do, if
	// there are any.
	OwnCORS bool
}

// keptView is Key.View of kept answers: no view has this name.
const keptView = "upstream"

// keptTries bounds how often Kept begins again because a body was dropped after its entry was found.
const keptTries = 3

// Kept sends an answer that a Keeper keeps, as an answer of this server. Errors are those of Keeper.Get, and
// rules.ErrUnavailable.
func (r *Responder) Kept(c *fiber.Ctx, who Audience, q KeptRequest) error {
	if r.Inspect != nil {
		return errNoRecords
	}
	if err := ReportIgnored(c, q.Ignored); err != nil {
		return err
	}
	s := &keptSending{r, c, who, q, fieldsOf(c)}
	// The first look-up needs no context, whose timer costs as much as the answer.
	before, found := q.Keeper.Peek(q.Key), kept.Found{}
	if before != nil && q.Keeper.Current(before) {
		found = kept.Found{Entry: before, Outcome: kept.Hit}
		if a := r.Results.Lookup(s.keyOf(before)); a != nil {
			return s.send(a, found, true)
		}
	}
	ctx, leave := r.work(c, who.Client)
	defer leave()
	for tries := 1; ; tries++ {
		if found.Entry == nil {
			var err error
			if found, err = q.Keeper.Get(ctx, who.Client, q.Rule, q.Key); err != nil {
				return err
			}
		}
		if found.Entry == nil {
			return s.pass(found.Passed)
		}
		a, _, err := r.Results.Get(ctx, s.keyOf(found.Entry), s.loader(found))
		switch {
		case err == nil:
			return s.send(a, found, before != nil)
		case !errors.Is(err, origin.ErrNotFound):
			return err
		case tries == keptTries:
			return fmt.Errorf("response: kept answer %s: %w: %w", q.Key, rules.ErrUnavailable, err)
		}
		found = kept.Found{} // its body was dropped meanwhile; the next Get fetches it
	}
}

// keptSending is a request whose answer is being sent.
type keptSending struct {
	*Responder
	c      *fiber.Ctx
	who    Audience
	q      KeptRequest
	header fields
}

// keyOf returns the key of an entry's answer in the coding that the client prefers. The digest names the content, so
// that nothing needs to be invalidated, and all keys with the same content share one answer.
func (s *keptSending) keyOf(e *kept.Entry) result.Key {
	return result.Key{View: keptView, Query: e.Digest, Coding: negotiate(s.header.codings, s.Codings)}
}

// loader returns the function that reads the plain answer of an entry.
func (s *keptSending) loader(found kept.Found) result.Loader {
	r, keeper, e := s.Responder, s.q.Keeper, found.Entry
	return func(ctx context.Context) (*result.Answer, error) {
		body := found.Body
		if body == nil {
			if e.Size > freeBytes {
				release, err := r.Results.InFlight().AcquireToMake(2 * int64(e.Size))
				if err != nil {
					return nil, err
				}
				defer release()
			}
			// The store may be slow, and others need the turn meanwhile.
			err := fair.TurnOf(ctx).RunPaused(ctx, func() (err error) {
				body, err = keeper.Body(ctx, e)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		a := result.NewAnswer(body, e.Field(fiber.HeaderContentType))
		a.Made = e.Fetched
		return a, nil
	}
}

// send sends the answer of an entry. wasKept says that one was kept when the request came.
func (s *keptSending) send(a *result.Answer, found kept.Found, wasKept bool) error {
	c, e, now := s.c, found.Entry, s.Now()
	s.setCaching(e, found.Outcome == kept.Stale)
	s.copyHeader(e.Header)
	for _, tag := range s.q.Tags {
		SetHeader(c, tag.Name, tag.Value)
	}
	SetHeader(c, fiber.HeaderAge, "0") // as for all answers of this server
	SetHeader(c, HeaderDataAge, seconds(max(now.Sub(e.Checked), 0)))
	SetHeader(c, headerCacheStatus, keptStatus(found, wasKept))
	SetHeader(c, HeaderKept, "?1") // a boolean of structured fields (RFC 9651)
	key := s.keyOf(e)
	if e.Status != fiber.StatusOK {
		c.Status(e.Status)
		s.header.hasNoneMatch = false // conditions are for answers of status 200 (RFC 9110: 13.2.1)
	}
	repeatable := found.Outcome == kept.Hit && e.Status == fiber.StatusOK && !s.who.Personal
	if conn := connOf(c); repeatable && conn != nil && conn.Repeats {
		conn.Hit = &keptHit{s.Responder, s.q.Keeper, e, key, a.ETag}
	}
	if a.ContentType == "" {
		c.Response().Header.SetNoDefaultContentType(true)
	}
	return s.Responder.send(c, a, s.header)
}

// setCaching sets Vary and Cache-Control. No cache may use an answer for longer than this server does by the time of
// the rule, nor one that is sent though it is stale.
func (s *keptSending) setCaching(e *kept.Entry, stale bool) {
	private := s.who.Personal || s.who.Keyed && !s.KeyedPublic()
	now := s.Now()
	s.headers.setCaching(s.c, now, s.who.Open, private, Period{})
	limit := max(e.FreshTill().Sub(now), 0)
	if stale {
		limit = 0
	}
	if limit < s.headers.longest {
		scope := "public, max-age="
		if private {
			scope = "private, max-age="
		}
		SetHeader(s.c, fiber.HeaderCacheControl, scope+seconds(min(limit, s.MaxAge)))
	}
}

// keptStatus returns the Cache-Status of a kept answer (RFC 9211).
func keptStatus(found kept.Found, wasKept bool) string {
	why := "miss"
	if wasKept {
		why = "stale"
	}
	switch found.Outcome {
	case kept.Fetched:
		return "vitrine; fwd=" + why + "; stored"
	case kept.Confirmed:
		return "vitrine; fwd=" + why + "; detail=confirmed"
	case kept.Shared:
		return "vitrine; hit; detail=shared"
	case kept.Stale:
		if found.Reason == "" {
			return "vitrine; hit; detail=stale"
		}
		return "vitrine; hit; detail=" + found.Reason
	}
	return "vitrine; hit"
}

// withheld are the headers of the other server's answers that are not sent: they are about its connection and its
// caching, or personal, or this server sets them itself. Others begin with one of withheldPrefixes.
var withheld = map[string]bool{
	"Connection": true, "Content-Encoding": true, "Content-Length": true, "Content-Type": true, "Date": true,
	"Keep-Alive": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Via": true, "Server": true,
	"Age": true, "Cache-Control": true, "Cache-Status": true, "Cache-Tag": true, "Cdn-Cache-Control": true,
	"Etag": true, "Expires": true, "Last-Modified": true, "Pragma": true, "Surrogate-Control": true,
	"Surrogate-Key": true, "Vary": true,
	"Accept-Ranges": true, "Content-Digest": true, "Content-Md5": true, "Digest": true, "Repr-Digest": true,
	"Clear-Site-Data": true, "Set-Cookie": true, "Set-Cookie2": true, "Www-Authenticate": true,
	"Server-Timing": true, "X-Content-Type-Options": true, "X-Request-Id": true,
}

// withheldPrefixes begin the names of headers that instruct or describe this server or the one in front of it.
var withheldPrefixes = []string{"Vitrine-", "X-Accel-"}

// crossOriginPrefix begins the names of headers that say which sites' scripts may read an answer.
const crossOriginPrefix = "Access-Control-"

// copyHeader copies the headers of the other server's answer that are sent.
func (s *keptSending) copyHeader(header []origin.ResponseField) {
	h := &s.c.Response().Header
	decides := func(f origin.ResponseField) bool { return strings.HasPrefix(f.Name, crossOriginPrefix) }
	if !s.q.OwnCORS && slices.ContainsFunc(header, decides) {
		var own []string
		for name := range h.All() {
			if strings.HasPrefix(string(name), crossOriginPrefix) {
				own = append(own, string(name))
			}
		}
		for _, name := range own {
			h.Del(name)
		}
	}
	for _, f := range header {
		begins := func(prefix string) bool { return strings.HasPrefix(f.Name, prefix) }
		switch {
		case withheld[f.Name], s.q.OwnCORS && begins(crossOriginPrefix),
			slices.ContainsFunc(withheldPrefixes, begins):
			continue
		}
		h.Add(f.Name, f.Value)
	}
}

// pass sends an answer that is not of a kind that is kept, for this request alone.
func (s *keptSending) pass(answer kept.Answer) error {
	c := s.c
	var passed origin.Response
	for name, lines := range answer.Header {
		for _, line := range lines {
			passed.Header = append(passed.Header,
				origin.ResponseField{Name: http.CanonicalHeaderKey(name), Value: line})
		}
	}
	s.copyHeader(passed.Header)
	SetHeader(c, fiber.HeaderCacheControl, "no-store")
	SetHeader(c, headerCacheStatus, "vitrine; fwd=miss; fwd-status="+strconv.Itoa(answer.Status))
	a := result.NewAnswer(answer.Body, passed.Field(fiber.HeaderContentType))
	if a.ContentType == "" {
		c.Response().Header.SetNoDefaultContentType(true)
	}
	c.Status(answer.Status)
	return s.attach(c, a)
}

// keptHit is what the header of a kept answer was made from. It has no body, which the cache of answers may evict.
type keptHit struct {
	responder *Responder
	keeper    *kept.Keeper
	entry     *kept.Entry
	key       result.Key
	etag      string
}

// Again implements listener.Hit.
func (h *keptHit) Again() (body []byte, reservation listener.Reservation, ok bool) {
	r := h.responder
	a := r.Results.Lookup(h.key)
	if a == nil || a.ETag != h.etag || !h.keeper.Current(h.entry) || !r.Results.InFlight().Retain(a) {
		return nil, nil, false
	}
	r.Results.NoteRequest()
	return a.Body, a, true
}

// KeptCodings returns the codings in which the body of an entry is in memory; identity is the empty one.
func (r *Responder) KeptCodings(e *kept.Entry) (codings []string) {
	for _, coding := range append([]result.Coding{result.Identity}, r.Codings...) {
		if r.Results.Lookup(result.Key{View: keptView, Query: e.Digest, Coding: coding}) != nil {
			codings = append(codings, string(coding))
		}
	}
	return codings
}

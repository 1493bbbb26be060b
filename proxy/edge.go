package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"vitrine/cache/result"
	"vitrine/proxy/auth"
	"vitrine/proxy/compare"
	"vitrine/proxy/listener"
	"vitrine/proxy/lists"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/metrics"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/fault"
)

// edge wraps every request: it sets the request id, turns errors and panics into envelopes, and counts and logs
// the response. The phases: take the settings, refuse what is malformed, call the handlers, make an answer of
// their error, then count, log and perhaps prepare the response. The response is not sent yet when edge returns:
// the HTTP server sends it after all handlers.
func (s *Server) edge(c *fiber.Ctx) error {
	// Take the settings, once for the whole request.
	s.metrics.InFlight.Inc()
	defer s.metrics.InFlight.Dec()
	begun := s.purger.Begin() // before anything that the response depends on is read
	set := s.settings.Load()
	c.Context().SetUserValue(settingsKey{}, set)
	s.setHeaders(c) // first, so that errors have an id, too
	// Refuse what other servers may have read differently, before any handler reads it.
	err := cmp.Or(checkLength(c), checkHead(c))
	if err != nil || c.Method() == fiber.MethodOptions { // of which CORS answers some
		err = cmp.Or(screen(s, c), err)
	}
	if err == nil {
		// Call the handlers. Either this server or the other one decides about CORS: two answers to it would
		// contradict each other.
		cors := set.corsOf(c.Path())
		if s.forwarder.DecidesCORS(c) {
			cors = nil
		}
		err = guarded(c, cors)
	}
	if err := s.fail(c, err); err != nil {
		return err
	}
	// Requests of the Shadow end here, because they are copies of requests that are counted already.
	if isShadowed(c) {
		return nil
	}
	purgeLater(c, s.purger, begun)
	conn, ok := c.Context().Conn().(*listener.Conn)
	if ok {
		conn.Join(bodyBytes(c) > writeBuffer && !c.Response().ImmediateHeaderFlush)
	}
	// Requests of `vitrine compare` are not offered to the Shadow, which would compare them once more.
	if s.shadow != nil && string(c.Request().Header.UserAgent()) != compare.UserAgent {
		s.shadow.Offer(c.Method(), c.Request().Header.RequestURI(), c.Response().StatusCode())
	}
	// Count and log it. A stream has no size yet: observeStream does both when it has ended.
	took, series, level := time.Since(c.Context().Time()), s.metrics.SeriesOf(c), accessLevel(c)
	series.Seconds.Observe(took.Seconds())
	// A balancer that asks whether the server is ready gets 503 before it is: that is no failure.
	if c.Response().StatusCode() >= fiber.StatusInternalServerError && !isHealth(c.Path()) {
		s.metrics.Failures.Record(time.Now())
	}
	logs := s.options.AccessLog && s.log.Enabled(context.Background(), level)
	if stream, ok := c.Response().BodyStream().(*listener.Stream); ok {
		s.observeStream(c, stream, series, logs)
		return nil
	}
	series.Bytes.Observe(float64(bodyBytes(c)))
	if logs {
		s.logAccess(c, level, took)
	}
	// Prepare the response for requests that repeat this one. It needs lines of the log that can be prepared, too.
	if conn != nil && conn.Hit != nil && (!logs || s.lines != nil) {
		set.shortcuts.record(c, conn, logs)
	}
	return nil
}

// count counts requests behind CORS, so that scripts can read the refusal.
func count(s *Server, c *fiber.Ctx) error {
	if c.Method() != fiber.MethodOptions { // which edge has counted
		if err := screen(s, c); err != nil {
			return err
		}
	}
	return c.Next()
}

// screen counts a request and the wrong keys in it for the limits of its client, and fails if these refuse it. It
// comes before routing, so that every path counts. Health checks are not limited, because balancers send them often.
func screen(s *Server, c *fiber.Ctx) error {
	set := s.settingsOf(c)
	if isShadowed(c) {
		return nil
	}
	if set.limit != nil && !isHealth(c.Path()) {
		if err := set.limit(c); err != nil {
			return err
		}
	}
	return set.auth.Screen(c)
}

// isHealth reports whether a path is one that balancers poll.
func isHealth(path string) bool { return path == "/healthz" || path == "/livez" || path == "/readyz" }

// checkLength refuses a URL that is too long. The server's buffer, which also has room for headers, lets it pass.
func checkLength(c *fiber.Ctx) error {
	if n := len(c.Request().Header.RequestURI()); n > urlBytes {
		return fiber.NewError(fiber.StatusRequestURITooLong,
			fmt.Sprintf("The URL has %d bytes; %d is the limit.", n, urlBytes))
	}
	return nil
}

// checkHead refuses a request that a proxy in front may have read differently.
func checkHead(c *fiber.Ctx) error {
	reason, closes := listener.HeadOf(c.Context()).Check(&c.Request().Header)
	if closes {
		c.Context().SetConnectionClose()
	}
	if reason == "" {
		return nil
	}
	return &rules.Error{Kind: rules.ErrWrongCall, Reason: reason}
}

// accessLevel returns the level of an access-log line: debug for health checks, otherwise info.
func accessLevel(c *fiber.Ctx) slog.Level {
	if isHealth(c.Path()) {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// guarded calls the handlers behind the edge, through cors if it is set. Fiber's recover middleware would lose the
// stack.
func guarded(c *fiber.Ctx, cors fiber.Handler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			fault.Report(r)
			err = &panicError{value: r, stack: debug.Stack()}
		}
	}()
	if cors != nil {
		return cors(c)
	}
	return c.Next()
}

// ofAnswers are the headers that an error response must not keep. They describe the body that the handler has
// begun, and the envelope takes its place.
var ofAnswers = []string{
	fiber.HeaderContentEncoding, fiber.HeaderETag, fiber.HeaderLastModified,
	fiber.HeaderLink, fiber.HeaderContentDisposition, fiber.HeaderContentSecurityPolicy,
}

// problemAt returns the problem that clients see of an error at a path, and the path, or the one nearest to it if
// nothing is there.
func problemAt(s *Server, path string, err error) (problem, string) {
	p := classify(err)
	if missed := (*fiber.Error)(nil); errors.As(err, &missed) && missed.Code == fiber.StatusNotFound {
		if near := nearestPath(path); near != "" {
			p.msg += " Did you mean " + near + "?"
			path = near
		}
	}
	return p, path
}

// fail writes the envelope of an error. It logs the error if the server caused it: as a warning if the answer is
// temporarily unavailable. It does nothing if err is nil. An error at a path of lists is a page for a browser, in
// the language that it prefers, because a visitor has followed a link; every other client gets the envelope.
func (s *Server) fail(c *fiber.Ctx, err error) error {
	if err == nil {
		return nil
	}
	if conn, ok := c.Context().Conn().(*listener.Conn); ok && conn.BodyRefused {
		err = result.ErrInFlight
	}
	p, path := problemAt(s, c.Path(), err)
	if conn, ok := c.Context().Conn().(*listener.Conn); ok && p.status == fiber.StatusRequestHeaderFieldsTooLarge &&
		conn.URLTooLong() {
		p = problem{fiber.StatusRequestURITooLong, wrongCall,
			fmt.Sprintf("The URL is too long; %d bytes is the limit.", urlBytes)}
	}
	if p.status == fiber.StatusRequestEntityTooLarge {
		p.msg = fmt.Sprintf("The body of the request is too large; %d bytes is the limit.",
			s.settingsOf(c).upstream.BodyLimit())
	}
	if errors.As(err, new(*panicError)) {
		s.metrics.Panics.Inc()
	}
	if p.status >= 500 && p.status != fiber.StatusNotImplemented { // not for 501, which the client's request causes
		level := slog.LevelError
		if p.status == fiber.StatusServiceUnavailable {
			level = slog.LevelWarn
		}
		s.log.Log(c.UserContext(), level, "request failed", "id", idOf(c), "path",
			strings.Clone(query.Printable(s.settingsOf(c).auth.Path(c.Path()))),
			"status", p.status, "error", err.Error())
	}
	// A handler may have written a part of its answer before it failed.
	c.Response().ResetBody()
	for _, name := range ofAnswers {
		c.Response().Header.Del(name)
	}
	if moved := (*lists.Moved)(nil); errors.As(err, &moved) {
		c.Set(fiber.HeaderLocation, moved.At(string(c.Context().QueryArgs().QueryString())))
		return response.SendUnkept(c.Status(p.status), nil)
	}
	if p.status == fiber.StatusServiceUnavailable || p.status == fiber.StatusTooManyRequests {
		c.Set(fiber.HeaderRetryAfter, retryAfter(err))
		auth.SetRefused(c, err)
	}
	if err := response.SendUnkept(c.Status(p.status), response.Failure(p.status, p.name, p.msg)); err != nil ||
		!readsPage(c, path) {
		return err
	}
	l := s.settingsOf(c).lists
	lang := c.Query(params.Lang)
	if !slices.Contains(l.Languages(), lang) {
		lang = c.AcceptsLanguages(l.Languages()...)
	}
	c.Append(fiber.HeaderVary, fiber.HeaderAccept, fiber.HeaderAcceptLanguage)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, l.Policy())
	return c.Send(l.Failure(lang, p.status, p.msg))
}

// setHeaders sets the headers of every response, including errors: nosniff and the request id. It uses the client's
// id if it is short and plain and contains no key.
func (s *Server) setHeaders(c *fiber.Ctx) {
	response.SetHeader(c, fiber.HeaderXContentTypeOptions, "nosniff")
	if id := c.Get(headerRequestID); id != "" && saneID.MatchString(id) && !s.settingsOf(c).auth.Holds(id) {
		response.SetHeader(c, headerRequestID, id)
		return
	}
	var id [idDigits]byte
	appendID(id[:0])
	c.Response().Header.SetCanonical(utils.UnsafeBytes(headerRequestID), id[:])
}

// idOf returns a copy of the request id, which a log may keep.
func idOf(c *fiber.Ctx) string { return strings.Clone(c.GetRespHeader(headerRequestID)) }

// saneID matches the clients' request ids that the server uses.
var saneID = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

// logAccess logs a request. If the log takes lines (Options.Logger) and the URL needs no escape, logAccess writes
// the line that a slog.TextHandler would write, in a third of the time. The log and its prepared lines must look
// alike, because tools read both.
func (s *Server) logAccess(c *fiber.Ctx, level slog.Level, took time.Duration) {
	buffer, set, at := lines.Get().(*[]byte), s.settingsOf(c), c.Context().Time().Add(took)
	defer lines.Put(buffer)
	if s.lines != nil {
		request, plain := appendRequest((*buffer)[:0], c, set.auth)
		if *buffer = request; plain {
			*buffer = appendLine(request, at, level, c.Response().Header.Peek(headerRequestID), request, took,
				set.auth.Addr(c))
			_, _ = s.lines.Write((*buffer)[len(request):]) // as slog.Logger, which ignores the error
			return
		}
	}
	accessRecord(c, set.auth, s.log, level)(int64(bodyBytes(c)), took)
}

// accessRecord returns a function that logs a request. It does not depend on the request's memory.
func accessRecord(c *fiber.Ctx, a *auth.Authenticator, log *slog.Logger, level slog.Level) func(sent int64,
	took time.Duration) {
	buffer, began, key := lines.Get().(*[]byte), c.Context().Time(), auth.KeyName(c)
	defer lines.Put(buffer)
	*buffer = a.AppendURL((*buffer)[:0], c.Path(), c.Context().URI().QueryString())
	peer, about := a.Addr(c).String(), []slog.Attr{
		slog.String("id", idOf(c)), slog.String("method", strings.Clone(c.Method())),
		slog.String("url", string(*buffer)), slog.Int("status", c.Response().StatusCode()),
	}
	return func(sent int64, took time.Duration) {
		// The record has no place in the source, which slog.Logger would look up.
		r := slog.NewRecord(began.Add(took), level, "request", 0)
		r.AddAttrs(append(about, slog.Int64("bytes", sent))...)
		if key != "" {
			r.AddAttrs(slog.String("key", key))
		}
		r.AddAttrs(slog.Duration("took", took), slog.String("peer", peer))
		_ = log.Handler().Handle(context.Background(), r) // as slog.Logger, which ignores the error
	}
}

// observeStream counts and logs a streamed response when it ends, because only then its size is known.
func (s *Server) observeStream(c *fiber.Ctx, stream *listener.Stream, counted metrics.Series, logs bool) {
	began, record := c.Context().Time(), func(int64, time.Duration) {}
	if logs {
		record = accessRecord(c, s.settingsOf(c).auth, s.log, accessLevel(c))
	}
	stream.Ended = func(sent int64) {
		counted.Bytes.Observe(float64(sent))
		record(sent, time.Since(began))
	}
}

package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/origin"
	"vitrine/proxy/admin"
	"vitrine/proxy/auth"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/listener"
	"vitrine/proxy/lists"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
	"vitrine/rules"
)

// The error names of an envelope.
const (
	wrongCall        = "WrongCall"
	permissionDenied = "PermissionDenied"
	dataNotFound     = "DataNotFound"
	tooManyRequests  = "TooManyRequests"
	serverError      = "Internal server error"
	unavailable      = response.Unavailable
	notLeading       = "NotLeading" // only on the operator's listener
)

// statusGone is the status in log and metrics if the client has closed its connection, as in other servers.
const statusGone = 499

// problem is an error in the form that clients see. It is comparable, and has no cause: what led to it goes only
// to the log.
type problem struct {
	// of HTTP and of the envelope; statusGone is only for log and metrics
	status int
	// in the member error of the envelope; one of the constants above
	name string
	// in the member msg; it names no host, path of a file or secret
	msg string
}

// Error implements error.
func (p problem) Error() string { return p.msg }

// classify is the only table from errors to responses. Clients see the text of a problem or *rules.Error alone.
func classify(err error) problem {
	var own problem
	var fromFiber *fiber.Error
	var moved *lists.Moved
	var elsewhere *admin.NotLeadingError
	reason := func(otherwise string) string {
		if said := (*rules.Error)(nil); errors.As(err, &said) {
			return said.Error()
		}
		return otherwise
	}
	// An error may be of several kinds, and the first match counts: for example, work that ended because its client
	// has gone is unavailable, too, but must not be logged as a failure.
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &elsewhere):
		return problem{http.StatusConflict, notLeading, elsewhere.Error()}
	case errors.Is(err, cockpit.ErrBusy):
		return problem{http.StatusServiceUnavailable, unavailable, "Too many pages watch this server, or it ends."}
	case errors.Is(err, listener.ErrGone):
		return problem{statusGone, unavailable, "The connection was closed before the answer was ready."}
	case errors.Is(err, auth.ErrLimit):
		return problem{http.StatusTooManyRequests, tooManyRequests, reason("")}
	case errors.As(err, &fromFiber):
		return classifyHTTP(fromFiber)
	case errors.Is(err, rules.ErrWrongCall):
		return problem{http.StatusBadRequest, wrongCall, reason("The request cannot be answered.")}
	case errors.As(err, &moved):
		return problem{http.StatusFound, "", moved.Error()}
	case errors.Is(err, lists.ErrFormat):
		return problem{http.StatusNotImplemented, wrongCall, "oEmbed is available only as JSON."}
	case errors.Is(err, lists.ErrHost):
		return problem{http.StatusMisdirectedRequest, wrongCall,
			"This answer needs absolute URLs, and the host in the request is not known as this server's. Its " +
				"operator can set lists.base_url, or add the host to lists.hosts."}
	case errors.Is(err, upstream.ErrBadGateway):
		return problem{http.StatusBadGateway, unavailable,
			"The system behind this path cannot be reached, or sent no usable answer."}
	case errors.Is(err, upstream.ErrTimeout):
		return problem{http.StatusGatewayTimeout, unavailable, "The system behind this path did not answer in time."}
	case errors.Is(err, rules.ErrPermission):
		return problem{http.StatusForbidden, permissionDenied, reason("A valid API key is needed for this request.")}
	case errors.Is(err, rules.ErrNotFound):
		return problem{http.StatusNotFound, dataNotFound, reason("Not found.")}
	case errors.Is(err, rules.ErrUnavailable), errors.Is(err, origin.ErrStale), errors.Is(err, origin.ErrDamaged),
		errors.Is(err, origin.ErrForeign), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return problem{http.StatusServiceUnavailable, unavailable,
			"The answer is not available right now. Try again in a moment."}
	default:
		return problem{http.StatusInternalServerError, serverError,
			"An internal error occurred. The log has it under the id in X-Request-Id."}
	}
}

// refusals are the messages for the statuses that Fiber and the HTTP server set by themselves.
var refusals = map[int]string{
	http.StatusMethodNotAllowed: "This path does not support this method. The header Allow lists those " +
		"that it supports.",
	http.StatusRequestHeaderFieldsTooLarge: "The URL or the headers are too long.",
	http.StatusRequestTimeout:              "The request took too long to arrive.",
}

// classifyHTTP returns the problem of an error of Fiber. Of its message only the one of checkLength is shown:
// others may quote the request.
func classifyHTTP(e *fiber.Error) problem {
	switch {
	case e.Code == http.StatusNotFound:
		return problem{e.Code, dataNotFound, "There is nothing at this path."}
	case e.Code == http.StatusRequestURITooLong:
		return problem{e.Code, wrongCall, e.Message}
	case e.Code == http.StatusBadGateway: // Fiber's status for a connection that broke while it was read
		return problem{http.StatusBadRequest, wrongCall, "The request cannot be read."}
	case e.Code >= 400 && e.Code < 500:
		return problem{e.Code, wrongCall, cmp.Or(refusals[e.Code], "The request cannot be read.")}
	default:
		return problem{http.StatusInternalServerError, serverError, "An internal error occurred."}
	}
}

// retryAfter returns the value of Retry-After for an error, in whole seconds: the error's own, or one second.
func retryAfter(err error) string {
	var known interface{ RetryAfter() time.Duration }
	if !errors.As(err, &known) {
		return "1"
	}
	return auth.WholeSeconds(max(known.RetryAfter(), time.Second))
}

// crowded is the response sent when the connection limit is reached; broken is the response to a request that panics.
var (
	crowded = lastWords(http.StatusServiceUnavailable, unavailable, "Too many connections. Try again in a moment.",
		"Retry-After: 1\r\n")
	broken = lastWords(http.StatusInternalServerError, serverError, "An internal error occurred.", "")
)

// lastWords returns the bytes of a response after which the connection closes.
func lastWords(status int, name, msg, headers string) []byte {
	body := response.Failure(status, name, msg)
	return append([]byte("HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+
		"\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Type: "+
		response.ContentType+"\r\n"+headers+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}

// panicError is a panic of a handler. Its text has the stack, which is for the log alone.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string {
	return fmt.Sprintf("panic: %v\n%s", p.value, strings.TrimSpace(string(p.stack)))
}

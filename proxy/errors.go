package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/origin"
	"vitrine/proxy/auth"
	"vitrine/proxy/listener"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// The error names of an envelope (API.md: Errors).
const (
	wrongCall        = "WrongCall"
	permissionDenied = "PermissionDenied"
	dataNotFound     = "DataNotFound"
	serverError      = "Internal server error"
	unavailable      = "Service unavailable"
	notLeading       = "NotLeading" // of the operator's listener alone
)

// statusGone is what the log and the metrics have where nobody reads an answer; the
// number is the one that web servers use for it.
const statusGone = 499

const keyNeeded = "A valid API key is needed for this request."

// problem is an error as a client sees it.
type problem struct {
	status int
	name   string
	msg    string
}

// classify is the one table from errors to what a client is told. Only a
// *rules.Error speaks for itself; of any other error the client learns its kind.
func classify(err error) problem {
	var said *rules.Error
	var fromFiber *fiber.Error
	var limit *auth.LimitError
	var own *told
	switch {
	case errors.As(err, &own):
		return own.problem
	case errors.Is(err, listener.ErrGone):
		return problem{statusGone, unavailable, "The connection was closed before the answer was ready."}
	case errors.As(err, &limit):
		return problem{http.StatusTooManyRequests, wrongCall, limit.Msg}
	case errors.As(err, &fromFiber):
		return classifyHTTP(fromFiber)
	case errors.Is(err, rules.ErrWrongCall):
		if errors.As(err, &said) {
			return problem{http.StatusBadRequest, wrongCall, said.Error()}
		}
		return problem{http.StatusBadRequest, wrongCall, "The request cannot be answered."}
	case errors.Is(err, rules.ErrPermission):
		return problem{http.StatusForbidden, permissionDenied, keyNeeded}
	case errors.Is(err, rules.ErrNotFound):
		if errors.As(err, &said) {
			return problem{http.StatusNotFound, dataNotFound, said.Error()}
		}
		return problem{http.StatusNotFound, dataNotFound, "Not found."}
	case errors.Is(err, rules.ErrUnavailable), errors.Is(err, origin.ErrStale), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return problem{http.StatusServiceUnavailable, unavailable, "The answer is not available right now. Try again in a moment."}
	default:
		return problem{http.StatusInternalServerError, serverError, "Something went wrong here. The request id in X-Request-Id finds it in the log."}
	}
}

// classifyHTTP tells what Fiber and its server refuse by themselves.
func classifyHTTP(e *fiber.Error) problem {
	switch e.Code {
	case http.StatusNotFound:
		return problem{e.Code, dataNotFound, "There is nothing at this path."}
	case http.StatusMethodNotAllowed:
		return problem{e.Code, wrongCall, "This path does not take that method; Allow says which it does."}
	case http.StatusRequestURITooLong:
		return problem{e.Code, wrongCall, e.Message}
	case http.StatusRequestHeaderFieldsTooLarge:
		return problem{e.Code, wrongCall, "The URL or the headers are too long."}
	case http.StatusRequestEntityTooLarge:
		return problem{e.Code, wrongCall, "The request body is too large."}
	case http.StatusRequestTimeout:
		return problem{e.Code, wrongCall, "The request took too long to arrive."}
	}
	if e.Code >= 400 && e.Code < 500 {
		return problem{e.Code, wrongCall, "The request cannot be read."}
	}
	if e.Code == http.StatusBadGateway { // Fiber's word for a connection that broke while it was read
		return problem{http.StatusBadRequest, wrongCall, "The request cannot be read."}
	}
	return problem{http.StatusInternalServerError, serverError, "Something went wrong here."}
}

// retryAfter is the header's value for an error: what it knows itself, in whole
// seconds and at least one.
func retryAfter(err error) string {
	var known interface{ RetryAfter() time.Duration }
	if !errors.As(err, &known) {
		return "1"
	}
	return auth.WholeSeconds(max(known.RetryAfter(), time.Second))
}

// crowded is the answer to a connection too many, broken the one to a request that a
// panic ends.
var (
	crowded = lastWords(http.StatusServiceUnavailable, unavailable, "Too many connections. Try again in a moment.", "Retry-After: 1\r\n")
	broken  = lastWords(http.StatusInternalServerError, serverError, "Something went wrong here.", "")
)

// lastWords is an answer with which a connection ends, as it is sent.
func lastWords(status int, name, msg, headers string) []byte {
	body := response.Failure(status, name, msg)
	return append([]byte("HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Type: "+
		response.ContentType+"\r\n"+headers+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}

// panicked is a panic caught at the edge.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("panic: %v\n%s", p.value, strings.TrimSpace(string(p.stack)))
}

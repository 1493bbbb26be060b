package rules

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of error that a caller of the API can meet. Compare with errors.Is; proxy owns the one table that maps a
// kind to an HTTP status and an envelope.
var (
	ErrWrongCall  = errors.New("wrong call")        // an invalid request or parameter
	ErrPermission = errors.New("permission denied") // a missing or invalid key, or a missing permission
	ErrNotFound   = errors.New("not found")         // a resource that does not exist
	// ErrUnavailable marks a temporary failure: a view not loaded yet, an unreachable store, a limit on time or load.
	ErrUnavailable = errors.New("unavailable")
)

// Error says what is wrong with a request, in words that help its sender to correct it.
type Error struct {
	Kind  error  // one of the sentinels above
	Param string // the invalid request parameter; empty if none is to blame
	// Where is the place inside the parameter, such as a filter path ("$or.1.year.$gte") or an offset ("offset 12");
	// it is empty for the whole parameter.
	Where  string
	Reason string // what is wrong, in one short sentence
}

// Wrongf returns a wrong-call error for the named parameter.
func Wrongf(param, where, format string, args ...any) *Error {
	return &Error{Kind: ErrWrongCall, Param: param, Where: where, Reason: fmt.Sprintf(format, args...)}
}

// Error returns parameter, place and reason in this order, without empty parts.
func (e *Error) Error() string {
	s := e.Reason
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	if e.Param != "" {
		s = e.Param + ": " + s
	}
	return s
}

// Unwrap returns the kind, so that errors.Is(err, ErrWrongCall) holds.
func (e *Error) Unwrap() error { return e.Kind }

// RetryError is a failure that ends after a known time.
type RetryError struct {
	Err   error
	After time.Duration
}

// Error returns the failure's text.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *RetryError) Unwrap() error { return e.Err }

// RetryAfter returns the time after which to retry.
func (e *RetryError) RetryAfter() time.Duration { return e.After }

// failure is the panic value of Fail.
type failure struct{ error }

// Fail ends a parser or an evaluation with an error, which the deferred Catch of the function that began it returns.
func Fail(err error) { panic(failure{err}) }

// Catch recovers from a Fail when it is deferred, and sets the error of the deferring function.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

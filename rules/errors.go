package rules

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of error a caller of the API can meet. Compare with errors.Is; proxy
// owns the one table that maps a kind to an HTTP status and an envelope
// (API.md: Errors).
var (
	// ErrWrongCall marks a request or parameter that cannot be answered.
	ErrWrongCall = errors.New("wrong call")
	// ErrPermission marks a missing or invalid key, or a missing permission.
	ErrPermission = errors.New("permission denied")
	// ErrNotFound marks a resource that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable marks an answer that cannot be given right now: a view not
	// loaded yet, a store out of reach, a limit on time or load.
	ErrUnavailable = errors.New("unavailable")
)

// Error is what was wrong with a request, in words by which its sender can mend it.
type Error struct {
	// Kind is one of the sentinels above.
	Kind error
	// Param names the request parameter at fault; empty when none is.
	Param string
	// Where is the place inside the parameter, such as a filter path
	// ("$or.1.year.$gte") or an offset ("offset 12"); empty for the whole.
	Where string
	// Reason says in one short sentence what was wrong.
	Reason string
}

// Wrongf returns a wrong-call error for the named parameter.
func Wrongf(param, where, format string, args ...any) *Error {
	return &Error{Kind: ErrWrongCall, Param: param, Where: where, Reason: fmt.Sprintf(format, args...)}
}

// Error gives parameter, place and reason in this order, leaving out what is empty.
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

// RetryError is a failure that lasts for a known time.
type RetryError struct {
	Err   error
	After time.Duration
}

// Error is that of the failure.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *RetryError) Unwrap() error { return e.Err }

// RetryAfter is how long it lasts.
func (e *RetryError) RetryAfter() time.Duration { return e.After }

package citation

import "time"

// retryError is a failure that lasts for a known time.
type retryError struct {
	error
	after time.Duration
}

// Unwrap returns the failure.
func (e *retryError) Unwrap() error { return e.error }

// RetryAfter returns how long a repeated query would fail.
func (e *retryError) RetryAfter() time.Duration { return e.after }

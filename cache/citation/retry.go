package citation

import "time"

// retryError is a failure that is known to last for a while.
type retryError struct {
	error
	after time.Duration
}

// Unwrap returns the failure itself.
func (e *retryError) Unwrap() error { return e.error }

// RetryAfter is how long the question is not worth asking again.
func (e *retryError) RetryAfter() time.Duration { return e.after }

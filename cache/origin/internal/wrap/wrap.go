// Package wrap adds to errors what a store was asked for.
package wrap

import (
	"fmt"
	"iter"
)

// Error puts a formatted text before *err, unless that is nil. Deferred as the first
// statement of a method, it makes every error of the method name call and arguments.
func Error(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// Each puts a formatted text before each error that items yields.
func Each[T any](items iter.Seq2[T, error], format string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			Error(&err, format, args...)
			if !yield(item, err) {
				return
			}
		}
	}
}

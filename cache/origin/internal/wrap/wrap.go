// Package wrap adds the request to errors of a store.
package wrap

import (
	"fmt"
	"iter"
)

// Error puts a formatted text before *err, unless that is nil. A method that defers it first
// names call and arguments in all its errors.
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

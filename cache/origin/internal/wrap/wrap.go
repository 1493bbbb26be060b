// Package wrap adds the operation to errors of a store.
package wrap

import (
	"fmt"
	"iter"
)

// Error prefixes *err with a formatted text, unless it is nil. A method that defers it first names the call and its
// arguments in all its errors.
func Error(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// Each prefixes each error that items yields with a formatted text.
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

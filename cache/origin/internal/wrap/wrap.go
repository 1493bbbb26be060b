// Package wrap has what stores do with errors in common.
package wrap

import (
	"fmt"
	"iter"
)

// Error prefixes *err, unless it is nil. A method that defers it first names the call and its arguments in all
// errors.
func Error(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// Do calls fn with each item, up to the first error of either.
// The loop over items ends there.
func Do[T any](items iter.Seq2[T, error], fn func(T) error) error {
	for item, err := range items {
		if err == nil {
			err = fn(item)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

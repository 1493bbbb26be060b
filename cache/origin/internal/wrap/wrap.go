// Package wrap adds to errors what a store was asked for.
package wrap

import "fmt"

// Error puts a formatted text before *err, unless that is nil. Deferred as the first
// statement of a method, it makes every error of the method name call and arguments.
func Error(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

package materialize

import (
	"fmt"
	"runtime/debug"
)

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard calls fn and returns its panic as an error.
func guard[T any](fn func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return fn()
}

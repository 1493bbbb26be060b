package filter

// failure wraps the first error of the parser or of an expression, which panics with it.
// It does not leave the package.
type failure struct{ error }

// caught recovers a failure, as the error of the caller that defers it.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

package filter

// failure is what the parser and expressions panic with at the first error: what they read
// or compute is of no use behind it. It does not leave the package.
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

package filter

// failure is the panic value with which the parser or an expression reports its first error. It does not leave the
// package.
type failure struct{ error }

// catch, when deferred, recovers a failure and sets it as the caller's error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

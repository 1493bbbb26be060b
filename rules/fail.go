package rules

// failure is the panic value of Fail.
type failure struct{ error }

// Fail ends a parser or an evaluation with an error, which the deferred Catch of the function that began it returns.
func Fail(err error) { panic(failure{err}) }

// Catch recovers from a Fail when it is deferred, and sets the error of the deferring function.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

// Package traffic records the outcomes of requests for the other server:
//
//	State     whether it answers, since when, and why not        (state.go)
//	Counts    the requests for some of its paths, as metrics     (recorder.go)
//	Status    both, in the form that operators see               (status.go)
//
// A Recorder has all of them. Its callers report each outcome; nothing here sends a request. The Recorder belongs
// to the process and not to its settings, so that its counts survive a reload.
package traffic

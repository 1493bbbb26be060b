// Package response answers requests by plans.
//
//	Planner    caches the Plan of a URL                            (plan.go, planner.go)
//	Planning   is how a plan reads views and the clock, and records which snapshots
//	           it holds for; Snapshots are what an answer is made from       (snapshots.go)
//	Responder  negotiates, looks the answer up, sets the headers and sends the
//	           bytes or 304         (responder.go, negotiate.go, headers.go, fields.go,
//	           ignored.go, ages.go)
//	request    computes an answer that is not in memory, to be kept; compresses
//	           a large one in the background                                  (evaluate.go)
//	stream     sends a body while it is made, in one turn that is paused while
//	           the client does not read                                       (stream.go)
//	Body       an evaluated answer: an iterator of pieces, which several
//	           processors make if the rows are costly                         (body.go, parts.go)
//	Popular    remembers some of the answered queries, to answer them from the
//	           next snapshot before it is shown                               (popular.go)
//
// A Responder uses one generation of settings; Planner, Popular and the cache of answers outlive it. The package
// keeps no memory of Fiber after a handler has returned.
package response

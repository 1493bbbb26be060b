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
// A request takes this way. Each step may end it:
//
//  1. The plan of its URL, from the Planner or made for it, and the snapshots that the plan names.
//  2. The headers that need no body: caching, age, what is ignored. Strict handling is an error here.
//  3. The key: plan, snapshots and coding. If an answer with this key is kept, it is sent, or 304.
//  4. Otherwise one of the requests for the key evaluates the plan, within the deadline of the request, and the
//     others wait for its answer. It is kept, unless it is too large.
//  5. An answer that is too large, or for which there is too little memory, is streamed, and not kept.
//
// If a view moves on during these steps, all of them begin again, a few times. A request that repeats one of the same
// connection may skip them: Hit checks that the header would be the same, and finds the body in memory.
//
// A Responder uses one generation of settings; Planner, Popular and the cache of answers outlive it. The package
// keeps no memory of Fiber after a handler has returned.
package response

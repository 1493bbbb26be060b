// Package response turns plans into responses: what will be answered, by which bytes, with
// which headers.
//
//	Planner    keeps the Plan of a URL                                         (plan.go)
//	Responder  negotiates, looks for a kept answer or has one computed, sets
//	           the headers, sends the bytes or 304                            (responder.go, headers.go)
//	Body       an evaluated answer: an iterator of byte pieces                (body.go)
//	request    one whose answer is not in memory: the answer is computed to be
//	           kept, or compressed in the background if it is large           (evaluate.go)
//	Stream     a body too large to keep is made while it is sent, in one turn
//	           that is paused while the client does not read                  (stream.go)
//	parts      pieces of a body that are made on several processors           (parts.go)
//	Popular    a sample of the queries answered, to answer them from the next
//	           snapshot before it is shown                                    (popular.go)
//
// A Responder works by one generation of settings; Planner, Popular and the cache of
// answers outlive it. Nothing that Fiber hands out is kept after its handler has returned.
package response

// Package listener accepts connections and bounds their cost: their number, in total and per client, their memory and
// their time.
//
//	Listener  counts connections, refuses those beyond the limits and closes idle ones
//	Conn      passes one whole request head at a time to the HTTP server, unless a shortcut
//	          answers it, ends when the client is silent, sends or reads for too long, and
//	          keeps the reservation of memory of a response until it is sent
//	Stream    counts what it sends of a body while that is made; ends with the connection
//	          where its length is unknown and the client has no chunks
//	Head      has the fields of a request as they were sent, split once; Check refuses one
//	          that another server could have read differently
//
// It is the stage before the HTTP server and does not depend on routes, callers or settings beyond its Options. A
// Listener is safe for concurrent use; a Conn belongs to one goroutine, but its Listener may close the network
// connection.
package listener

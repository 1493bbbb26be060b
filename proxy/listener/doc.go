// Package listener accepts connections and bounds what each may cost: how many there are
// at a time, in all and of one client, how much memory each holds and for how long.
//
//	Listener  counts connections, refuses those beyond the limits and closes idle ones
//	Conn      gathers one whole request head at a time before the HTTP server sees it,
//	          ends where a client is silent, or sends or reads, for too long, and keeps
//	          the reservation of memory of a response until it is sent
//	CheckHead refuses a head that another server could have read otherwise
//
// It is the stage before the HTTP server: it knows no route, no caller and no setting but
// its Options. A Listener is safe for concurrent use; a Conn belongs to one goroutine, while
// its Listener may close the network connection.
package listener

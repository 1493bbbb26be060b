// Package proxy is the HTTP front end: parameters in, envelope out.
//
// The path of one request:
//
//	listener   counts connections and gathers request headers in little memory
//	shortcut   answers a request that repeats one of the same second            (shortcut.go)
//	edge       request id, panics, errors to envelopes, log, metrics            (edge.go)
//	settings   one generation of keys, rights and labels, read once per request (settings.go)
//	auth       the caller, admitted by client, session, API key and rate
//	query, api parameters to a response.Plan: a canonical query and how to
//	           build its body; one file per resource
//	response   keeps plans and answers, negotiates, sets the headers, sends
//	           the bytes or streams them
//
// There are two listeners with an app each: the public one and the operator's. Handlers keep nothing of Fiber's
// memory after they have returned. A *Server is safe for concurrent use.
package proxy

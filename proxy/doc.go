// Package proxy is the HTTP front end: parameters in, envelope out (API.md).
//
// The way of one request:
//
//	edge      request id, panics, errors to envelopes, log, metrics     (edge.go)
//	admit     query copied out of Fiber's buffers, session, API key     (admit.go, auth.go, session.go)
//	resource  parameters to a plan: a snapshot, a canonical query and    (activities.go, html.go, …)
//	          how to build the body
//	send      cache/result by that query, one flight per key; ETag,     (respond.go)
//	          304, codings; what is too large to keep is streamed       (stream.go)
//
// A resource reads parameters, names what it will answer, and says how; it
// never touches the response. A page is a concatenation of fragments prepared
// once per row (rows.go) and declared, with the views, by Views.
//
// Rows of a view are taken to be clean: HTML in them has passed the allow-list
// of rules/markup when they were materialized.
//
// Two listeners, two apps: the public one (App, Serve) and the operator's
// (AdminApp, ServeAdmin). Nothing that Fiber hands out is kept after its handler
// has returned. A *Server is safe for concurrent use.
package proxy

// Package proxy is the HTTP front end: parameters in, envelope out (API.md).
//
// The way of one request:
//
//	listener  connections counted, headers gathered in little memory     (package listener)
//	edge      request id, panics, errors to envelopes, log, metrics     (edge.go)
//	admit     who asks, how often; session, API key                     (client.go, rate.go, admit.go, auth.go, session.go)
//	plan      parameters, copied out of Fiber's buffers, to a canonical  (planner.go; one file per resource:
//	          query and how to build its body; remembered by URL         activities.go, html.go, …)
//	answer    cache/result by view, generation and that query, one       (respond.go)
//	          flight per key; ETag, 304, codings
//	stream    what is too large to keep, even compressed, is made        (large.go, stream.go)
//	          while it is sent
//
// A resource reads parameters, names what it will answer, and says how; it
// never touches the response. A page is a concatenation of fragments prepared
// once per row (rows.go) and declared, with the views, by Views.
//
// An answer about one person is planned anew for each request: from the row of a
// view, or from the source's record while the view has none yet (persons.go,
// person_lookup.go). So is one that depends on the day or the year, which are part of
// its canonical query: it is right at midnight without anything being rebuilt, and
// no cache outside is told to keep it longer.
//
// Rows of a view are taken to be clean: HTML in them has passed the allow-list
// of rules/markup when they were materialized.
//
// Two listeners, two apps: the public one (App, Serve) and the operator's
// (AdminApp, ServeAdmin). Nothing that Fiber hands out is kept after its handler
// has returned. A *Server is safe for concurrent use.
package proxy

// Package proxy is the HTTP front end: parameters in, envelope out (API.md).
//
// The way of one request:
//
//	listener   counts connections and gathers request headers in little memory
//	edge       request id, panics, errors to envelopes, log, metrics            (edge.go)
//	settings   one generation of keys, rights and labels, read once per request (settings.go)
//	auth       who asks, and may they: client, session, API key, rate
//	resource   parameters to a response.Plan: a canonical query and how to      (resource.go; one file
//	           build its body                                                    per resource)
//	response   keeps plans and answers, negotiates, sets the headers, sends
//	           the bytes or streams them
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

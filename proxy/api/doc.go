// Package api plans the answers of the API (API.md), one file for each resource. A Handler
// reads the parameters of a Request, names what it will answer, and says how: it returns a
// response.Plan and never touches the response. Env holds what handlers share.
//
// Most answers are a listing (listing.go): a view, a filter, a page and an order. It becomes
// a plan in one of several forms, which names the rows that the answer shows:
//
//	parameters ──▶ listing ──rows, groups, full──▶ Plan ──select──▶ Selection ──rowFunc──▶ body
//
// A parameter that cannot be read does not stop a handler: query.Params records the first
// error, and Routes returns it in place of the plan.
//
// A row is a concatenation of fragments prepared once per record (fragments.go) and declared,
// with the views, by Views. Rows are taken to be clean: HTML in them has passed the
// allow-list of rules/markup when they were materialized.
//
// An answer about one person is planned anew for each request: from the row of a view, or
// from the source's record while the view has none yet (persons.go, person_lookup.go). So
// is one that depends on the day or the year, which are part of its canonical query: it is
// right at midnight without a rebuild, and no cache outside keeps it longer.
package api

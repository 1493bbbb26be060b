// Package api plans the answers of the API, one file for each resource. A Handler reads the parameters of a
// Request and returns a response.Plan: a name for the answer, and a function that builds it. It never touches the
// response. Handlers share an Env.
//
// Most answers are a listing (listing.go): a view, a filter, a page and an order. It becomes a plan in one of several
// forms:
//
//	parameters ──▶ listing ──rows, groups, full──▶ Plan ──select──▶ Selection ──rowFunc──▶ body
//
// An invalid parameter does not stop a handler: query.Params records the first error, and Routes returns it in place
// of the plan.
//
// A row is joined from fragments, which are encoded once for each record (fragments.go). Views declares them. The
// package does not sanitize HTML in rows: materialize has done so.
//
// Plans for one person are not kept: they depend on the row of a view, or on the stored record while the view does
// not have it yet (persons.go, person_lookup.go). Plans that depend on the day or the year have it in their canonical
// query, so that the answer is right at midnight without a rebuild, and no outside cache keeps it longer.
//
// What each file answers:
//
//	activities, all_activities, html    lists of activities
//	spectrum_activities                 the activities of one topic of the spectrum, by score
//	projects, funding                   projects and proposals, as data and as a table
//	search, search_groups               /api/search: arrays unwound to rows, rows grouped with figures
//	persons, person_lookup, users       one person, and the user of a session
//	events, portfolio_spectrum          views as a whole, and the summary of topics
//	levenshtein, citation_index         answers without an envelope
//	listing, fragments, translate       what they share
//	routes, env                         paths to handlers, and what handlers read
//
// The promise to package result: on the same snapshots equal queries of a plan mean equal bytes. So a handler puts
// all that its rows depend on into the query: columns, language, page, the form of citations, and for an answer of
// one user the user. What is left out there is a wrong answer from the cache, not a slow one.
package api

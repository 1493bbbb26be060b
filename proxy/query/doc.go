// Package query reads the query string of a request: parameters, pages, columns and filters. Read copies the
// pairs; a handler then reads parameters from Params, and the caller's filter with a Reader. The filter may be JSON
// or brackets: json={"year":{"$gte":2020}} or filter[year][$gte]=2020. Both become a filter.Filter.
//
// Params records which parameters and stored fields a handler reads, so that an answer can name those without effect,
// and the first error. The package does not depend on HTTP or views, and every error is a *rules.Error that names the
// parameter.
package query

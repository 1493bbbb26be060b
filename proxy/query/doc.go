// Package query reads the query string of a request: parameters, pages, columns and
// filters (API.md). Read copies the pairs; a handler then asks Params for what it
// needs, and a Reader for the caller's filter, which may be JSON or brackets:
// json={"year":{"$gte":2020}} or filter[year][$gte]=2020. Both become one filter.Filter.
//
// Params records which parameters and stored fields a handler reads, so that an answer
// can name those that have no effect, and the first error. The package knows neither HTTP nor views, and
// every error is a *rules.Error that names the parameter.
package query

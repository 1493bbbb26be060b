// Package selection finds the public rows that a question selects, in their order and groups,
// and counts them by the values of filters.
//
//	Question ──On a snapshot──▶ Matches ──▶ Entries   rows, in groups
//	                                    ├─▶ Facets    counts under the other filters
//	                                    └─▶ Size      of records, of pages
//
// Rows are selected and divided by their marks (rules/mark) alone.
package selection

// Package selection finds the public rows that a request for a list selects, in their order and groups, and counts
// them by the values of filters.
//
//	Question ──On a snapshot──▶ Matches ──▶ Entries   rows, in groups
//	                                    ├─▶ Facets    counts under the other filters
//	                                    └─▶ Size      of records, of pages
//
// It selects and divides rows only by their marks (rules/mark).
package selection

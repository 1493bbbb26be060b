// Package selection finds the public rows that a request for a list selects, in their order and groups, and counts
// them by the values of filters.
//
//	Question ──On a snapshot──▶ Matches ──▶ Entries   rows, in groups
//	                                    ├─▶ Facets    counts under the other filters
//	                                    └─▶ Size      of records, of pages
//
// It selects and divides rows only by their marks (rules/mark), so that stored fields of any type cannot disturb
// it.
//
// A view is in memory or in a store, and both give the same list. In memory, a list is divided part by part: a
// count costs little there, since each value has its set of rows. A store answers queries, so together asks for all
// counts of a list by one query, and leaves tells from them which rows are on a page.
//
// Labels of pages stand for values in requests: Values finds the values, by tables that Tables keeps for each
// snapshot.
package selection

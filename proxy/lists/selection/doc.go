// Package selection finds the rows of a list: those that are public and that a question asks
// for, in their order and groups, and how many there are by each value of a filter.
//
//	Question ──On a snapshot──▶ Selection ──▶ Entries   rows, in groups
//	                                      ├─▶ Facets    counts under the other filters
//	                                      └─▶ Size      of records, of pages
//
// Rows are selected and divided by their marks (rules/mark) alone.
package selection

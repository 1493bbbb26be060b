// Package selection finds the rows of a list: those that are public and that a query asks
// for, in their order and groups, and how many there are by each value of a filter.
//
//	New ──▶ Selection ──On──▶ of a snapshot ──▶ Entries   rows, in groups
//	                                        ├─▶ Facets    counts under the other filters
//	                                        └─▶ Size      of records, of entries
//
// Rows are selected and divided by their marks (rules/mark) alone. It is safe for concurrent
// use.
package selection

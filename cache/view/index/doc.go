// Package index answers any filter from rows in memory. It does not depend on a store.
//
// A Table has the rows of one generation, is immutable and read without locks. A Builder makes it from rows, or from
// the previous table and the changed rows.
//
// A table is a short list of segments. A segment is a batch of rows that never changes; it owns the values that are
// derived from its rows and built on first use: path indexes, columns to count by, words and fragments. A refresh
// puts the changed rows into a new small segment and marks the versions that they replace as dead, so that the new
// table shares everything derived from unchanged rows. When small segments or dead rows add up, they are folded into
// one.
//
// A row is addressed by its Slot, its position in the concatenation of a table's segments. Sets of rows are bitmaps
// over slots, and filters are evaluated as algebra on such sets: a condition on a path is decided once per distinct
// value of the path's index (see pathIndex), and $and, $or, $nor and $not combine sets. Conditions that an index
// cannot decide, such as $elemMatch on documents, are confirmed row by row with the matcher of rules/filter, which is
// the reference for all of it.
//
// The way of a query, with the file of each step:
//
//	Table.Select ─▶ eval     nodes of the filter, sets of slots       eval.go
//	                 ├─▶ lookup   a leaf by its path's index          lookup.go, text.go
//	                 └─▶ confirm  the reference matcher, row by row   eval.go, verdict.go
//	Subset ─▶ Rows     in the view's order, By or ByRelevance         subset.go, sorted.go, search.go
//	       ─▶ Runs     joined fragments                               subset.go, fragment.go
//	       ─▶ Group, Facet   counts by columns                        group.go, facet.go, column.go
//
// Everything that is derived from rows is in the Budget of all views (budget.go), which drops what requests have
// not used for the longest time. A request that needs a dropped value derives it again: the budget bounds memory,
// and never decides what an answer says.
//
// Work for a request runs in its turn (package fair): each loop over rows, values or groups checks the turn about
// every millisecond, so that a costly filter of one client delays no other client, and ends when its client has
// left.
package index

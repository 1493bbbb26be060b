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
package index

// Package index answers any filter from rows in memory. It knows no store.
//
// A Table is the rows of one generation, immutable and read without locks. A Builder
// makes it from rows, or from the table before and the rows that changed.
//
// Inside, a table is a short list of segments. A segment is a batch of rows
// that never changes again; it owns what is derived from its rows and built on
// first use: path indexes, columns to count by, words and fragments. A refresh puts the changed
// rows into a new small segment and marks the versions they replace as dead, so
// that everything derived from unchanged rows is shared with the table before.
// When small segments or dead rows add up, they are folded into one.
//
// A row is addressed by its Slot, its position in the concatenation of a
// table's segments. Sets of rows are bitmaps over slots, and filters are
// evaluated as algebra on such sets: a condition on a path is decided once per
// distinct value of the path's index (see pathIndex), $and, $or, $nor and $not
// combine sets, and what an index cannot decide, such as $elemMatch on
// documents, is confirmed row by row with the matcher of rules/filter, which is
// the reference for all of it.
package index

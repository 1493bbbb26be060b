// Package filter implements MongoDB's query language: a filter is parsed and validated once, then
// matched against any number of documents.
//
//	JSON text ──ejson──▶ BSON ──Parse──▶ Filter (Nodes, Tests, Paths) ──Match──▶ yes or no
//	                                        └──Key──▶ canonical text for caches
//
// A Filter is a tree of Nodes. Logical nodes (AndNode, OrNode, NotNode) combine others; a Leaf
// holds if any value that raw.Walk yields on a path passes a Test; an Elem is $elemMatch; an
// ExprNode is $expr. Everything is exported, because two evaluators read the same tree:
// Filter.Match, row by row, which is the reference, and the index evaluation of the views, which
// runs each Test once per distinct value and must return the same answer.
//
// # The rules that surprise
//
// raw.Walk sees what MongoDB's matching sees. At the end of a path an array is tested element by
// element and then as a whole, one level deep; an element picked by a numeric part is only tested
// as a whole. In the middle of a path an array is searched through its sub-documents, and a numeric
// part is tried both as index and as field name. A path without a value yields one missing value,
// except inside an array without sub-documents, where it yields nothing at all.
//
// Negations ($ne, $nin, $not, $nor, $exists: false) negate the whole traversal: they are a NotNode around the
// positive leaf. Comparisons are bracketed by type; undefined and missing count as null, as in MongoDB 6 and 7.
// Numbers are compared exactly across int32, int64, double and decimal128. NaN equals NaN and sorts below every
// number, but no $gt or $lt holds for it.
//
// Regular expressions have PCRE2 syntax and meaning (UTF, ASCII classes). They run on Go's engine if it can express
// them, and otherwise on a backtracking engine under a time limit.
//
// $expr evaluates the operators of the table in expr_table.go, over field paths, the variables
// $$ROOT, $$CURRENT, $$NOW and $$REMOVE, and that of $filter. raw.Field evaluates "$a.b", for
// groups and sums, too. The parser computes everything that does not depend on a document. If an
// operator cannot take a value, the filter fails: conditions with an expression are evaluated last,
// and only on documents that the other conditions do not decide. The work on one document is
// bounded.
//
// Expressions are exact or not evaluated. With another operator the whole filter is a ForeignNode,
// for a database. A value that only a database computes with, such as a decimal in arithmetic, is
// known when a document is matched: that match ends with ErrNotInMemory, and Filter.Foreign is the
// filter to ask the database instead.
//
// A new operator of expressions is a line of expr_table.go and a function of a frame.
//
// # Promise
//
// Filters are immutable after Parse and safe for concurrent use. Malformed BSON never panics: an unreadable value
// counts as missing. Errors are *rules.Error of kind rules.ErrWrongCall that name the place inside the filter, such
// as "$or.1.year.$gte". Valid MongoDB that this package does not evaluate has the kind ErrNotInMemory, which is an
// ErrWrongCall, too.
package filter

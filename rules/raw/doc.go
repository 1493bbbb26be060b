// Package raw reads encoded BSON without decoding it: the elements of documents, the values at
// a dotted path for a filter (Walk), an aggregation expression (Field) and a sort
// (SortField.Key), the order of values, and numbers of any type.
//
// The values that functions return point into the document. Reading malformed input ends early and never panics;
// Check reports whether a document is well-formed. All functions are safe for concurrent use.
package raw

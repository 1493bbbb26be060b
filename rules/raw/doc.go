// Package raw gives encoded BSON its meaning, for every package that reads documents
// without decoding them: how to step through elements, what a dotted path leads to for a
// filter (Walk), an aggregation expression (Field) and a sort (SortField.Key), how two
// values compare, and what a number of any type is.
//
// Functions read documents in place: values that they return point into the document.
// Input that is malformed ends early and never panics; Check reports whether a document
// is well-formed. All functions may be called concurrently.
package raw

// Package ejson reads and writes MongoDB Extended JSON v2: filters and imported
// lines become BSON, BSON becomes the JSON of responses.
//
// # Reading
//
// Parse goes over the text once and appends BSON to one buffer, never building
// values in between. Every object is first written as the document it looks
// like; when it closes and its keys turn out to be exactly those of a type
// wrapper ({"$oid": …}, {"$date": …}), the few bytes just written are replaced by
// the value it stands for. Wrappers therefore need no look-ahead, and their keys
// may come in any order.
//
// The text may come from anybody. Memory is linear in its length, the stack is
// bounded by Options.MaxDepth, and what is not strict JSON in valid UTF-8 is
// refused, as is a repeated key: a filter that says {"year": 1, "year": 2} would
// silently lose a condition. Every error is a *rules.Error that tells the offset.
//
// What a reader of Extended JSON may decide, decided:
//
//   - An integer is an int32 if it fits, else an int64, else a double; a number
//     with a fraction or an exponent is a double. A number too large for a double
//     is an error, not infinity.
//   - An object with a wrapper's keys and others beside them is a plain document;
//     one with exactly a wrapper's keys and a malformed value is an error.
//   - The outermost object given to Parse is always a document.
//   - {"$regex": …, "$options": …} is an operator document, unless
//     Options.RegexValues says that documents are read, not filters.
//   - The options of a regular expression are put in alphabetical order, as
//     MongoDB stores them.
//   - A date may be a day alone ("2024-01-31", midnight UTC), leave out the seconds,
//     and write its zone as Z, ±hh:mm, ±hhmm or ±hh; what is below the millisecond
//     is cut off.
//
// # Writing
//
// Append and AppendDocument write relaxed Extended JSON onto a buffer and allocate
// nothing else. Their output is valid JSON whatever bytes they are given: a value
// that cannot be read is written as null and ends the document it stands in,
// bytes that are no UTF-8 become U+FFFD, and nesting beyond 200 levels, which
// MongoDB does not store, becomes null.
//
// Writing and reading again gives the same BSON, except for what relaxed Extended
// JSON cannot tell: an int64 that fits an int32 comes back as one, every NaN as the
// same NaN, the keys of array elements as "0", "1", …, and a document that looks
// like a wrapper as what the wrapper stands for.
//
// All functions are safe for concurrent use.
package ejson

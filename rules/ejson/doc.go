// Package ejson reads and writes MongoDB Extended JSON v2: filters and imported
// lines become BSON, BSON becomes the JSON of responses.
//
// # Reading
//
// Parse reads the text once and appends BSON to one buffer, without intermediate values. It first writes every
// object as a document. If the object ends with exactly the keys of a type wrapper ({"$oid": …}, {"$date": …}),
// Parse replaces the bytes just written with the wrapper's value. Wrappers therefore need no look-ahead, and their
// keys may come in any order.
//
// The text may come from any client. Memory is linear in its length, and Options.MaxDepth bounds the stack. Parse
// refuses text that is not strict JSON in valid UTF-8, and repeated keys: a filter {"year": 1, "year": 2} would
// silently lose a condition. Every error is a *rules.Error with the offset.
//
// Decisions that Extended JSON leaves to its readers:
//
//   - An integer is an int32 if it fits, else an int64, else a double; a number with a fraction or an exponent is a
//     double. A number too large for a double is an error, not infinity.
//   - An object with a wrapper's keys and others beside them is a plain document;
//     one with exactly a wrapper's keys and a malformed value is an error.
//   - The outermost object of Parse is always a document.
//   - {"$regex": …, "$options": …} is an operator document, unless
//     Options.RegexValues says that documents are read, not filters.
//   - The options of a regular expression are put in alphabetical order, as MongoDB stores them.
//   - A date may be a day alone ("2024-01-31", midnight UTC), leave out the seconds,
//     and write its zone as Z, ±hh:mm, ±hhmm or ±hh; Parse cuts it to milliseconds.
//
// # Writing
//
// Append and AppendDocument write relaxed Extended JSON to a buffer and allocate nothing else, but for decimals.
// Their output is always valid JSON: a malformed value becomes null and ends its document, bytes that are not UTF-8
// become U+FFFD, and nesting beyond 200 levels, which MongoDB does not store, becomes null.
//
// Writing and reading again gives the same BSON, except for details that relaxed Extended JSON does not express: an
// int64 that fits an int32 becomes one, every NaN the same NaN, the keys of array elements "0", "1", …, and a
// document that looks like a wrapper the wrapper's value.
//
// All functions are safe for concurrent use.
package ejson

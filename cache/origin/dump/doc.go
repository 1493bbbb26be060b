// Package dump reads what institutes export from their database and loads it into a store's source collections.
//
// # From file to store
//
//	paths ──Open──▶ Dump: one Source per file ──Documents──▶ collection, document, place
//	                                                             │
//	Load:  first reading   check every document, write nothing, note the last place of each _id
//	       second reading  upsert the last document of each _id in batches
//	       with Drop       at last, delete the documents that the dump does not hold
//
// The formats are lines of Extended JSON (.jsonl, .ndjson, .json, also one JSON array), BSON files and folders as
// mongodump writes them, and its --archive files, each with or without gzip. Open recognises archives and gzip by
// their first bytes, other formats by name or, if that does not tell, by content.
//
// # Promises
//
// A dump with one malformed document changes nothing: Load reads everything before it writes anything. Damage that
// hides the rest of a file (cut off, a broken gzip stream, a wrong checksum) always stops; SkipBad skips single bad
// documents. Memory is bounded by the largest document, one batch and some 50 bytes for each _id. Reading ends even
// if no document comes: a file, which must be a regular one, has a limit on the bytes after its last document,
// standard input on all its bytes.
//
// To repair an interrupted import, run it again: it gives a document without _id the same one (see Load), and
// deletes nothing before it has stored everything.
//
// A Dump is used by one goroutine at a time.
package dump

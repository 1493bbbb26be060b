// Package dump reads what institutes export from their database and loads it
// into a store's source collections.
//
// # From file to store
//
//	paths ──Open──▶ Dump: one Source per file ──Documents──▶ collection, document, place
//	                                                             │
//	Load:  first reading   every document checked, nothing written, last place of each _id noted
//	       second reading  the last document of each _id upserted in batches
//	       with Drop       what the dump does not hold is deleted, last
//
// The formats are lines of Extended JSON (.jsonl, .ndjson, .json, also one JSON
// array), BSON files and folders as mongodump writes them, and mongodump's
// --archive files, each with or without gzip. Archives and gzip are recognised by
// their first bytes, whatever the file is called; the rest by the file's name
// and, where that says nothing, by content.
//
// # Promises
//
// A dump with one malformed document changes nothing: Load reads everything
// before it writes anything. Damage that hides what follows (a cut-off file, a
// broken gzip stream, a wrong checksum) always stops; a single bad document can
// be passed over with SkipBad. Memory is bounded by the largest document, one
// batch and some 50 bytes for each _id. What never brings a document ends: a file, which
// is a regular one, by the bytes behind its last document, standard input by all its bytes.
//
// An import that was interrupted, by whatever, is repaired by running it again:
// a document's _id is the same each time, also where the dump has none (see
// Load), and nothing is deleted before everything is stored.
//
// A Dump is used by one goroutine at a time.
package dump

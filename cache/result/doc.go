// Package result keeps answers that have already been computed, so that a
// popular request costs one look-up.
//
// The way of one request:
//
//  1. Get looks the key up; a hit is returned as it is.
//  2. On a miss the caller joins the flight for its key, or starts it. However
//     many callers there are, one of them computes.
//  3. Inside the flight the key is looked up once more: another flight for the
//     same key may have ended between this caller's look-up and its take-off.
//  4. The loader runs under the cache's own deadline, not the first caller's: a
//     client that hangs up takes nothing away from those who wait beside it. When
//     the last of them has left, it ends. No more than Options.Parallel loaders run
//     at a time, in the order of package fair, which also sets those apart that
//     take long.
//  5. What it returns is stored and handed to everybody in the flight.
//
// A key names everything an answer depends on, the view's generation included;
// an entry is therefore never wrong, only unused, and nothing is ever
// invalidated. An answer of a new generation takes the place of the one before, so
// that what nobody asks for any more takes up no room, and what is popular stays so
// from one generation to the next; the rest is pushed out by others or by its age.
//
// Before a new generation is shown, Prepare computes an answer that is popular, so
// that nobody waits for it.
//
// ristretto may drop a store by design, which costs a computation and nothing
// else: the cache never holds the only copy of anything.
//
// A key with a coding stands for the compressed form of the key without: it is
// loaded by taking the plain answer, through the cache, and compressing it once.
//
// A *Cache is safe for concurrent use. Answers are shared and must not be changed.
package result

// Package result caches computed answers, so that a popular request costs one look-up.
//
// The path of one request:
//
//  1. Lookup looks up the key and returns a hit unchanged.
//  2. On a miss Load joins the flight for the plain answer of the key, or starts
//     it (package flight). Concurrent callers share one computation.
//  3. The flight looks up the key once more: another flight for the same key may
//     have ended between this caller's look-up and the start of the flight.
//  4. The loader runs under the cache's own deadline, not the first caller's: if a
//     client hangs up, the others still get their answer. When the last caller
//     leaves, the load is cancelled. Package fair orders the loaders and separates
//     those that take long.
//  5. The cache stores the answer and returns it to every caller of the flight.
//  6. Callers that want a coding then wait in the same way for the flight that
//     compresses the plain answer. No flight waits for another one.
//
// A key names everything that an answer depends on, including the view's generation. An entry is therefore never
// wrong, only unused, and nothing is ever invalidated. An answer of a new generation replaces the previous one's and
// inherits its popularity. Before a new generation is published, Prepare computes the popular answers, so that no
// caller waits.
//
// Ristretto may drop an entry by design, at the cost of one computation. Large answers have a budget of their own, by
// last use: in the other they would have to be more popular than thousands of small ones.
//
// A key with a coding names the compressed form of an answer, which the cache makes once from the plain one.
//
// A *Cache is safe for concurrent use. Answers are shared and must not be changed.
package result

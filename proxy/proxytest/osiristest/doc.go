// Package osiristest has a server for tests that answers like OSIRIS 2.0: every answer sets a session cookie and
// forbids caches to keep it, bodies are pretty-printed envelopes, errors come with status 200, and pages that need a
// login redirect to it.
//
// Its answers are made from a small Institute, which a test can Edit. An answer depends on exactly the collections
// that Paths names for it, so a test can check what an edit must change and what it must not. Fail breaks the server
// in the ways in which such servers break. The server records every request with its headers and body, so that a test
// can count how often the server was asked for something, and check that nothing personal arrived.
//
// Recording has what a real OSIRIS 2.0.1 answered to 358 paths, and WriteDatabase the database that it answered from.
// Replay is a server that gives these answers again.
//
// A Server is safe for concurrent use. It waits for nothing by the clock, except while it is Slow.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package osiristest

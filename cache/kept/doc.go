// Package kept keeps answers of the other server (upstream.url) by rule, even if their headers forbid it: the
// operator declares which are public, what they depend on, and how long they are fresh (upstream.keep).
//
//	Keeper.Get ── entry is fresh ───────────────────────────────────▶ hit: no store, no server
//	        └──── stale, or none ──▶ flight (one a key in this process)
//	                                  └─▶ claim (one a key among processes)
//	                                       └─▶ the store's answer, if another process has fetched it
//	                                       └─▶ turn ──▶ fetch ──▶ judge ──▶ put
//	Keeper.Refresh ── what is stale or due, most requested first ──▶ flight
//	Keeper.Run ────── answers that other processes have put; demand that they have not read yet
//
// An entry is what is known about a kept answer, without its body; all of them are in memory. Bodies are in the
// store, and where Options.Folder is set also in files, so that they can be read while the store is down; the popular
// ones are in the cache of answers (cache/result), by their digest. What the store does not take, because it fails or
// is read-only, stays in memory or in its file, and is offered again.
//
// An answer is fresh for Rule.For after the request that gave it began, unless something that it depends on
// (Rule.Until) has changed since then. That is decided by marks: for each name a time that only grows. A process
// compares the marks in the answer with its own, so an answer becomes stale without a message to anyone. The marks of
// an answer are those before its request began: a change during the request may or may not be in it.
//
// Generations order the changes of the store, and a claim fences each: an answer that was requested before a drop, or
// by a process whose claim has expired, is not stored. Its own process sends it to the requests that waited for it,
// and does not keep it either.
//
// The package knows no HTTP server: it gets requests from package proxy, and fetches through Options.Fetch.
package kept

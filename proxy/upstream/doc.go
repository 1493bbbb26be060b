// Package upstream forwards requests to another server, such as the system that Vitrine replaces step by step. It is
// a shared HTTP cache (RFC 9111): it keeps answers by URL and the headers in Vary while they are fresh, and validates
// them after that. Concurrent requests for the same URL share one request to the other server.
//
// It never keeps answers that belong to one person: those to requests with Authorization, an API key or cookies, and
// those that set a cookie or are private. It ignores a client's Cache-Control (no-cache, max-age), since otherwise
// any client could have all its requests forwarded; the other server's counts.
//
//	Proxy.Serve ── kept and fresh ──▶ answer
//	      ├─────── pass: other methods, personal requests, ranges ──▶ forward
//	      └─────── load: kept and stale ──▶ validate ──▶ update, answer
//	                     not kept ────────▶ fetch ─────▶ keep, answer
//	                                                └──▶ forward what cannot be kept
//
// Answers on their way count as in flight, kept ones once however many clients get them. Package gate sends requests;
// policy.go decides what may be kept, and how long; entry.go is a kept answer, and store.go keeps it; flight.go
// shares requests, and fetch.go makes them; request.go and header.go make headers those of this server. whole.go
// fetches answers for Vitrine itself.
package upstream

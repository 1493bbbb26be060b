// Package upstream forwards requests to another server, such as the system that Vitrine replaces step by step. It is a
// shared HTTP cache (RFC 9111): it keeps answers by URL and the headers in Vary while they are fresh, and validates
// them after that. Concurrent requests for the same URL share one request to the other server.
//
// It never keeps answers that belong to one person: those to requests with Authorization, an API key or cookies, and
// those that set a cookie or are private. It ignores a client's Cache-Control (no-cache, max-age), since otherwise any
// client could have all its requests forwarded; the other server's counts.
//
//	Proxy.Serve ── pass: other methods, personal requests, ranges ───────────▶ fetch, stream
//	      └─────── load: kept and fresh ──▶ send
//	                     kept and stale ──▶ validate ──▶ update, send
//	                     not kept ────────▶ fetch, keep, send
//
// policy.go decides what may be kept, and how long; store.go keeps it; fetch.go requests it from the other server;
// header.go makes headers those of this server.
package upstream

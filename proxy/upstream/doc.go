// Package upstream passes requests on to another server, such as the system that Vitrine replaces step by step. It is a
// shared HTTP cache (RFC 9111): answers are kept by URL and the headers that Vary names, for as long as they are fresh,
// and validated after that. Requests for the same URL share one request to the other server.
//
// What belongs to one person is never kept: nothing that was asked with Authorization, an API key or cookies, and nothing
// that sets a cookie or is private. What a client asks of caches (no-cache, max-age) is ignored, since otherwise any
// client could send all its requests on; what the other server asks holds.
//
//	Proxy.Serve ── pass: other methods, personal requests, ranges ───────────▶ fetch, stream
//	      └─────── load: kept and fresh ──▶ send
//	                     kept and stale ──▶ validate ──▶ update, send
//	                     not kept ────────▶ fetch, keep, send
//
// policy.go says what may be kept, and how long; store.go keeps it; fetch.go asks the other server;
// header.go makes headers those of this server.
package upstream

// Package citation reads profiles and publications from an external citation index. The index has no API for
// programs: the package fetches and parses its HTML pages (openapi.json: GET /api/citation-index).
//
// The path of one query, which concurrent callers share (kept.go):
//
//	user, doc ──checked──▶ kept answer, still fresh ─────────────────────▶ answer
//	                          │ none, or too old
//	                          ▼
//	                       turn ──▶ request ──▶ parse ───────────────────▶ answer
//	                          │ failed
//	                          ▼
//	                       the old answer, as long as it may be served, or the error
//
// The index belongs to a third party, and any client may cause a query. Hence the package connects only to the
// configured host, without proxies or redirects elsewhere, checks what becomes part of a URL against a narrow
// alphabet, leaves time between requests, and pauses when the index refuses them. Time, size, redirects, waiting
// queries and kept answers are bounded. Pages are parsed leniently: a missing element gives an empty value, and a
// page without known markup never replaces a good answer.
//
// A *Client is safe for concurrent use. Its answers are shared and must not be changed.
//
// The files: client.go has the interface and the checks of what clients send, kept.go the answers that are kept,
// the turns and the pauses, fetch.go the requests, page.go what both kinds of pages share, profile.go and
// document.go one kind each.
package citation

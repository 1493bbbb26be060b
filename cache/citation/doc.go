// Package citation reads profiles and publications from an external citation
// index, which has no interface for programs: its pages are fetched and read as
// its readers see them (API.md: GET /api/citation-index).
//
// The way of one question:
//
//	user, doc ──checked──▶ kept answer, still fresh ──────────────────────▶ answer
//	                          │ none, or too old
//	                          ▼
//	                       one flight for each question ──▶ pace ──▶ fetch ──▶ parse
//	                          │ failed
//	                          ▼
//	                       the old answer, as long as it may be served, or the error
//
// The index is somebody else's, and what asks it may be anybody. Hence only the
// configured host is ever spoken to, whatever it redirects to and whatever the
// environment says of proxies; users and documents are checked against a narrow
// alphabet before they become part of a URL; requests keep a distance from each
// other, and stop for a while when the index refuses them; time, size, redirects,
// questions waiting and answers kept are all bounded. Pages are read leniently: what
// is not found is empty, and a page without anything familiar is never kept in
// place of a good answer.
//
// A *Client is safe for concurrent use. Its answers are shared and must not be
// changed.
package citation

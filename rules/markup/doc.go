// Package markup is the only place that decides which HTML Vitrine sends.
//
// Clean handles stored and rendered citations. A scanner that does not allocate recognises simple and safe HTML, the
// form that our own templates write, and returns it byte for byte. Bluemonday rewrites all other HTML under the same
// policy, and Balance closes its elements. Text removes markup from such HTML, RewriteLinks points a citation's links
// at another site, and Relink gives each link its own target. Escape is for text.
//
// Title, Plain and Paragraphs read the texts of records, which publishers, reference managers and people write with
// HTML, JATS and MathML in them: as HTML with the inline markup of titles, as words, and as paragraphs. All three
// agree on the words. They follow the HTML standard for character references and tags, MathML Core for scripts, and
// the tag library of JATS for the names of elements; see isElement for what is text instead. Restrict and Stored are
// for texts sent in the form in which they are stored.
//
// All functions are pure and safe for concurrent use, and none fails: the result is always safe to place into a page.
// It is valid UTF-8, except for strings that Stored returns unchanged.
//
//	citation  ── Clean ──▶ safe HTML ── Relink, RewriteLinks, Cut, Text
//	title     ── Title, Plain, Paragraphs ──▶ inline HTML, words, paragraphs
//	any value ── Stored, Restrict ──▶ as stored, or the markup of titles with the rest escaped
//	text      ── Escape
//
// Speed is part of the design: a start reads each citation and each title of an institute, and an answer some
// thousands, so each function has a way for texts without anything special that does not allocate.
package markup

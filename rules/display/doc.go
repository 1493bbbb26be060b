// Package display renders what projects and proposals store into what people
// read (API.md: GET /api/projects, 2): labels for codes, joined text for persons
// and units, HTML for topics, tags and organisations, "-" for nothing.
//
// It works in two steps, because labels depend on the language of a request and
// names do not. When a row is materialized, Directory.Resolve looks up the names
// of the people and organisations that the record refers to and keeps them in the
// row under Reserved. When a request is answered, Style renders a field's value
// from the row alone. The reserved field is the house's own: Strip takes it away
// before a whole record leaves.
//
// What is HTML and what is text: topics, tags, scholarship and
// funding_organization come out as HTML, everything in them escaped. All other
// strings are text and stay as they are stored, unless they hold a "<": then they
// are taken for markup, of which only what a title may carry survives. In JSON
// text "<" and ">" are written as \u003c and \u003e.
//
// All functions are pure and safe for concurrent use.
package display

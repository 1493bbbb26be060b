// Package display renders the stored fields of projects and proposals for people (openapi.json: GET /api/projects):
// labels for codes, joined text for persons and units, HTML for topics, tags and organisations, "-" for empty values.
//
// It works in two steps, because labels depend on the language of a request and names do not. For a materialized row,
// Directory.Resolve looks up the names of the people and organisations that the record refers to and stores them in
// the row under Reserved. For a request, Style renders a field's value from the row alone. Strip and AppendRecord
// leave reserved fields out of whole records.
//
// HTML and text: topics, tags, scholarship and funding_organization are rendered as HTML with all stored text
// escaped. All other strings are text and stay as stored, unless they contain a "<": then they are treated as markup
// and keep only the elements allowed in titles. JSON text has "<" and ">" as \u003c and \u003e.
//
// All functions are pure and safe for concurrent use.
package display

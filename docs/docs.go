// Package docs has the documentation that the program serves.
package docs

import _ "embed"

// Embedding is the guide to lists on the pages of other sites, in Markdown.
//
//go:embed embedding.md
var Embedding string

// Records is the guide to the records that the program reads, in Markdown.
//
//go:embed records.md
var Records string

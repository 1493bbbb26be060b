// Package csl renders the entries of bibliographies by styles in CSL 1.0.2, the Citation Style Language.
//
// A style is read once with ParseStyle and compiled for a language with Style.Renderer. Renderer.Entry then renders
// one item as HTML. Sorting, citations in text, and disambiguation by neighbouring entries are not part of this
// package: lists have their own order. An entry has slots instead, which the list fills with the number of the
// entry and with the suffix of its year (see Entry).
package csl

import "fmt"

// NumberSlot stands in an entry for its number in the list, if the style numbers entries.
const NumberSlot = "\x01"

// SuffixSlot stands in an entry where the letter goes that tells apart entries with the same authors and year.
const SuffixSlot = "\x02"

// A SyntaxError says why a style or a locale cannot be used, and in which line.
type SyntaxError struct {
	Line   int
	Reason string
}

// Error returns the line and the reason.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Marks around a part of an entry that is dropped if the year's suffix in it is empty. Fill removes them.
const (
	slotOpen  = "\x03"
	slotClose = "\x04"
)

// An Entry is a rendered entry of a bibliography.
type Entry struct {
	// HTML has the inline elements i, b, sup, sub, span and a, and div with a class csl-left-margin,
	// csl-right-inline, csl-block or csl-indent for parts with a display of their own. Each person is a <span
	// data-name="author 2">, with the variable and an index from 0, and a title a <span data-title>, so that lists
	// can link and mark them.
	HTML string

	// Key is equal for entries that need suffixes of their years. It is "" if the style has no such suffixes.
	Key string
}

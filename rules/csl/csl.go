// Package csl renders the entries of bibliographies by styles in CSL 1.0.2, the Citation Style Language.
//
// A style is read once with ParseStyle and compiled for a language with Style.Renderer. Renderer.Entry then renders
// one item as HTML. Sorting, citations in text, and disambiguation by neighbouring entries are not part of this
// package: lists have their own order. An entry has slots instead, which the list fills with the number of the
// entry and with the suffix of its year (see Entry).
package csl

import "fmt"

// A SyntaxError says why a style or a locale cannot be used, and in which line.
type SyntaxError struct {
	Line   int
	Reason string
}

// Error returns the line and the reason.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

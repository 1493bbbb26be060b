// Package csl renders the entries of bibliographies by styles in CSL, the Citation Style Language, version 1.0.2:
// https://docs.citationstyles.org/en/stable/specification.html. Comments name its sections, and its elements by
// their prefix, such as cs:names. Where it leaves something open, entries are like those of citeproc-js, by which
// the authors of styles test their work.
//
// A style is read once with ParseStyle and compiled for a language with Style.Renderer. Renderer.Entry then renders
// one item as HTML.
//
//	file -readXML-> nodes -check, parser-> Style -Renderer-> boxes -quote, punctuate-> writer -> Entry
//
// Sorting, citations in text, and disambiguation by neighbouring entries are not part of this package: lists have
// their own order. An entry has slots instead, which the list fills with the number of the entry and with the
// suffix of its year (see Entry).
//
// A style is not trusted: its source, the parts of its tree and the work on an entry are bounded.
package csl

import "fmt"

// A SyntaxError says why a style or a locale cannot be used, and in which line.
type SyntaxError struct {
	Line   int
	Reason string
}

// Error returns the line and the reason.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

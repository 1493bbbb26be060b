package main

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// citation compares the words of a citation that the program has rendered with the values: in a list, and printed.
func (a *agreeing) citation(id string, it *agreed, want statement) {
	for where, text := range map[string]string{"citation": want["citation"], "printed citation": it.print} {
		a.has(id, where, text, "title", want["title"])
		if it.Subtype != "article" {
			continue // other templates have less
		}
		for _, name := range it.persons {
			family, _, _ := strings.Cut(name, ", ")
			a.has(id, where, text, "authors", family)
		}
		if it.more != strings.Contains(text, " et al.") {
			a.fault(id, where, "more", text, fmt.Sprint("et al.: ", it.more))
		}
		if where != "citation" {
			a.has(id, where, anyDash.ReplaceAllString(text, "-"), "pages", anyDash.ReplaceAllString(it.Pages, "-"))
		}
		text, _ = strings.CutPrefix(text, oneLine(norm.NFC.String(want["title"])))
		year := ""
		if m := yearsInParentheses.FindStringSubmatch(text); m != nil {
			year = m[1]
		}
		if year != want["year"] {
			a.fault(id, where, "year", text, want["year"])
		}
	}
}

// has checks that a citation has some words.
func (a *agreeing) has(id, where, citation, member, words string) {
	a.t.Helper()
	if words = oneLine(norm.NFC.String(words)); !strings.Contains(citation, words) {
		a.fault(id, where, member, citation, words)
	}
}

// anyDash matches what may stand between the ends of a range: citations have it as it is stored.
var anyDash = regexp.MustCompile(`\s*[\p{Pd}\x{2212}\x{301c}]+\s*`)

// yearsInParentheses matches a year at the end of a citation.
var yearsInParentheses = regexp.MustCompile(`\((\d{4})\)`)

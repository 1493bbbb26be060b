// Package identifier reads identifiers of works and persons: DOI, ORCID, ISSN, ISBN and PMID. Records, addresses and
// search boxes have them in many forms; each function here returns the one form that we compare, show and export:
//
//	DOI    10.5555/Owl.1           as in the DOI Handbook (2.2, 3.4): without resolver, label and escapes
//	ORCID  0000-0002-1825-0097     as in ISO 27729 and orcid.org: with hyphens, the check digit X in capitals
//	ISSN   0317-8471               as in ISO 3297: with a hyphen
//	ISBN   978-3-16-148410-0       as in ISO 2108: with the hyphens that are stored, since where they belong depends
//	                               on the publisher
//	PMID   31452104                digits, as in PubMed
//
// What a function returns it also reads, and returns unchanged. All functions are pure, never panic, and take linear
// time. They return a text that is in its form already without a copy.
//
//	doi.go       DOI, and the address and the key of one; page.go guesses it from a publisher's page
//	number.go    ISSN, ISBN and PMID as stored
//	orcid.go     ORCID
//	find.go      the same in words of a search
//
// Functions named Find are for words of a search and demand more than the others: a stored field says by its name
// what it holds, a search does not.
package identifier

import (
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// First returns what read returns for a stored text, or for the first text of an array for which it is not "". Some
// records have an array of identifiers, of which one is shown.
func First(v bson.RawValue, read func(s string) string) string {
	if raw.IsText(v.Type) {
		return read(raw.Text(v))
	}
	if v.Type == bson.TypeArray {
		for one := range raw.Elements(v) {
			if raw.IsText(one.Type) {
				if found := read(raw.Text(one)); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

// tidy returns s with one kind of blank, none of them at its ends, and without characters that have no width, which
// pages and PDF files leave in copied text. These are soft hyphens, zero-width spaces and marks of direction
// (Unicode's category Cf).
func tidy(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return strings.TrimSpace(strings.Map(func(r rune) rune {
				switch {
				case unicode.Is(unicode.Cf, r):
					return -1
				case unicode.IsSpace(r):
					return ' '
				}
				return r
			}, s))
		}
	}
	return strings.Trim(s, " ")
}

// cutFold is strings.CutPrefix without regard to the case of ASCII letters; prefix is in small letters.
func cutFold(s, prefix string) (after string, found bool) {
	if !hasFold(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// hasFold is strings.HasPrefix for a prefix in small letters, without regard to the case of ASCII letters.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

// lower returns an ASCII letter in its small form, and any other byte unchanged.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// cutSchemes cuts "https://" and "http://" from the beginning of an address, also repeated and mistyped.
// "http://https://", "https:/" and "http//" occur in records.
func cutSchemes(s string) (after string, found bool) {
	for {
		rest, http := cutFold(s, "http")
		rest, _ = cutFold(rest, "s")
		address := strings.TrimLeft(rest, ":/")
		if !http || len(address) == len(rest) {
			break
		}
		s, found = address, true
	}
	return s, found
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

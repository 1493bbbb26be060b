package cite

import (
	"regexp"
	"strings"

	"vitrine/rules/identifier"
)

// numberWords calls add for each form of the work's numbers that readers may look for. Identifiers are whole words,
// without hyphens: their parts would be found as years.
func (it *Item) numberWords(add func(word string)) {
	for one := range strings.SplitSeq(it.ISBN, ", ") {
		for _, isbn := range identifier.ISBNs(one) {
			add(isbn)
		}
	}
	add(strings.ReplaceAll(it.ISSN, "-", ""))
	if it.PMID != "" {
		add(it.PMID)
		add(WordOfPMID(it.PMID))
	}
	for _, number := range [...]string{it.Number, it.EID} {
		add(number)
		if strings.ContainsAny(number, " ./,-") {
			add(withoutThousands(number))
			add(strings.Map(func(r rune) rune {
				if !isLetter(r) {
					return -1
				}
				return r
			}, number))
		}
	}
}

// withoutThousands returns a text without separators in its numbers: "EP 1234567" for "EP 1 234 567".
func withoutThousands(s string) string {
	for before := ""; s != before; { // matches overlap
		before, s = s, thousands.ReplaceAllString(s, "$1$2")
	}
	return s
}

var thousands = regexp.MustCompile(`([0-9])[ .,]([0-9]{3})\b`)

// WordOfPMID returns the word by which search finds a record by its PMID, and no other number.
func WordOfPMID(pmid string) string { return "pmid" + pmid }

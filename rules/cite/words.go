package cite

import (
	"regexp"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// wordFields are further fields by whose words search finds the rows of views that have no works. The first one is the
// title.
var wordFields = map[string][]string{
	rules.ViewPersons:  {"last", "first"},
	rules.ViewJournals: {"journal", "title", "abbr", "publisher", "issn"},
}

// Words calls add for each text by which search finds a row: title, persons, keywords, venue, year
// and numbers. title says that the text belongs to the title, which ranks higher. An empty text
// adds no word.
func (m *Mapping) Words(row bson.Raw, add func(text string, title bool)) {
	for i, name := range wordFields[m.view] {
		for _, text := range display.Texts(raw.Get(row, name)) {
			add(markup.Plain(text), i == 0)
		}
	}
	m.With(row, func(it *Item) {
		add(it.Text, true)
		add(it.Name, true)
		add(it.Profile.Position, false)
		add(it.Profile.PositionDE, false)
		for p := range it.Persons() {
			add(p.Literal, false)
			add(p.Given, false)
			add(p.Family, false)
			add(p.Suffix, false)
			add(WordOfORCID(p.ORCID), false)
		}
		for own := range mark.Entries(mark.Of(row), "persons") { // also of persons whom citations do not name
			add(WordOfORCID(raw.StringField(own, "orcid")), false)
		}
		for _, word := range it.Keywords {
			add(word, false)
		}
		for _, s := range [...]string{it.Container, it.Series, it.Event, it.Publisher, it.Place} {
			add(s, false)
		}
		if it.Date.Year > 0 {
			add(strconv.Itoa(it.Date.Year), false)
		}
		it.numberWords(func(word string) { add(word, false) })
	})
}

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

// withoutThousands returns a text without separators in its numbers: "EP 1234567" for "EP 1 234
// 567". A regular expression does not find two matches that share a digit, so it repeats until
// nothing changes.
func withoutThousands(s string) string {
	for before := ""; s != before; { // matches overlap
		before, s = s, thousands.ReplaceAllString(s, "$1$2")
	}
	return s
}

// thousands matches a separator between the groups of a number.
var thousands = regexp.MustCompile(`([0-9])[ .,]([0-9]{3})\b`)

// Terms returns the terms of words to search. Those that end in a year, or name an ORCID or a PMID, are complete:
// many numbers begin with the digits of others. An empty term at the end means that.
//
//	owl mo      owl, mo      also finds moth
//	owl 2021    owl, 2021, ""
func Terms(words string) []string {
	if orcid := identifier.FindORCID(words); orcid != "" {
		return []string{WordOfORCID(orcid), ""}
	}
	if pmid := identifier.FindPMID(words); pmid != "" {
		return []string{WordOfPMID(pmid), ""}
	}
	terms := fold.Terms(words)
	if n := len(terms); n > 0 && len(terms[n-1]) == len("2021") && strings.Trim(terms[n-1], "0123456789") == "" {
		terms = append(terms, "")
	}
	return terms
}

// WordOfORCID returns the word by which search finds the records of a person with an ORCID, or ""
// without one. The prefix keeps parts of it from being found as numbers.
func WordOfORCID(orcid string) string {
	if orcid == "" {
		return ""
	}
	return "orcid" + strings.ReplaceAll(orcid, "-", "")
}

// WordOfPMID returns the word by which search finds a record by its PMID, and no other number.
func WordOfPMID(pmid string) string { return "pmid" + pmid }

package lists

import (
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/cite"
)

// wordRules is the version of the words by which searches find rows. A store searches only words that were published
// by the same rules. It changes if the program reads other words of a row, and the fingerprint of the rules for
// citations, which follows it, with these.
const wordRules = "words/7 "

// Words adds to the definitions of views the words by which searches find rows, public or not: of lists, which narrow
// what they find to public rows, and of the API. Only views with lists index them before they are first shown. It
// changes defs and returns them.
func Words(defs []index.Definition, mapping *cite.Mapping) []index.Definition {
	for i := range defs {
		d := &defs[i]
		d.WordsLate, d.WordsBy = d.WordRules == "", wordRules+mapping.Fingerprint
		switch d.Name {
		case rules.ViewActivities, rules.ViewProjects, rules.ViewProposals, rules.ViewEvents, rules.ViewPersons,
			rules.ViewJournals:
			d.Words = mapping.View(d.Name).Words
		}
	}
	return defs
}

package lists

import (
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/cite"
)

// wordRules is the version of the words by which searches find rows: raise it when the program reads other words of
// a row. The fingerprint of the rules for citations follows it. A store searches only words that were published
// under the same version and rules.
const wordRules = "words/7 "

// Words adds to the definitions of views the words by which searches of lists and of the API find rows. They are
// those of all rows, and lists select the public ones. Only views with lists index their words before they are
// first shown. Words changes defs and returns them.
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

package mark

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// Lack is a set: what lists need and a record does not have, and what keeps the record out of lists. It is a byte,
// because the materializer keeps one for each record.
type Lack uint8

// Members of a Lack. A record that is not public has only one of the last four. Reports in JSON have the numbers
// (docs/operations.md), which must not change.
const (
	NoTitle   Lack = 1 << iota // a title; of a person a name
	NoDate                     // a year; of an event a start
	NoPersons                  // authors, editors or supervisors of an activity
	NoKey                      // the name of a project or the username of a person, by which lists select
	NotPublic                  // public is not true
	Hidden                     // hide is set
	Unlisted                   // the operator's rule, or that of the portal, leaves it out
	Undecided                  // the rule cannot be evaluated
)

// Lacks returns all members of a Lack, in the order of reports.
func Lacks() []Lack {
	return []Lack{NoTitle, NoDate, NoPersons, NoKey, NotPublic, Hidden, Unlisted, Undecided}
}

// withheld returns why a record of a view has no mark.
func (d *Directory) withheld(view string, record bson.Raw, err error) Lack {
	if err != nil {
		return Undecided
	}
	switch (Rule{d.o.Public, d.o.Portal}).Hiding(view, record) {
	case ofProject.Public:
		return NotPublic
	case ofPerson.Hide:
		return Hidden
	}
	if d.byHide && hides(record) { // as the default rule says
		return Hidden
	}
	return Unlisted
}

// lacks returns what a public record lacks. Its citation says whether it has a title, a date and persons.
func (m *mark) lacks(view string) (l Lack) {
	set := func(lack Lack, lacks bool) {
		if lacks {
			l |= lack
		}
	}
	switch view {
	case rules.ViewPersons:
		self := m.Persons
		set(NoKey, len(self) == 0)
		set(NoTitle, len(self) > 0 && self[0].Name == self[0].ID) // see personEntry
		return l
	case rules.ViewProjects:
		set(NoKey, len(m.Projects) == 0)
	}
	set(NoTitle, m.Cited.Untitled)
	set(NoDate, m.Cited.Undated)
	set(NoPersons, view == rules.ViewActivities && m.Cited.Unnamed)
	return l
}

// KindOf returns the codes of a record's type and subtype.
func KindOf(record bson.Raw) (kind, subtype string) {
	return idText(raw.Get(record, ofAny.Type)), idText(raw.Get(record, ofAny.Subtype))
}

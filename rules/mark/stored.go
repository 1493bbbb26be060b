package mark

import (
	"reflect"
	"slices"

	"vitrine/rules"
	"vitrine/rules/person"
)

// The stored fields that marks are made from, by what has them. This package reads fields by these names only, so
// that Stored returns all of them.
var (
	ofAny = struct{ ID, Type, Subtype, Title, Units, Projects, Created, Updated string }{
		"_id", "type", "subtype", "title", "units", "projects", "created", "updated",
	}
	ofProject = struct{ ID, Name, Title, Funder, Grants, Public string }{
		"_id", "name", "title", "funder", "funding_number", "public",
	}
	ofPerson = struct{ Username, Formal, Display, ORCID, Units, Hide, Active, Others string }{
		"username", "formalname", "displayname", "orcid", "units", "hide", "is_active", "public_other_activities",
	}
	ofGroup = struct{ ID, Name, NameDE, Parent, Hide string }{"id", "name", "name_de", "parent", "hide"}

	inMembership = struct{ Unit, ID, End string }{"unit", "id", "end"} // of a person in a unit
	inTopic      = struct{ ID, Name, Display string }{"id", "name", "display_name"}
	inPerson     = struct{ User, Units string }{"user", "units"} // in a list of persons
)

// Stored returns the fields of a collection's records that marks are made from, sorted, without those that
// Options.Visible, Options.Cited and Options.Topics read. person.Fields and InPersons are the fields of the persons
// in a record's lists.
func Stored(collection string) []string {
	var all []string
	switch collection {
	case "groups":
		return namesIn(ofGroup)
	case "persons":
		all = append(namesIn(ofPerson), person.Fields()...)
		all = append(all, ofAny.ID, ofAny.Type, ofAny.Subtype, ofAny.Created, ofAny.Updated)
		// A person's own document is known to be one, so that it does not need a user to be read as one.
		all = slices.DeleteFunc(all, func(name string) bool { return name == inPerson.User })
	case "projects":
		all = append(namesIn(ofAny, ofProject), person.Lists(rules.ViewProjects)...)
		// It is its own project.
		all = slices.DeleteFunc(all, func(name string) bool { return name == ofAny.Projects })
	case "activities":
		all = append(namesIn(ofAny), person.Lists(rules.ViewActivities)...)
		all = append(all, ofPerson.Hide)
	case "conferences":
		all = append(namesIn(ofAny), person.Lists(rules.ViewEvents)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// InPersons returns the fields of a person in a list of persons that marks are made from, besides the parts of the
// name.
func InPersons() []string { return namesIn(inPerson) }

// InMemberships returns the fields of a person's membership in a unit.
func InMemberships() []string { return namesIn(inMembership) }

// namesIn returns the names in tables of fields, which are structs of strings.
func namesIn(tables ...any) (all []string) {
	for _, table := range tables {
		v := reflect.ValueOf(table)
		for i := range v.NumField() {
			all = append(all, v.Field(i).String())
		}
	}
	return all
}

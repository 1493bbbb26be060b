package display

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// applicants name the applicant, best first. The field applicant is last, as it is often a form's free text.
var applicants = []string{"contact", "supervisor", "applicant"}

// nameOf returns the name stored in a person object, or "".
func nameOf(person bson.Raw) string {
	if name := raw.StringField(person, "name"); name != "" {
		return name
	}
	return personName(person)
}

// userOf returns the username in a reference to a person: a string, or an object's user.
func userOf(v bson.RawValue) string {
	if doc, ok := v.DocumentOK(); ok {
		return firstText(doc, "user", "username")
	}
	return Text(v)
}

// person returns the display name of a stored person: the stored name, or the resolved one, or the username. For an
// object with none of these, such as a projection to one field, it returns the joined fields.
func person(v bson.RawValue, row bson.Raw) string {
	doc, isDoc := v.DocumentOK()
	if isDoc {
		if name := nameOf(doc); name != "" {
			return name
		}
	}
	user := userOf(v)
	if name := raw.StringField(resolvedEntry(row, "persons", "user", user), "name"); name != "" {
		return name
	}
	if user == "" && isDoc {
		return fields(doc)
	}
	return user
}

// fields joins the scalars of a document.
func fields(doc bson.Raw) string {
	var texts []string
	for e := range raw.All(doc) { // reads as far as a broken document is readable
		if text := Text(e.Value()); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// people returns the names of the persons in a value of a row.
func people(v bson.RawValue, row bson.Raw) []string {
	return names(v, func(v bson.RawValue) string { return inert(person(v, row)) })
}

// Persons returns the names of a record's persons, in their order.
func Persons(row bson.Raw) []string { return people(row.Lookup("persons"), row) }

// Applicant returns the applicant's name: the contact, or else the supervisor, or else the stored applicant, or "".
func Applicant(row bson.Raw) string {
	for _, field := range applicants {
		if all := people(row.Lookup(field), row); len(all) > 0 {
			return strings.Join(all, ", ")
		}
	}
	return ""
}

// Units returns the identifiers of a project's units.
func Units(row bson.Raw) []string { return names(row.Lookup("units"), unit) }

// unit returns the identifier of a stored unit, which is shown as its name.
func unit(v bson.RawValue) string {
	if doc, ok := v.DocumentOK(); ok {
		if id := firstText(doc, "unit", "id", "name"); id != "" {
			return id
		}
		return fields(doc)
	}
	return Text(v)
}

// names returns the names of an array's elements, or of a single value, without empty ones.
func names(v bson.RawValue, name func(bson.RawValue) string) []string {
	var all []string
	for element := range each(v) {
		if n := name(element); n != "" {
			all = append(all, n)
		}
	}
	return all
}

// inert escapes the markup in a name. Names have no markup, and a tag opened in one name must not extend into the
// next.
func inert(name string) string {
	if strings.IndexByte(name, '<') < 0 {
		return name
	}
	return markup.Escape(name)
}

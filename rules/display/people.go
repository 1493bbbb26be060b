package display

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
)

// applicants are the fields that say who applied, best first. The stored applicant is the
// last: it is often the text of a form, where the others name a person.
var applicants = []string{"contact", "supervisor", "applicant"}

// nameOf is the name a stored person object carries, or "".
func nameOf(person bson.Raw) string {
	if name := str(person, "name"); name != "" {
		return name
	}
	return personName(person)
}

// userOf is the username in a reference to a person: a string, or an object's user.
func userOf(v bson.RawValue) string {
	if doc, ok := v.DocumentOK(); ok {
		return firstText(doc, "user", "username")
	}
	return Text(v)
}

// person returns how a stored person is called: by the name stored with it, or
// as resolved, or by username. Of an object with none of these, such as a
// projection to one field, the fields speak.
func person(v bson.RawValue, row bson.Raw) string {
	doc, isDoc := v.DocumentOK()
	if isDoc {
		if name := nameOf(doc); name != "" {
			return name
		}
	}
	user := userOf(v)
	if name := resolvedPerson(row, user); name != "" {
		return name
	}
	if user == "" && isDoc {
		return fields(doc)
	}
	return user
}

// fields joins the scalars of a document.
func fields(doc bson.Raw) string {
	elements, _ := doc.Elements() // of a broken document, what can be read
	var texts []string
	for _, e := range elements {
		if text := Text(e.Value()); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

// Persons returns the names of a record's persons, in their order.
func Persons(row bson.Raw) []string {
	return names(row.Lookup("persons"), func(v bson.RawValue) string { return inert(person(v, row)) })
}

// Applicant returns the name of who applied: the contact, or else the supervisor, or else
// the stored applicant; "" if none is stored.
func Applicant(row bson.Raw) string {
	for _, field := range applicants {
		all := names(row.Lookup(field), func(v bson.RawValue) string { return inert(person(v, row)) })
		if len(all) > 0 {
			return strings.Join(all, ", ")
		}
	}
	return ""
}

// unit returns how a stored unit is shown: by its identifier.
func unit(v bson.RawValue) string {
	if doc, ok := v.DocumentOK(); ok {
		if id := firstText(doc, "unit", "id", "name"); id != "" {
			return id
		}
		return fields(doc)
	}
	return Text(v)
}

// names maps the elements of an array, or a value alone, and leaves out what has no name.
func names(v bson.RawValue, name func(bson.RawValue) string) []string {
	var all []string
	for _, element := range each(v) {
		if n := name(element); n != "" {
			all = append(all, n)
		}
	}
	return all
}

// inert returns a name in which no markup is left: unlike a title it carries none,
// and what one name opens must not reach the next.
func inert(name string) string {
	if strings.IndexByte(name, '<') < 0 {
		return name
	}
	return markup.Escape(name)
}

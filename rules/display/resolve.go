package display

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Reserved is the field of a row that holds resolved names:
//
//	{organizations: [{ref, id, name}, …], persons: [{user, name}, …]}
//
// ref is the reference in the record (as text), id the organisation's own _id.
const Reserved = "_resolved"

// Directory knows the people and organisations that records refer to.
type Directory struct {
	organizations map[string]organization // by _id and by id, as text
	persons       map[string]string       // display names by username, and by _id as text
}

type organization struct{ id, name string }

// NewDirectory reads the documents of organizations and persons. It leaves out those
// without a name.
func NewDirectory(organizations, persons []bson.Raw) *Directory {
	d := &Directory{organizations: make(map[string]organization), persons: make(map[string]string)}
	for _, doc := range organizations {
		o := organization{id: Text(doc.Lookup("_id")), name: str(doc, "name")}
		if o.name == "" {
			continue
		}
		if id := Text(doc.Lookup("id")); id != "" {
			if _, taken := d.organizations[id]; !taken {
				d.organizations[id] = o
			}
		}
		d.organizations[o.id] = o
	}
	for _, doc := range persons {
		name := personName(doc)
		for _, key := range []string{str(doc, "username"), Text(doc.Lookup("_id"))} {
			if _, taken := d.persons[key]; key != "" && name != "" && !taken {
				d.persons[key] = name
			}
		}
	}
	return d
}

// personName returns a person's name for lists: first and last name, or else displayname.
func personName(doc bson.Raw) string {
	if name := strings.TrimSpace(str(doc, "first") + " " + str(doc, "last")); name != "" {
		return name
	}
	return str(doc, "displayname")
}

// Resolve returns the reserved field of a record's row, nil if the record refers
// to nothing the directory knows.
func (d *Directory) Resolve(record bson.Raw) bson.Raw {
	var organizations, persons []bsoncore.Value
	seen := map[string]bool{}
	for _, field := range []string{"scholarship", "funding_organization"} {
		for _, ref := range each(record.Lookup(field)) {
			text := Text(ref)
			if o, ok := d.organizations[text]; ok && !seen[text] {
				seen[text] = true
				organizations = append(organizations, entry("ref", text, "id", o.id, "name", o.name))
			}
		}
	}
	clear(seen)
	for _, user := range users(record) {
		if name, ok := d.persons[user]; ok && !seen[user] {
			seen[user] = true
			persons = append(persons, entry("user", user, "name", name))
		}
	}
	if len(organizations)+len(persons) == 0 {
		return nil
	}
	b := bsoncore.NewDocumentBuilder()
	if len(organizations) > 0 {
		b.AppendArray("organizations", bsoncore.BuildArray(nil, organizations...))
	}
	if len(persons) > 0 {
		b.AppendArray("persons", bsoncore.BuildArray(nil, persons...))
	}
	return bson.Raw(b.Build())
}

// users returns the usernames whose names a record needs: of persons stored without a
// name, of possible applicants, and of other references.
func users(record bson.Raw) []string {
	var all []string
	for _, person := range each(record.Lookup("persons")) {
		doc, ok := person.DocumentOK()
		switch {
		case !ok:
			all = append(all, Text(person))
		case nameOf(doc) == "":
			all = append(all, str(doc, "user"))
		}
	}
	for _, field := range append([]string{"scholar", "stipendiate", "applicants"}, applicants...) {
		for _, v := range each(record.Lookup(field)) {
			all = append(all, userOf(v))
		}
	}
	return all
}

// entry builds a document of strings, given as key, value pairs.
func entry(pairs ...string) bsoncore.Value {
	b := bsoncore.NewDocumentBuilder()
	for i := 0; i < len(pairs); i += 2 {
		b.AppendString(pairs[i], pairs[i+1])
	}
	return bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: b.Build()}
}

// resolvedPerson returns the name a row has for a username, or "".
func resolvedPerson(row bson.Raw, user string) string {
	for _, v := range each(row.Lookup(Reserved, "persons")) {
		if doc, ok := v.DocumentOK(); ok && str(doc, "user") == user {
			return str(doc, "name")
		}
	}
	return ""
}

// resolvedOrganization returns the organisation that a row has resolved for a reference.
func resolvedOrganization(row bson.Raw, ref string) (o organization, ok bool) {
	for _, v := range each(row.Lookup(Reserved, "organizations")) {
		if doc, isDoc := v.DocumentOK(); isDoc && str(doc, "ref") == ref {
			return organization{id: str(doc, "id"), name: str(doc, "name")}, true
		}
	}
	return organization{}, false
}

// Strip returns the record without the reserved field, or the record itself if it has
// none.
func Strip(row bson.Raw) bson.Raw {
	if row.Lookup(Reserved).IsZero() {
		return row
	}
	elements, err := row.Elements()
	if err != nil {
		return row
	}
	at, dst := bsoncore.AppendDocumentStart(make([]byte, 0, len(row)))
	for _, e := range elements {
		if e.Key() != Reserved {
			dst = append(dst, e...)
		}
	}
	dst, err = bsoncore.AppendDocumentEnd(dst, at)
	if err != nil {
		return row
	}
	return dst
}

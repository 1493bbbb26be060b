package display

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// Reserved is the field of a row that holds resolved names:
//
//	{organizations: [{ref, id, name}, …], persons: [{user, name}, …]}
//
// ref is the reference in the record (as text), id the organisation's own _id.
const Reserved = rules.FieldResolved

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
		o := organization{id: Text(doc.Lookup("_id")), name: raw.StringField(doc, "name")}
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
		for _, key := range []string{raw.StringField(doc, "username"), Text(doc.Lookup("_id"))} {
			if _, taken := d.persons[key]; key != "" && name != "" && !taken {
				d.persons[key] = name
			}
		}
	}
	return d
}

// personName returns a person's name for lists: first and last name, or else displayname.
func personName(doc bson.Raw) string {
	if name := strings.TrimSpace(raw.StringField(doc, "first") + " " + raw.StringField(doc, "last")); name != "" {
		return name
	}
	return raw.StringField(doc, "displayname")
}

// Resolve returns the reserved field of a record's row, nil if the record refers
// to nothing the directory knows.
func (d *Directory) Resolve(record bson.Raw) bson.Raw {
	var b, organizations, persons raw.Builder
	seen := map[string]bool{}
	for _, field := range []string{"scholarship", "funding_organization"} {
		for ref := range each(record.Lookup(field)) {
			text := Text(ref)
			if o, ok := d.organizations[text]; ok && !seen[text] {
				seen[text] = true
				organizations.Push(entry("ref", text, "id", o.id, "name", o.name))
			}
		}
	}
	if len(seen) > 0 {
		b.Add("organizations", organizations.Finish(bson.TypeArray))
	}
	known := len(seen)
	clear(seen)
	for _, user := range users(record) {
		if name, ok := d.persons[user]; ok && !seen[user] {
			seen[user] = true
			persons.Push(entry("user", user, "name", name))
		}
	}
	if len(seen) > 0 {
		b.Add("persons", persons.Finish(bson.TypeArray))
	}
	if known+len(seen) == 0 {
		return nil
	}
	return b.Document()
}

// users returns the usernames whose names a record needs: of persons stored without a
// name, of possible applicants, and of other references.
func users(record bson.Raw) []string {
	var all []string
	for person := range each(record.Lookup("persons")) {
		doc, ok := person.DocumentOK()
		switch {
		case !ok:
			all = append(all, Text(person))
		case nameOf(doc) == "":
			all = append(all, raw.StringField(doc, "user"))
		}
	}
	for _, field := range append([]string{"scholar", "stipendiate", "applicants"}, applicants...) {
		for v := range each(record.Lookup(field)) {
			all = append(all, userOf(v))
		}
	}
	return all
}

// entry builds a document of strings, given as key, value pairs.
func entry(pairs ...string) bson.RawValue {
	var b raw.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.Add(pairs[i], raw.NewString(pairs[i+1]))
	}
	return b.Finish(bson.TypeEmbeddedDocument)
}

// resolved returns the entry of a list in a row's reserved field that has a text under a
// key, nil if there is none.
func resolved(row bson.Raw, list, key, text string) bson.Raw {
	for v := range each(row.Lookup(Reserved, list)) {
		if doc, ok := v.DocumentOK(); ok && raw.StringField(doc, key) == text {
			return doc
		}
	}
	return nil
}

// Strip returns the record without the fields that are reserved for this program, or the
// record itself if it has none or cannot be read to its end.
func Strip(row bson.Raw) bson.Raw {
	if !holdsReserved(row) {
		return row
	}
	var b raw.Builder
	b.Grow(len(row))
	if err := b.Copy(row, func(name string) bool { return !rules.Reserved(name) }); err != nil {
		return row
	}
	return b.Document()
}

// holdsReserved reports whether a record has a reserved field.
func holdsReserved(row bson.Raw) bool {
	for e := range raw.All(row) {
		if rules.Reserved(string(e.Key)) {
			return true
		}
	}
	return false
}

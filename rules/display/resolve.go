package display

import (
	"cmp"
	"slices"
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

// Directory has the people and organisations that records refer to.
type Directory struct {
	organizations entries // by _id and by id, as text
	persons       entries // by username, and by _id as text
}

// entries are the entries of a list in the reserved field, by reference.
type entries map[string]bson.RawValue

// NewDirectory reads the documents of organizations and persons. It leaves out those without a name.
func NewDirectory(organizations, persons []bson.Raw) *Directory {
	d := &Directory{organizations: entries{}, persons: entries{}}
	for _, key := range []string{"_id", "id"} {
		for _, doc := range organizations {
			d.organizations.add("ref", Text(doc.Lookup(key)), "id", Text(doc.Lookup("_id")), "name",
				raw.StringField(doc, "name"))
		}
	}
	for _, doc := range persons {
		d.persons.add("user", raw.StringField(doc, "username"), "name", personName(doc))
		d.persons.add("user", Text(doc.Lookup("_id")), "name", personName(doc))
	}
	return d
}

// add adds an entry made of key, value pairs, of which the reference is the first and the name the last. It skips an
// entry that lacks one of these, or whose reference already has an entry.
func (all entries) add(pairs ...string) {
	reference, name := pairs[1], pairs[len(pairs)-1]
	if _, taken := all[reference]; taken || reference == "" || name == "" {
		return
	}
	var b raw.Builder
	for pair := range slices.Chunk(pairs, 2) {
		b.AddString(pair[0], pair[1])
	}
	all[reference] = b.Finish(bson.TypeEmbeddedDocument)
}

// addTo adds a list with one entry for each reference, unless the list is empty.
func (all entries) addTo(b *raw.Builder, list string, references []string) {
	var found raw.Builder
	seen := map[string]bool{}
	for _, reference := range references {
		if entry, ok := all[reference]; ok && !seen[reference] {
			seen[reference] = true
			found.Push(entry)
		}
	}
	if len(seen) > 0 {
		b.Add(list, found.Finish(bson.TypeArray))
	}
}

// personName returns a person's name for lists: first and last name, or else displayname.
func personName(doc bson.Raw) string {
	full := strings.TrimSpace(raw.StringField(doc, "first") + " " + raw.StringField(doc, "last"))
	return cmp.Or(full, raw.StringField(doc, "displayname"))
}

// Resolve returns the reserved field for a record's row, or nil if the directory has none of the record's references.
func (d *Directory) Resolve(record bson.Raw) bson.Raw {
	var b raw.Builder
	d.organizations.addTo(&b, "organizations",
		slices.Concat(Texts(record.Lookup("scholarship")), Texts(record.Lookup("funding_organization"))))
	d.persons.addTo(&b, "persons", users(record))
	if names := b.Document(); len(names) > raw.MinDocument {
		return names
	}
	return nil
}

// Row returns a record with the reserved field of its row, in place of its own.
func (d *Directory) Row(record bson.Raw) (bson.Raw, error) {
	names := d.Resolve(record)
	if names == nil {
		return Strip(record), nil
	}
	return raw.SetField(record, Reserved, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: names})
}

// users returns the usernames whose names a record needs: those of persons stored without a name, of possible
// applicants, and in other references.
func users(record bson.Raw) []string {
	all := names(record.Lookup("persons"), func(v bson.RawValue) string {
		if doc, ok := v.DocumentOK(); ok {
			if nameOf(doc) != "" {
				return ""
			}
			return raw.StringField(doc, "user")
		}
		return Text(v)
	})
	for _, field := range append([]string{"scholar", "stipendiate", "applicants"}, applicants...) {
		all = append(all, names(record.Lookup(field), userOf)...)
	}
	return all
}

// resolvedEntry returns the entry with a given text under key in a list of the row's reserved field, or nil.
func resolvedEntry(row bson.Raw, list, key, text string) bson.Raw {
	for v := range each(row.Lookup(Reserved, list)) {
		if doc, ok := v.DocumentOK(); ok && raw.StringField(doc, key) == text {
			return doc
		}
	}
	return nil
}

// Strip returns the record without reserved fields, or itself if it has none or is malformed.
func Strip(row bson.Raw) bson.Raw {
	for e := range raw.All(row) {
		if !rules.Reserved(string(e.Key)) {
			continue
		}
		var b raw.Builder
		b.Grow(len(row))
		if err := b.Copy(row, func(name string) bool { return !rules.Reserved(name) }); err != nil {
			return row
		}
		return b.Document()
	}
	return row
}

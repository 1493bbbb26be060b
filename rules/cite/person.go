package cite

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/doi"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Name returns the whole name of a person, the given name first.
func (p *Person) Name() string { return p.whole(p.Given, " ", p.Family) }

// Inverted returns the whole name of a person, the family name first.
func (p *Person) Inverted() string { return p.whole(p.Family, ", ", p.Given) }

// whole returns the whole name of a person, whose two parts are first and last.
func (p *Person) whole(first, separator, last string) string {
	switch {
	case p.Family == "":
		return p.Literal
	case p.Given == "":
		return p.Family
	}
	return first + separator + last
}

// ORCIDPage returns the address of a person's page at orcid.org.
func (p *Person) ORCIDPage() string { return "https://orcid.org" + doi.Path(p.ORCID) }

// appendPersons appends the persons of a stored list. Texts in it are names, and a text
// instead of a list is one name. Members of a project are listed for themselves: those
// with a username that is not public are left out. The authors of a work are named.
func appendPersons(dst []Person, v bson.RawValue, about bson.Raw, members bool) []Person {
	switch v.Type {
	case bson.TypeString:
		return appendName(dst, clean(raw.Text(v)))
	case bson.TypeArray:
		elements := raw.Read(v.Value)
		for e, ok := elements.Next(); ok; e, ok = elements.Next() {
			switch e.Type {
			case bson.TypeString:
				dst = appendName(dst, clean(raw.Text(e.Value())))
			case bson.TypeEmbeddedDocument:
				dst = appendPerson(dst, e.Data, about, members)
			}
		}
	}
	return dst
}

// appendName appends a person by name. With one comma, the family name comes first.
func appendName(dst []Person, name string) []Person {
	if family, given, ok := strings.Cut(name, ","); ok && !strings.Contains(given, ",") {
		family, given = strings.TrimSpace(family), strings.TrimSpace(given)
		if family != "" && given != "" {
			return append(dst, Person{Family: family, Given: given})
		}
	}
	if name == "" {
		return dst
	}
	return append(dst, Person{Literal: name})
}

// appendPerson appends a person stored as a document.
func appendPerson(dst []Person, doc []byte, about bson.Raw, member bool) []Person {
	var p Person
	fields := raw.Read(doc)
	for e, ok := fields.Next(); ok; e, ok = fields.Next() {
		if e.Type != bson.TypeString {
			continue
		}
		switch string(e.Key) {
		case "first":
			p.Given = clean(raw.Text(e.Value()))
		case "last":
			p.Family = clean(raw.Text(e.Value()))
		case "name":
			p.Literal = clean(raw.Text(e.Value()))
		case "user":
			p.User = raw.Text(e.Value())
		}
	}
	name := ""
	if p.User != "" {
		name = p.identify(about)
		if member && p.User == "" {
			return dst
		}
	}
	switch {
	case p.Family != "":
		p.Literal = ""
	case p.Given != "":
		p.Given, p.Literal = "", p.Given
	case name != "":
		if named := appendName(dst, name)[len(dst)]; named.Family != "" {
			p.Literal, p.Family, p.Given = "", named.Family, named.Given
		}
	}
	if p.Family == "" && p.Literal == "" {
		return dst
	}
	return append(dst, p)
}

// identify returns the name of the person with the username of p in a mark, and sets the
// ORCID. A username of no public person is dropped.
func (p *Person) identify(about bson.Raw) (name string) {
	for one := range mark.Entries(about, "persons") {
		if raw.StringField(one, "id") == p.User {
			p.ORCID = raw.StringField(one, "orcid")
			return clean(raw.StringField(one, "name"))
		}
	}
	p.User = ""
	return ""
}

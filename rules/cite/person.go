package cite

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/doi"
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

// publicPersons returns the persons of a mark, as stored there.
func publicPersons(mark bson.RawValue) bson.RawValue {
	if mark.Type != bson.TypeEmbeddedDocument {
		return bson.RawValue{}
	}
	e, _ := raw.Lookup(mark.Value, "persons")
	return e.Value()
}

// appendPersons appends the persons of a stored list. Texts in it are names, and a text
// instead of a list is one name. Members of a project are listed for themselves: those
// with a username that is not public are left out. The authors of a work are named.
func appendPersons(dst []Person, v, public bson.RawValue, members bool) []Person {
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
				dst = appendPerson(dst, e.Data, public, members)
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
func appendPerson(dst []Person, doc []byte, public bson.RawValue, member bool) []Person {
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
	known := p.User != ""
	name := p.identify(public)
	switch {
	case member && known && p.User == "":
		return dst
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

// identify returns the name of the public person with the username of p, and sets the
// ORCID. A username that is not that of a public person is dropped.
func (p *Person) identify(public bson.RawValue) (name string) {
	if p.User == "" || public.Type != bson.TypeArray {
		p.User = ""
		return ""
	}
	elements := raw.Read(public.Value)
	for e, ok := elements.Next(); ok; e, ok = elements.Next() {
		if e.Type == bson.TypeEmbeddedDocument && raw.StringField(e.Data, "id") == p.User {
			p.ORCID = raw.StringField(e.Data, "orcid")
			return clean(raw.StringField(e.Data, "name"))
		}
	}
	p.User = ""
	return ""
}

package cite

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
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
	if p.Given == "" {
		return p.Family + p.Literal
	}
	return first + separator + last
}

// ORCIDPage returns the address of a person's page at orcid.org, "" without an ORCID.
func (p *Person) ORCIDPage() string {
	if p.ORCID == "" {
		return ""
	}
	return "https://orcid.org" + doi.Path(p.ORCID)
}

// appendPersons appends the persons of a stored list. Texts in it are names, and a text
// instead of a list is one name. Members of a project are listed for themselves: those
// with a username that is not public are left out. The authors of a work are named.
func (it *Item) appendPersons(dst []Person, stored bson.RawValue) []Person {
	switch stored.Type {
	case bson.TypeString:
		dst = appendNamed(dst, personNamed(raw.Text(stored)))
	case bson.TypeArray:
		for e := range raw.All(stored.Value) {
			switch e.Type {
			case bson.TypeString:
				dst = appendNamed(dst, personNamed(raw.Text(e.Value())))
			case bson.TypeEmbeddedDocument:
				dst = appendNamed(dst, it.person(e.Data))
			}
		}
	}
	return dst
}

// appendNamed appends a person who has a name.
func appendNamed(dst []Person, p Person) []Person {
	if p.Family == "" && p.Literal == "" {
		return dst
	}
	return append(dst, p)
}

// personNamed returns a person by name. With one comma, the family name comes first.
func personNamed(name string) Person {
	name = clean(name)
	family, given, _ := strings.Cut(name, ",")
	family, given = strings.TrimSpace(family), strings.TrimSpace(given)
	if family != "" && given != "" && !strings.Contains(given, ",") {
		return Person{Family: family, Given: given}
	}
	return Person{Literal: name}
}

// person returns a person stored as a document, one without a name if it has none to be shown.
func (it *Item) person(doc bson.Raw) Person {
	part := func(field string) string {
		if v := raw.Get(doc, field); v.Type == bson.TypeString {
			return raw.Text(v)
		}
		return ""
	}
	p := Person{Given: clean(part("first")), Family: clean(part("last")), User: part("user")}
	name := ""
	if p.User != "" {
		name = it.identify(&p)
		if it.View != rules.ViewActivities && p.User == "" {
			return Person{}
		}
	}
	switch {
	case p.Family != "":
	case p.Given != "":
		p.Given, p.Literal = "", p.Given
	default:
		p.Literal = clean(part("name"))
		if public := personNamed(name); public.Family != "" {
			p.Family, p.Given, p.Literal = public.Family, public.Given, ""
		}
	}
	return p
}

// identify returns the name of the person with the username of p in the mark of a row, and
// sets the ORCID. A username of no public person is dropped.
func (it *Item) identify(p *Person) (name string) {
	about, _ := it.values[slotMark].DocumentOK()
	for one := range mark.Entries(about, "persons") {
		if raw.StringField(one, "id") == p.User {
			p.ORCID = raw.StringField(one, "orcid")
			return raw.StringField(one, "name")
		}
	}
	p.User = ""
	return ""
}

package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// Name returns the whole name of a person, the given name first.
func (p *Person) Name() string { return p.whole(p.Given, " ", p.Family) }

// Inverted returns the whole name of a person, the family name first.
func (p *Person) Inverted() string { return p.whole(p.Family, ", ", p.Given) }

// whole joins the parts of a name in the given order, or returns the whole name if it is not in parts.
func (p *Person) whole(first, separator, last string) string {
	if p.Given == "" {
		return p.Family + p.Literal
	}
	return first + separator + last
}

// ORCIDPage returns the address of a person's page at orcid.org, or "" if the person has no ORCID.
func (p *Person) ORCIDPage() string {
	return identifier.ORCIDAddress(p.ORCID)
}

// appendPersons appends the persons of a stored list that have a name. A text in the list, or in place of the list, is
// a name. It leaves out members of a project whose username is not public, but keeps authors of a work.
func (it *Item) appendPersons(dst []Person, slots []int) []Person {
	add := func(p Person) {
		if p.Family != "" || p.Literal != "" {
			dst = append(dst, p)
		}
	}
	stored := it.value(slots)
	if stored.Type == bson.TypeString {
		add(personNamed(markup.Plain(raw.Text(stored))))
	}
	for v := range raw.Elements(stored) {
		switch v.Type {
		case bson.TypeString:
			add(personNamed(markup.Plain(raw.Text(v))))
		case bson.TypeEmbeddedDocument:
			add(it.person(v.Value))
		}
	}
	return dst
}

// personNamed returns a person by a plain name. If the name has one comma, the family name comes first.
func personNamed(name string) Person {
	family, given, _ := strings.Cut(name, ",")
	family, given = strings.TrimSpace(family), strings.TrimSpace(given)
	if family != "" && given != "" && !strings.Contains(given, ",") {
		return Person{Family: family, Given: given}
	}
	return Person{Literal: name}
}

// person returns a person stored as a document. It has no name if the name may not be shown. Of persons of the institute
// who are not public, only the name is shown.
func (it *Item) person(doc bson.Raw) Person {
	var public bson.Raw
	user := part(doc, "user")
	if user != "" {
		if public = it.public(user); public == nil && it.View != rules.ViewActivities {
			return Person{}
		}
	}
	p := Person{
		Given: markup.Plain(part(doc, "first")), Family: markup.Plain(part(doc, "last")),
		User: part(public, "id"), ORCID: part(public, "orcid"),
	}
	if p.ORCID == "" && (user == "" || public != nil) {
		p.ORCID = identifier.ORCID(part(doc, "orcid"))
	}
	switch {
	case p.Given == "" && p.User == "" && isOrganisation(p.Family):
		p.Family, p.Literal = "", p.Family
	case p.Family != "":
	case p.Given != "":
		p.Given, p.Literal = "", p.Given
	default:
		p.Literal = markup.Plain(part(doc, "name"))
		if named := personNamed(part(public, "name")); named.Family != "" {
			p.Family, p.Given, p.Literal = named.Family, named.Given, ""
		}
	}
	return p
}

// isOrganisation reports whether a family name without a given name belongs to an organisation: it has several words
// and does not begin like "van den Berg", or consists of capitals in a script that has small letters.
func isOrganisation(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return strings.Contains(name, " ") && !unicode.IsLower(first) || len(name) > 1 && strings.ToUpper(name) == name && strings.ToLower(name) != name
}

// public returns a public person's entry in the mark of the row, or nil.
func (it *Item) public(user string) bson.Raw {
	about, _ := it.values[slotMark].DocumentOK()
	for one := range mark.Entries(about, "persons") {
		if part(one, "id") == user {
			return one
		}
	}
	return nil
}

// part returns a stored text without copying it.
func part(doc bson.Raw, field string) string {
	if v := raw.Get(doc, field); v.Type == bson.TypeString {
		return raw.Text(v)
	}
	return ""
}

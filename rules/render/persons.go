package render

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/person"
	"vitrine/rules/raw"
	"vitrine/rules/render/names"
)

// personsLinked is the format in which persons link to their profiles.
const personsLinked = "linked"

// personsField is a list of persons in the styles of the rules file.
func personsField(s source) *field {
	return &field{write: writePersons(s, names.Default()), formats: map[string]writer{
		personsLinked: writePersons(s, names.Linked()),
		"plain":       writePersons(s, names.Plain()),
		"full":        writePersons(s, names.Full()),
	}}
}

// osirisPersons is a list of persons in a style of OSIRIS, with a second format for lists.
func osirisPersons(s source, style names.Style) *field {
	return &field{
		write: writePersons(s, style), authors: s.slot == slotAuthors,
		formats: map[string]writer{personsLinked: writePersons(s, style.InList())},
	}
}

// writePersons returns the writer of the persons of s in a style.
func writePersons(s source, style names.Style) writer {
	return func(p *page, dst []byte) []byte { return style.Append(dst, p.list(s)) }
}

// legendField explains the marks behind the authors of a citation. For posters and lectures the
// first authors are the presenting ones.
func legendField(authors source) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		kind := text(p.values[slotType])
		return names.AppendLegend(dst, p.list(authors), kind == "poster" || kind == "lecture")
	}}
}

// list returns the persons of a field. It reads lists at the top of the activity, which most
// templates name, only once. nil means not read yet; an empty list is read again, which costs
// nothing.
func (p *page) list(s source) []names.Person {
	if len(s.path) > 0 {
		return p.readPersons(nil, s.value(p))
	}
	if p.persons[s.slot] == nil {
		p.persons[s.slot] = p.readPersons(nil, p.values[s.slot])
	}
	return p.persons[s.slot]
}

// readPersons appends the persons of a stored list, as package person reads it, and at the end an entry for the
// others that the list does not name. It keeps entries without a name, because they may have a user.
func (p *page) readPersons(dst []names.Person, list bson.RawValue) []names.Person {
	others := person.Each(list, func(name person.Person, doc bson.Raw) {
		dst = append(dst, p.person(name, doc))
	})
	if others {
		dst = append(dst, names.Person{Others: true})
	}
	return dst
}

// person returns a person with what else its document says. A name without parts becomes the last name.
func (p *page) person(name person.Person, doc bson.Raw) names.Person {
	who := names.Person{First: name.Given, Last: cmp.Or(name.Family, name.Literal), Suffix: name.Suffix}
	for e := range raw.All(doc) {
		v := e.Value()
		switch string(e.Key) {
		case "user":
			if v.Type == bson.TypeString {
				who.User = raw.Text(v) // unchanged
			}
		case "position":
			who.Position = text(v)
		}
		if slices.Contains(p.affiliated, string(e.Key)) && truthy(v) {
			who.Affiliated = true
		}
	}
	return who
}

// users returns the distinct user keys of the persons in all lists of the activity (person.Lists).
func (p *page) users() []string {
	var users []string
	seen := make(map[string]bool)
	for _, slot := range p.rules.userSlots {
		for _, who := range p.list(source{slot: slot}) {
			if who.User != "" && !seen[who.User] {
				seen[who.User] = true
				users = append(users, who.User)
			}
		}
	}
	return users
}

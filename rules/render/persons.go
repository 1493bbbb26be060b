package render

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
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

// legendField explains the marks behind the authors of a citation.
func legendField(authors source) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		kind := text(p.values[slotType])
		return names.AppendLegend(dst, p.list(authors), kind == "poster" || kind == "lecture")
	}}
}

// list returns the persons of a field. It reads lists at the top of the activity, which most templates name, only once.
func (p *page) list(s source) []names.Person {
	if len(s.path) > 0 {
		return p.readPersons(nil, s.value(p))
	}
	if p.persons[s.slot] == nil {
		p.persons[s.slot] = p.readPersons(nil, p.values[s.slot])
	}
	return p.persons[s.slot]
}

// readPersons appends every entry of a list of persons. A single document counts as a list of one, a string as a name.
// It keeps entries without a name, because they may have a user, and skips values of other types.
func (p *page) readPersons(dst []names.Person, list bson.RawValue) []names.Person {
	switch list.Type {
	case bson.TypeArray:
		for v := range raw.Elements(list) {
			if v.Type != bson.TypeArray {
				dst = p.readPersons(dst, v)
			}
		}
	case bson.TypeEmbeddedDocument:
		dst = append(dst, p.person(list.Value))
	case bson.TypeString:
		dst = append(dst, names.Person{Last: markup.Plain(text(list))})
	}
	return dst
}

// person reads one document. If a person has only one name, it becomes the last name.
func (p *page) person(doc []byte) names.Person {
	var who names.Person
	for e := range raw.All(doc) {
		v := e.Value()
		switch string(e.Key) {
		case "first":
			who.First = markup.Plain(text(v))
		case "last":
			who.Last = markup.Plain(text(v))
		case "name":
			if who.Last == "" {
				who.Last = markup.Plain(text(v))
			}
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
	if who.Last == "" {
		who.First, who.Last = "", who.First
	}
	return who
}

// users returns the distinct user keys of the participants: authors, editors, then the rules' other lists.
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

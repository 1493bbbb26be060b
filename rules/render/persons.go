package render

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// person is one entry of authors, editors and the like.
type person struct {
	first, last string
	// user is the key of the person's profile, "" for persons outside the institute.
	user string
	// position is the place among the authors: first, middle, last, corresponding.
	position string
	// affiliated says that one of the keys of Options.Affiliated is true.
	affiliated bool
}

// list returns the persons of a field. Lists at the top of the activity, which most
// templates name, are read once.
func (p *page) list(s source) []person {
	if len(s.path) > 0 {
		return p.readPersons(nil, s.value(p))
	}
	if p.persons[s.slot] == nil {
		p.persons[s.slot] = p.readPersons(nil, p.values[s.slot])
	}
	return p.persons[s.slot]
}

// readPersons appends every entry of a list of persons. A single document counts
// as a list of one, a string as a name; entries without a name are kept too, as
// they may have a user. Values of other types are skipped.
func (p *page) readPersons(dst []person, list bson.RawValue) []person {
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
		dst = append(dst, person{last: text(list)})
	}
	return dst
}

// person reads one document. A person with only one name has it as last name.
func (p *page) person(doc []byte) person {
	var who person
	for e := range raw.All(doc) {
		v := e.Value()
		switch string(e.Key) {
		case "first":
			who.first = text(v)
		case "last":
			who.last = text(v)
		case "name":
			if who.last == "" {
				who.last = text(v)
			}
		case "user":
			who.user = stringOf(v)
		case "position":
			who.position = text(v)
		}
		if slices.Contains(p.affiliated, string(e.Key)) && truthy(v) {
			who.affiliated = true
		}
	}
	if who.last == "" {
		who.first, who.last = "", who.first
	}
	return who
}

// users returns the distinct user keys of the participants, in order: authors, editors, and
// the other lists that the rules name.
func (p *page) users() []string {
	var users []string
	seen := make(map[string]bool)
	for _, slot := range p.rules.userSlots {
		for _, who := range p.list(source{slot: slot}) {
			if who.user != "" && !seen[who.user] {
				seen[who.user] = true
				users = append(users, who.user)
			}
		}
	}
	return users
}

package cite

import (
	"cmp"
	"iter"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/person"
	"vitrine/rules/raw"
)

// ORCIDPage returns the address of a person's page at orcid.org, or "" if the person has no ORCID.
func (p *Person) ORCIDPage() string {
	return identifier.ORCIDAddress(p.ORCID)
}

// Persons yields the authors, editors and supervisors of an item. A person in two roles occurs
// twice. The pointers are into the item.
func (it *Item) Persons() iter.Seq[*Person] {
	return func(yield func(*Person) bool) {
		for _, persons := range [...][]Person{it.Authors, it.Editors, it.Supervisors} {
			for i := range persons {
				if !yield(&persons[i]) {
					return
				}
			}
		}
	}
}

// appendPersons appends the persons of a stored list that have a name, and reports whether the list says that there
// are others. It leaves out members of a project whose username is not public, but keeps authors of a work.
func (it *Item) appendPersons(dst []Person, slots []int, about bson.Raw) (all []Person, others bool) {
	others = person.Each(it.value(slots), func(name person.Person, doc bson.Raw) {
		if p := it.person(name, doc, about); !p.IsZero() {
			dst = append(dst, p)
		}
	})
	return dst, others
}

// person returns a person by name and document. It has no name if the name may not be shown. Of persons of the
// institute who are not public, only the name is shown.
//
// The rules differ by view: the published work itself names its authors, while members of a project
// may be known from the record alone.
func (it *Item) person(name person.Person, doc, about bson.Raw) Person {
	var public bson.Raw
	user := strings.ToValidUTF8(part(doc, "user"), "\uFFFD") // as marks have it
	if user != "" {
		if public = publicOf(about, user); public == nil && it.View != rules.ViewActivities {
			return Person{}
		}
	}
	p := Person{Person: name, User: part(public, "id"), ORCID: part(public, "orcid")}
	if p.ORCID == "" && (user == "" || public != nil) {
		p.ORCID = identifier.ORCID(part(doc, "orcid"))
	}
	if p.Family == "" && public != nil { // the mark has the name in parts
		if named := person.Parse(part(public, "name")); named.Family != "" {
			p.Person = named
		}
	}
	return p
}

// publicOf returns a public person's entry in a mark, or nil. A mark has few persons, so the search
// is linear.
func publicOf(about bson.Raw, user string) bson.Raw {
	for one := range mark.Entries(about, "persons") {
		if part(one, "id") == user {
			return one
		}
	}
	return nil
}

// part returns a stored text without copying it. A value of another type counts as missing.
func part(doc bson.Raw, field string) string {
	if v := raw.Get(doc, field); v.Type == bson.TypeString {
		return raw.Text(v)
	}
	return ""
}

// people are the rules for profiles: which stored fields hold what, and by which flag it may be shown.
type people struct {
	academicTitle, position, positionDE, photo, mail, phone, room shownField
	links                                                         []linkRule
}

// shownField says which stored fields hold a property: the first that is not empty counts. A property that the
// rules do not name has no slots.
type shownField struct {
	slots []int
	// flags are slots, at most one, of the field that must say yes
	flags   []int
	lacking bool // what the flag counts as in records that lack it
}

// linkRule is a rule for a link. member is a field in the object that the slot holds, or "".
type linkRule struct {
	shownField
	member string
	name   map[string]string // by language
	url    string            // with {value}, for records that store a name instead of an address; may be empty
}

// people reads the section. Everything in it is optional: what is not named is not shown.
func (l *loader) people(n *yaml.Node) {
	to := &l.to.people
	properties := map[string]*shownField{
		"academic_title": &to.academicTitle, "position": &to.position, "position_de": &to.positionDE,
		"photo": &to.photo, "mail": &to.mail, "phone": &to.phone, "room": &to.room,
	}
	l.Entries(n, "people", func(key string, n *yaml.Node, path string) {
		into := properties[key]
		switch {
		case key == "links":
			var all []yaml.Node
			if n.Decode(&all) != nil {
				l.Errorf(n, path, "expected a list of rules")
			}
			for i := range all {
				l.personLink(&all[i], path+"."+strconv.Itoa(i+1))
			}
		case into == nil:
			l.Errorf(n, path, "unknown property of persons")
		default:
			found := l.Mapping(n, path, "fields", "when", "lacking")
			*into = l.shownField(found, n, path)
			var names []string
			if found["fields"] == nil || found["fields"].Decode(&names) != nil || len(names) == 0 {
				l.Errorf(n, path, "needs fields, a list of stored fields")
			}
			for _, name := range names {
				into.slots = append(into.slots, l.slot(n, path+".fields", name))
			}
		}
	})
}

// shownField reads the condition of a rule.
func (l *loader) shownField(found map[string]*yaml.Node, n *yaml.Node, path string) (s shownField) {
	if when := found["when"]; when != nil {
		s.flags = []int{l.slot(when, path+".when", when.Value)}
	}
	if lacking := found["lacking"]; lacking != nil && (lacking.Decode(&s.lacking) != nil || s.flags == nil) {
		l.Errorf(n, path+".lacking", "expected true or false, beside when")
	}
	return s
}

// personLink reads a rule for a link. Its field may be one in an object: socials.github.
func (l *loader) personLink(n *yaml.Node, path string) {
	found := l.Mapping(n, path, "name", "field", "when", "lacking", "url")
	if found["name"] == nil || found["field"] == nil {
		l.Errorf(n, path, "needs a name and a field")
		return
	}
	r := linkRule{shownField: l.shownField(found, n, path), name: map[string]string{}}
	if name := found["name"]; name.Kind == yaml.ScalarNode && name.Value != "" { // the same in each language
		r.name["en"], r.name["de"] = name.Value, name.Value
	} else if name.Decode(&r.name) != nil || r.name["en"] == "" || r.name["de"] == "" {
		l.Errorf(n, path+".name", "expected a name, or one in each language: en, de")
	}
	if address := found["url"]; address != nil {
		if r.url = address.Value; markup.WebURL(r.url) == "" || !strings.Contains(r.url, "{value}") {
			l.Errorf(address, path+".url", "expected a web address with {value}")
		}
	}
	field, member, _ := strings.Cut(found["field"].Value, ".")
	r.slots, r.member = []int{l.slot(n, path+".field", field)}, member
	l.to.people.links = append(l.to.people.links, r)
}

// may reports whether the record allows to show a property. Only a clear yes counts: a mistake in the data must not
// make a telephone number public.
func (s shownField) may(it *Item) bool {
	for _, slot := range s.flags {
		switch raw.FlagOf(it.values[slot]) {
		case raw.FlagYes:
		case raw.FlagMissing:
			return s.lacking
		default:
			return false
		}
	}
	return len(s.slots) > 0
}

// read sets the profile of a person from the record's values.
func (p *people) read(it *Item) {
	to := &it.Profile
	words := func(into *string, s shownField) {
		if s.may(it) {
			*into = markup.CutText(it.text(s.slots), mostProfileText)
		}
	}
	words(&to.AcademicTitle, p.academicTitle)
	words(&to.Position, p.position)
	words(&to.PositionDE, p.positionDE)
	words(&to.Room, p.room)
	if p.mail.may(it) {
		to.Mail = it.identified(p.mail.slots, mailOf)
	}
	if p.phone.may(it) { // some are stored as numbers
		to.Phone = cmp.Or(it.identified(p.phone.slots, phoneOf), phoneOf(it.text(p.phone.slots)))
	}
	if to.Pictured = p.photo.may(it); to.Pictured {
		to.Photo = it.identified(p.photo.slots, webAddress)
	}
	for i := range p.links {
		r := &p.links[i]
		if !r.may(it) {
			continue
		}
		v := it.values[r.slots[0]]
		if r.member != "" {
			doc, _ := v.DocumentOK()
			v = raw.Get(doc, r.member)
		}
		if href := identifier.First(v, func(s string) string { return addressOf(r.url, s) }); href != "" {
			to.Links = append(to.Links, ProfileLink{i, href})
		}
	}
}

// LinkName returns the name of a link in a language.
func (m *Mapping) LinkName(l ProfileLink, lang string) string {
	if l.rule >= len(m.people.links) { // never, unless the store is damaged
		return ""
	}
	return m.people.links[l.rule].name[lang]
}

// readMembership sets what the mark of a person has: the username, the ORCID and the units.
func (m *Mapping) readMembership(about bson.Raw, it *Item) {
	if it.View != rules.ViewPersons {
		return
	}
	for one := range mark.Entries(about, "persons") {
		it.User, it.ORCID = strings.ToValidUTF8(part(one, "id"), "\uFFFD"), clean(part(one, "orcid"))
	}
	for one := range mark.Entries(about, "units") {
		if len(it.Units) < mostUnits {
			it.Units = append(it.Units, Unit{part(one, "id"), clean(part(one, "name")), clean(part(one, "name_de"))})
		}
	}
}

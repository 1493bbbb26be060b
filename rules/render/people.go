package render

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// person is one entry of authors, editors and the like.
type person struct {
	first, last string
	user        string
	position    string // among the authors: first, middle, last, corresponding
	affiliated  bool
}

// persons returns a field's persons. Lists at the top of the activity, which
// most templates name, are read once.
func (p *page) persons(s source) []person {
	if len(s.path) > 0 {
		return p.readPersons(nil, s.value(p))
	}
	list := &p.people[s.slot]
	if !list.read {
		list.read = true
		list.persons = p.readPersons(list.persons[:0], p.values[s.slot])
	}
	return list.persons
}

// personList is a list of persons once it is read.
type personList struct {
	read    bool
	persons []person
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

func (p *page) person(doc []byte) person {
	var who person
	walk(doc, func(e raw.Element) {
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
	})
	if who.last == "" {
		who.first, who.last = "", who.first
	}
	return who
}

// Formats of persons: "" is "<b>Małecki,&nbsp;D.</b>" with affiliated persons
// bold, linked the same with links to profiles, plain without bold, full
// "Deniz Małecki".
const (
	personsLinked = "linked"
	personsPlain  = "plain"
	personsFull   = "full"
)

// appendPersons appends the names in the given format, joined by commas.
func appendPersons(dst []byte, persons []person, format string) []byte {
	start := len(dst)
	for i := range persons {
		if persons[i].last == "" {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = appendPerson(dst, &persons[i], format)
	}
	return dst
}

// appendPerson appends a person's name, bold and a link as the format and the person ask for.
func appendPerson(dst []byte, who *person, format string) []byte {
	bold := who.affiliated && format != personsPlain
	link := format == personsLinked && markup.PathSegment(who.user) != ""
	if link {
		dst = appendPageLink(dst, "/profile/", who.user)
	}
	if bold {
		dst = append(dst, "<b>"...)
	}
	dst = appendName(dst, who, format)
	if bold {
		dst = append(dst, "</b>"...)
	}
	if link {
		dst = append(dst, "</a>"...)
	}
	return dst
}

// appendPageLink opens a link to a page of ours.
func appendPageLink(dst []byte, base, id string) []byte {
	dst = append(append(dst, "<a href='"...), base...)
	return append(markup.AppendEscape(dst, markup.PathSegment(id)), "'>"...)
}

// appendName appends one name: "Szymczak,&nbsp;A. A.", or in full.
func appendName(dst []byte, who *person, format string) []byte {
	if format == personsFull {
		if who.first != "" {
			dst = append(markup.AppendEscape(dst, who.first), ' ')
		}
		return markup.AppendEscape(dst, who.last)
	}
	dst = markup.AppendEscape(dst, who.last)
	separator := ",&nbsp;"
	for part := range strings.FieldsFuncSeq(who.first, partsName) {
		initial := initialOf(part)
		if initial == "" {
			continue
		}
		dst = append(dst, separator...)
		dst = append(markup.AppendEscape(dst, initial), '.')
		separator = " "
	}
	return dst
}

// partsName reports what stands between given names: "Ana Maria", "A.M.".
func partsName(r rune) bool { return r == '.' || unicode.IsSpace(r) }

// initialOf returns the first letter of a given name with its combining marks,
// past hyphens and the like ("J.-P." has the parts "J" and "-P").
func initialOf(name string) string {
	start := strings.IndexFunc(name, unicode.IsLetter)
	if start < 0 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(name[start:])
	end := start + size
	for end < len(name) {
		r, n := utf8.DecodeRuneInString(name[end:])
		if !unicode.Is(unicode.Mn, r) {
			break
		}
		end += n
	}
	return name[start:end]
}

// users returns the distinct user keys of who takes part, in order: authors, editors.
func (p *page) users() []string {
	users := p.userKeys[:0]
	var seen map[string]bool
	for _, slot := range p.rules.userSlots {
		for _, who := range p.persons(source{slot: slot}) {
			if who.user == "" || seen[who.user] {
				continue
			}
			if seen == nil {
				seen = make(map[string]bool)
			}
			seen[who.user] = true
			users = append(users, who.user)
		}
	}
	p.userKeys = users
	return users
}

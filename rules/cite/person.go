package cite

import (
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
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

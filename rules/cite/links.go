package cite

import (
	"regexp"
	"strings"

	"vitrine/rules"
	"vitrine/rules/doi"
	"vitrine/rules/markup"
)

// Links says where links lead. Activity, Person and Project are templates with {id}, the
// _id of an activity, a username and a project's name; "" is the built-in address and NoLink
// none.
type Links struct {
	Base                      string // URL of the server without a slash at its end; empty: built-in addresses are paths
	Activity, Person, Project string
}

// NoLink is the template of what has no link.
const NoLink = "none"

// ToItem returns the address of an item, "" for none. Built in is the DOI of an activity,
// or else its page; the list of a project or a person; the page of everything else.
func (l Links) ToItem(it *Item) string {
	switch it.View {
	case rules.ViewActivities:
		if l.Activity == "" && it.DOI != "" {
			return doi.URL(it.DOI)
		}
		return filled(l.Activity, it.ID, l.ItemPage(it.ID))
	case rules.ViewPersons:
		return l.ToPerson(it.Name)
	case rules.ViewProjects:
		if it.Name != "" {
			return l.ToProject(it.Name)
		}
	}
	return l.ItemPage(it.ID)
}

// ToPerson returns the address of a person by username, "" for none. Built in is the
// person's list.
func (l Links) ToPerson(user string) string {
	return filled(l.Person, user, l.Base+"/lists/person/"+Segment(user))
}

// ToProject returns the address of a project by name, "" for none. Built in is the
// project's list.
func (l Links) ToProject(name string) string {
	return filled(l.Project, name, l.Base+"/lists/project/"+Segment(name))
}

// ItemPage returns the address of the page of a record.
func (l Links) ItemPage(id string) string { return l.Base + "/items/" + Segment(id) }

// format matches what ends the path of a list or an item in one of its formats.
var format = regexp.MustCompile(`\.(html|json|jsonld|bib|ris|csv|atom|rss)$`)

// Segment returns an id as the last segment of the path of a list or an item, "" if it can be
// none. An id that ends like a format has the dot of it escaped.
func Segment(id string) string {
	return format.ReplaceAllString(markup.PathSegment(id), "%2E$1")
}

// filled returns a template with an id, or the built-in address where it is "".
func filled(template, id, builtIn string) string {
	switch {
	case template == NoLink || id == "":
		return ""
	case template == "":
		return builtIn
	}
	return strings.ReplaceAll(template, "{id}", markup.PathSegment(id))
}

package lists

import (
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/identifier"
	"vitrine/rules/keyword"
	"vitrine/rules/markup"
)

// Links says where links lead. Activity, Person and Project are templates with {id}: the _id of an activity, a
// username and a project's name. "" means the built-in address, NoLink means no link. The zero value has built-in
// addresses that are paths.
type Links struct {
	// URL of the server without a slash at its end; if empty, built-in addresses are paths
	Base                      string
	Activity, Person, Project string
	// Photo is a template for the address of a person's photo, for persons whose record has no address. "" means
	// that they have no photo.
	Photo string
}

// NoLink is the template that means no link. It differs from "", because an empty setting means the default.
const NoLink = "none"

// ToItem returns the address of an item, or "". The built-in address of an activity is its DOI, or else its page;
// that of a project or a person is its list, and that of other items their page.
func (l Links) ToItem(it *cite.Item) string {
	switch it.View {
	case rules.ViewActivities:
		if l.Activity == "" && it.DOI != "" {
			return identifier.DOIAddress(it.DOI)
		}
		return fill(l.Activity, it.ID, l.ItemPage)
	case rules.ViewPersons:
		return l.ToPerson(it.Name)
	case rules.ViewProjects:
		if it.Name != "" {
			return l.ToProject(it.Name)
		}
	}
	return l.ItemPage(it.ID)
}

// ToPerson returns the address of a person by username, or "". The built-in address is the person's list.
func (l Links) ToPerson(user string) string {
	return fill(l.Person, user, func(user string) string { return l.toList("person", user) })
}

// persons returns persons with the addresses of those who have a list. It is never nil, so that JSON has an empty
// list.
func (l Links) persons(all []cite.Person) []page.Author {
	linked := make([]page.Author, len(all))
	for i := range all {
		p := &all[i]
		linked[i] = page.Author{Name: p.Inverted(), ID: p.User, ORCID: p.ORCID, Href: l.ToPerson(p.User)}
	}
	return linked
}

// ToProject returns the address of a project by name, or "". The built-in address is the project's list.
func (l Links) ToProject(name string) string {
	return fill(l.Project, name, func(name string) string { return l.toList("project", name) })
}

// photo returns the address of a person's photo: the stored one, or else the one by the template. It returns "" if
// the record does not release a photo, or if there is none. A template that is a path means one on this server.
func (l Links) photo(it *cite.Item) string {
	switch p := &it.Profile; {
	case !p.Pictured:
		return ""
	case p.Photo != "" || l.Photo == "" || segment(it.User) == "":
		return p.Photo
	case strings.HasPrefix(l.Photo, "/"):
		return l.Base + fill(l.Photo, it.User, nil)
	}
	return fill(l.Photo, it.User, nil)
}

// toList returns the address of the list about a subject. Unlike ToPerson and ToProject it ignores the templates.
func (l Links) toList(about, id string) string { return l.Base + listPath(about, id) }

// toKeyword returns the address of the list of a view's records with a keyword, or "". Persons have no list of all.
// The address has the key of the keyword, so that all its spellings lead to one address.
func (l Links) toKeyword(view, word string) string {
	key := keyword.Key(word)
	if key == "" || view == rules.ViewPersons {
		return ""
	}
	return address(l.Base+"/lists/"+view, params.Query{params.Keyword: {key}})
}

// listPath returns the path of the list about a subject, such as /lists/unit/BIO.
func listPath(about, id string) string { return "/lists/" + about + "/" + segment(id) }

// ItemPage returns the address of a record's page. It ends in a slash if the id cannot be in a path; callers test
// that by segment, or by the slash.
func (l Links) ItemPage(id string) string { return l.Base + "/items/" + segment(id) }

// appendJSONLD appends an item as JSON-LD, with the address of its page here beside that to which links lead.
func (l Links) appendJSONLD(dst []byte, it *cite.Item) []byte {
	page := l.ItemPage(it.ID)
	if it.View == rules.ViewPersons { // they have no page but their list
		page = Links{Base: l.Base}.ToPerson(it.Name)
		one := *it
		one.Profile.Photo, it = l.photo(it), &one
	}
	return cite.AppendJSONLD(dst, it, page, l.ToItem(it), l.ToPerson)
}

// segment returns an id as the last segment of the path of a list or an item, or "" if it cannot be in a path. An
// id may end like a format, because paths are read by the longest id.
func segment(id string) string { return markup.PathSegment(id) }

// fill returns a template with an id filled in, or the built-in address if the template is "". It returns "" for an
// empty id: persons of other institutes have no username.
func fill(template, id string, builtIn func(id string) string) string {
	switch {
	case template == NoLink || id == "":
		return ""
	case template == "":
		return builtIn(id)
	}
	return strings.ReplaceAll(template, "{id}", markup.PathSegment(id))
}

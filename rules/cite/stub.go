package cite

import (
	"vitrine/rules/markup"
)

// Links says where the links of an item lead. Activity, Person and Project are templates
// with {id}; "" is the built-in address and "none" no link.
type Links struct {
	Base                      string // absolute URL of the server, without a slash at its end
	Activity, Person, Project string
}

// ToItem returns the address of an item, "" for none. Built in are its DOI, or else its
// page; for a project, its list.
func (l Links) ToItem(it *Item) string { return "" }

// ToPerson returns the address of a person by username, "" for none. Built in is the
// person's list.
func (l Links) ToPerson(user string) string { return "" }

// ToProject returns the address of a project by name, "" for none. Built in is the
// project's list.
func (l Links) ToProject(name string) string { return "" }

// ItemPage returns the address of the page of a record.
func (l Links) ItemPage(id string) string { return l.Base + "/items/" + markup.PathSegment(id) }

// AppendJSONLD appends an item as one object of schema.org without @context, safe inside
// a script element.
func AppendJSONLD(dst []byte, it *Item, l Links) []byte { return append(dst, "{}"...) }

// AppendCOinS appends an item as the value of the title attribute of a COinS span, escaped
// for HTML.
func AppendCOinS(dst []byte, it *Item) []byte { return dst }

// Meta returns an item's citation_* tags in the order in which a page has them.
func Meta(it *Item) []MetaTag { return nil }

// MetaTag is a <meta> element of an item's page; both parts are plain text.
type MetaTag struct{ Name, Content string }

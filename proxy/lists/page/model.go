package page

import "time"

// Head is what all pages have.
type Head struct {
	Title string // plain text
	Lang  string // of our texts: "de", or any other for English
	// Base is where this server is reached: absolute, without a slash at its end, or empty, and
	// then URLs are paths. The files of a page are taken from its path.
	Base string
	// Self is the URL of this page in canonical spelling, without a suffix.
	Self string
	// Canonical is the URL for search engines; empty: Self.
	Canonical string
	Exports   []Link // what the page shows, as files and feeds
	Languages []Link // this page in other languages; Type is the language's code
	AsOf      time.Time
}

// List is a list as Fragment and Page show it. The search form of Page goes to the path of
// Self, and ids of a fragment begin with it.
type List struct {
	Head
	Heading int // level of the title in a fragment, 1 to 6; 0 is 2
	// Reset is the list without search and filters; empty: there is nothing to reset.
	Reset string

	Count, Page, Pages, Limit int
	Turns                     map[string]string // URLs of the first, prev, next and last page, of those there are
	// Parameters in force. The form of Page sends q, sort and group, q even if it is empty.
	Q, Group, Sort string
	Params         []Param
	Facets         []Facet
	Items          []Item
	JSONLD         []byte // one JSON value; nil: none
}

// Item is one record of a list.
type Item struct {
	Group string // the heading above it and its neighbours of the same group; empty: none
	ID    string
	Href  string // the item's page; empty: it has none
	Lang  string // of the citation; empty: that of the list
	HTML  string // citation, cleaned by rules/markup
	COinS string // of rules/cite: escaped for an attribute; empty: none
	Key   string // citation key
	Links []Link // DOI, full text and others
}

// Facet has the values by which a list can be narrowed. The values of a filter in force are
// active, also if the request does not ask for their counts.
type Facet struct {
	Name   string // the parameter; people read the text of this name in the language of the list
	Values []FacetValue
}

// FacetValue is a value of a facet. Href adds it to the filters or, if it is active, removes it.
type FacetValue struct {
	Value  string `json:"value"`
	Label  string `json:"label"`
	Count  int    `json:"count"`
	Href   string `json:"-"`
	Active bool   `json:"-"`
}

// Link is a link. Type is its media type where that is known.
type Link struct{ Href, Label, Type string }

// Param is a parameter of a request or a meta tag. In List.Params: those in force which
// the form of the page has no field for, such as filters; not q, sort, group and page.
type Param struct{ Name, Value string }

// Record is an item with a page of its own.
type Record struct {
	Head
	Item     Item
	Authors  []Author
	Fields   []Param // what else is known, such as type, year and venue: people read the text of its name
	Abstract string  // plain text; an empty line begins a paragraph
	BibTeX   string
	Meta     []Param // citation_*
	JSONLD   []byte
	Lists    []Link // lists that have the item, for the way back
}

// Author is a person of a record. Href is empty where the person has no public page.
type Author struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"` // the username
	ORCID string `json:"orcid,omitempty"`
	Href  string `json:"-"`
}

// Section is lists of a kind: named ones, views, units, topics. Title may be empty.
type Section struct {
	// Kind is a parameter: the lists are about its values, by name. Empty: they are not.
	Kind  string      `json:"kind,omitempty"`
	Lists []ListEntry `json:"lists"`
	Title string      `json:"title"`
}

// ListEntry is a list in an overview.
type ListEntry struct {
	Count int    `json:"count"`
	Href  string `json:"href"`         // of the list, without a suffix
	ID    string `json:"id,omitempty"` // the value of Section.Kind
	Title string `json:"title"`
	// Letter is the heading under which readers look for it in a long section.
	Letter string `json:"-"`
}

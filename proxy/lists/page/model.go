package page

import "time"

// Head has the fields that all pages have.
type Head struct {
	Title string // plain text
	Lang  string // language of our texts: "de", or any other for English
	Site  Site
	// Base is the address of this server: absolute, without a slash at its end. If it is empty, URLs are paths. A
	// page loads its files from the path of Base.
	Base string
	// Self is the URL of this page in canonical spelling, without a suffix.
	Self string
	// Canonical is the URL for search engines. If empty, it is Self.
	Canonical string
	// Description is for search engines and previews of links, plain text. If empty, there is none.
	Description string
	Exports     []Link // the content of the page as files and feeds
	Languages   []Link // this page in each language; Type is the language's code
	Alternates  []Link // the same for search engines, at canonical addresses
	AsOf        time.Time
	OEmbed      string // the address that says how to embed this page; empty if it is not for that
	Embed       bool   // the page is made for an iframe: it has no navigation, search and exports
	Theme       string // light or dark; if empty, that of the reader's system
}

// Site is the institute, as a page names it. Empty fields are left out. Logo and URL are web addresses.
type Site struct{ Title, Logo, URL string }

// List is the model of a list for Fragment and Page. The search form of Page goes to the path of Self, and the ids of
// a fragment begin with it.
type List struct {
	Head
	Heading int // level of the title in a fragment, 1 to 6; 0 means 2
	// Untitled leaves the title out of a fragment, and out of sight in a page for an iframe: the page around has one.
	Untitled bool
	Numbered bool // the numbers of entries are visible
	// Ends leaves links to other pages out of a fragment and of a page for an iframe, and the number of entries out of
	// sight: the page around shows a few of many.
	Ends  bool
	Jumps []Jump // links to the groups of all pages
	// Reset is the address of the list as its editor made it. It is empty if the reader has chosen nothing.
	Reset string

	Without []string // suffixes of the formats that other lists have, such as .bib

	Notes []string // sentences about values of the request that no record has, plain text

	Count, Page, Pages, Limit int
	Entries                   int               // more than Count if records are in several groups
	Turns                     map[string]string // URLs of the first, prev, next and last page, as far as they exist
	// Effective parameters; Q has the reader's words, and Group its values separated by commas. The form of Page
	// sends and.q, sort and group, and and.q even if it is empty.
	Q, Group, Sort string
	Searched       bool // the list has words, the reader's or others, and so an order by relevance
	Chosen         bool // the list has an order of its own, which Sort "" means
	Params         []Param
	Facets         []Facet
	Others         []Link // other filters, such as what the list leaves out; a link takes one away
	Items          []Item
	OwnNumbers     bool        // the citations have numbers, by their style
	Years          []YearCount // of a chart, in order; without any there is no chart
	OpenAccess     bool        // the chart has the part that is open access
	OfPersons      bool        // the entries are persons
	Person         *Item       // that the list is about, for a card above the list of a page; nil for other lists
	Related        []Link      // other lists about the same, such as the people of a unit
	JSONLD         []byte      // one JSON value, or nil
}

// Jump is a link to a group of a list. Href and Self are empty for a group that begins on this page.
type Jump struct {
	Value, Label string // of the group
	Page         int    // on which it begins
	Href         string // address of that page for readers
	Self         string // the same as Head.Self of that page, by which its ids begin
}

// Item is one record of a list.
type Item struct {
	// the groups that contain it, the outermost first; consecutive items share the headings of equal ones
	Groups []Group
	ID     string
	Href   string // the item's page; empty if it has none
	Lang   string // language of the citation; if empty, that of the list
	HTML   string // citation, cleaned by rules/markup or written by rules/csl
	// CitationLang is the language of the citation's words, if it is not Lang
	CitationLang string
	COinS        string // from rules/cite, escaped for an attribute; empty if there is none
	Key          string // citation key
	Links        []Link // links to DOI, full text and others
	// Person is that of a list of persons: then HTML is the name alone, and of Extras only the units count.
	Person *Person
	Extras
}

// Extras are the parts of an item that a request asks for with the parameter show. Each is empty if it does not.
type Extras struct {
	Badges   []string `json:"badges,omitempty"`
	Units    []Unit   `json:"units,omitempty"`
	Keywords []Link   `json:"-"` // to the lists of keywords; Href is empty for one without a list
	BibTeX   string   `json:"bibtex,omitempty"`
	RIS      string   `json:"ris,omitempty"`
	Figures  []Figure `json:"-"`

	OpenAccess bool     `json:"-"`
	Licence    Link     `json:"-"` // its label is empty if the record names none, and its Href if it has no address
	Abstract   []string `json:"-"` // paragraphs, HTML from rules/markup
}

// Figure is what another service knows of an item. Service is a name in badges.js, which asks the service once the
// visitor agrees.
type Figure struct{ Service, DOI string }

// services are the services of figures: their names, the page of each with what it knows of a DOI, and the server
// that badges.js asks.
var services = map[string]struct{ name, page, server string }{
	"altmetric":  {"Altmetric", "https://www.altmetric.com/details/doi/", "https://api.altmetric.com"},
	"dimensions": {"Dimensions", "https://badge.dimensions.ai/details/doi/", "https://metrics-api.dimensions.ai"},
}

// HasFigures reports whether a word of the parameter show is a service of figures.
func HasFigures(word string) bool { _, serves := services[word]; return serves }

// Unit is a unit of an item.
type Unit struct {
	ID   string `json:"id"`
	Name string `json:"name"` // in the language of the list
	Href string `json:"-"`    // the unit's list; empty if it has none
}

// Group is a group of items, which has a heading.
type Group struct {
	By        string `json:"by"`    // the parameter by which the list is divided
	Value     string `json:"value"` // empty for items without a value
	Label     string `json:"label"`
	Count     int    `json:"count,omitempty"`     // number of records; 0 if it is not shown
	Continued bool   `json:"continued,omitempty"` // the group began on an earlier page
}

// Facet has the values by which readers can narrow a list. The values of an effective filter are active, even if the
// request does not ask for their counts.
type Facet struct {
	Name   string // the parameter; readers see its text in the language of the list
	Values []FacetValue
}

// FacetValue is a value of a facet. Href adds it to the filters or, if it is active, removes it. It is empty if
// readers cannot take the value away.
type FacetValue struct {
	Value  string `json:"value"`
	Label  string `json:"label"`
	Count  int    `json:"count"`
	Href   string `json:"-"`
	Active bool   `json:"-"`
}

// Link is a link. Type is its media type, if known.
type Link struct{ Href, Label, Type string }

// Param is a parameter of a request or a meta tag. List.Params has the effective parameters for which the form of the
// page has no field, such as filters, but not and.q, sort, group and page.
type Param struct{ Name, Value string }

// Record is an item with a page of its own.
type Record struct {
	Head
	Heading  string // the title, HTML from rules/markup; if empty, that of the head
	Item     Item
	Notices  []Notice
	People   []Role
	Fields   []Param  // other fields, such as type, year and venue; readers see the texts of their names
	Abstract []string // paragraphs, HTML from rules/markup
	BibTeX   string
	Meta     []Param // tags citation_*
	JSONLD   []byte
	Lists    []Link // lists that contain the item, for the way back
}

// Role has the persons of a record who have the same role: authors, or the name of a text. Authors come first, and
// have no heading of their own, because organizers and members of projects are authors, too.
type Role struct {
	Name    string
	Persons []Author
}

// Author is a person of a record. Href is empty if the person has no public page.
type Author struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"` // the username
	ORCID string `json:"orcid,omitempty"`
	Href  string `json:"-"`
}

// Notice says that a work was retracted or the like, or that it is the notice of that, and which work is the other
// one.
type Notice struct {
	Type  string `json:"type"`  // a code of package notice
	Label string `json:"label"` // of the type
	DOI   string `json:"doi,omitempty"`
	Href  string `json:"url,omitempty"`   // address of the other work; empty if it is not known
	Title string `json:"title,omitempty"` // of the other work, if it is a record of ours
}

// Section has the lists of one kind: configured lists, whole views, units, topics. Title may be empty.
type Section struct {
	// Kind is the parameter whose values the lists are about, sorted by name. It is empty for other lists.
	Kind  string      `json:"kind,omitempty"`
	Lists []ListEntry `json:"lists"`
	Title string      `json:"title"`
}

// ListEntry is a list in an overview.
type ListEntry struct {
	Count int    `json:"count"`
	Href  string `json:"href"`         // address of the list, without a suffix
	ID    string `json:"id,omitempty"` // the value of Section.Kind
	Title string `json:"title"`
	// Letter is the heading of the list in a long section.
	Letter  string `json:"-"`
	Persons bool   `json:"-"` // it is a list of persons
}

package cite

import (
	"vitrine/rules"
	"vitrine/rules/doi"
	"vitrine/rules/markup"
)

// Rules are compiled mapping rules for the rows of one view.
type Rules struct {
	// Fingerprint is of the file: other rules have another one.
	Fingerprint string

	view                   string
	slots                  map[string]int // of stored fields, in Item.values
	subtypes, types, views map[string]*kind
	fallback               *kind
	degrees                map[string]string // names of codes
}

// kind is a kind of work: what the formats call it, and the slots that each variable comes
// from, the first that is not empty.
type kind struct {
	Forms
	fields [][]int
}

// The first variables of an item: those that are more than a text are read by their number.
const (
	vTitle = iota
	vName
	vAuthors
	vEditors
	vYear
	vMonth
	vDay
	vStart
	vEnd
)

// variables are what the file maps stored fields to, by name, and what sets those that are
// texts.
var variables = []struct {
	name string
	set  func(it *Item, text string)
}{
	vTitle:   {"title", func(it *Item, s string) { it.Title, it.Text = markup.Title(s), plain(s) }},
	vName:    {"name", func(it *Item, s string) { it.Name = s }},
	vAuthors: {name: "authors"}, vEditors: {name: "editors"}, vYear: {name: "year"}, vMonth: {name: "month"}, vDay: {name: "day"},
	vStart: {name: "start"}, vEnd: {name: "end"},
	{"doi", func(it *Item, s string) { it.DOI = doi.Parse(s) }},
	{"url", func(it *Item, s string) { it.URL = markup.WebURL(s) }},
	{"container", func(it *Item, s string) { it.Container = plain(s) }},
	{"series", func(it *Item, s string) { it.Series = plain(s) }},
	{"volume", func(it *Item, s string) { it.Volume = s }},
	{"issue", func(it *Item, s string) { it.Issue = s }},
	{"pages", func(it *Item, s string) { it.Pages = s }},
	{"publisher", func(it *Item, s string) { it.Publisher = s }},
	{"place", func(it *Item, s string) { it.Place = s }},
	{"edition", func(it *Item, s string) { it.Edition = s }},
	{"event", func(it *Item, s string) { it.Event = plain(s) }},
	{"degree", func(it *Item, s string) { it.Degree = s }},
	{"version", func(it *Item, s string) { it.Version = s }},
	{"pmid", func(it *Item, s string) { it.PMID = s }},
	{"isbn", func(it *Item, s string) { it.ISBN = s }},
	{"issn", func(it *Item, s string) { it.ISSN = s }},
	{"language", func(it *Item, s string) { it.Language = s }},
	{"abstract", func(it *Item, s string) { it.Abstract = plain(s) }},
}

// Slots of the fields that are read whatever the file says.
const (
	slotID = iota
	slotType
	slotSubtype
	slotMark
)

// View returns the rules for the rows of another view, such as rules.ViewProjects. Load
// returns those for activities.
func (r *Rules) View(name string) *Rules {
	other := *r
	other.view = name
	if kind, ok := r.views[name]; ok {
		other.fallback = kind
	}
	if name != rules.ViewActivities { // their codes mean something else
		other.subtypes, other.types = nil, nil
	}
	return &other
}

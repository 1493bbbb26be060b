package cite

import (
	"vitrine/rules"
	"vitrine/rules/mark"
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

// The variables of an item that fill reads each in its own way.
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
	vDOI
	vURL
	texts // the first of those that are texts as stored
)

// variables are what the file maps stored fields to, by name.
var variables = []struct {
	name   string
	of     func(*Item) *string
	marked bool // stored with the markup of titles
}{
	vTitle: {name: "title"}, vName: {name: "name"}, vAuthors: {name: "authors"}, vEditors: {name: "editors"},
	vYear: {name: "year"}, vMonth: {name: "month"}, vDay: {name: "day"}, vStart: {name: "start"}, vEnd: {name: "end"},
	vDOI: {name: "doi"}, vURL: {name: "url"},
	texts: {"container", func(it *Item) *string { return &it.Container }, true},
	{"series", func(it *Item) *string { return &it.Series }, true},
	{"volume", func(it *Item) *string { return &it.Volume }, false},
	{"issue", func(it *Item) *string { return &it.Issue }, false},
	{"pages", func(it *Item) *string { return &it.Pages }, false},
	{"publisher", func(it *Item) *string { return &it.Publisher }, false},
	{"place", func(it *Item) *string { return &it.Place }, false},
	{"edition", func(it *Item) *string { return &it.Edition }, false},
	{"event", func(it *Item) *string { return &it.Event }, true},
	{"degree", func(it *Item) *string { return &it.Degree }, false},
	{"version", func(it *Item) *string { return &it.Version }, false},
	{"pmid", func(it *Item) *string { return &it.PMID }, false},
	{"isbn", func(it *Item) *string { return &it.ISBN }, false},
	{"issn", func(it *Item) *string { return &it.ISSN }, false},
	{"language", func(it *Item) *string { return &it.Language }, false},
	{"abstract", func(it *Item) *string { return &it.Abstract }, true},
}

// Slots of the fields that are read whatever the file says.
const (
	slotID = iota
	slotType
	slotSubtype
	slotMark
)

// baseSlots returns the slots of these fields by name.
func baseSlots() map[string]int {
	return map[string]int{"_id": slotID, "type": slotType, "subtype": slotSubtype, mark.Field: slotMark}
}

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

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

// kind is a kind of work: what the formats call it, and the slots that its variables come
// from, the first that is not empty.
type kind struct {
	Forms
	fields [variables][]int
}

// The variables of an item that the file maps stored fields to.
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
	vContainer
	vSeries
	vVolume
	vIssue
	vPages
	vPublisher
	vPlace
	vEdition
	vEvent
	vDegree
	vVersion
	vDOI
	vPMID
	vISBN
	vISSN
	vURL
	vLanguage
	vAbstract
	variables
)

// variableNames are the names of the variables in the file.
var variableNames = [variables]string{
	"title", "name", "authors", "editors", "year", "month", "day", "start", "end",
	"container", "series", "volume", "issue", "pages", "publisher", "place", "edition", "event", "degree", "version",
	"doi", "pmid", "isbn", "issn", "url", "language", "abstract",
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

package records

import (
	"slices"
	"strings"

	"vitrine/rules/suggest"
)

// Unread is a collection that nothing reads.
type Unread struct {
	Collection string `json:"collection"`
	Near       string `json:"near,omitempty"`    // the collection that it was perhaps meant to be, or ""
	Missing    bool   `json:"missing,omitempty"` // the store has no collection Near
}

// Fault reports whether the collection's name is probably wrong.
func (u Unread) Fault() bool { return u.Near != "" && u.Missing }

// String says what is wrong.
func (u Unread) String() string {
	switch {
	case u.Near == "":
		return "found " + u.Collection + ", which nothing reads"
	case strings.EqualFold(u.Near, u.Collection):
		return "found " + u.Collection + ", which nothing reads; the name is " + u.Near + ", in small letters"
	}
	return "found " + u.Collection + ", which nothing reads; " + contents[u.Near] + " are read from " + u.Near
}

// contents says what the records of each collection are that jobs read.
var contents = map[string]string{
	"activities": "activities (publications, talks and others)", "persons": "persons", "groups": "units",
	"projects": "projects", "proposals": "proposals", "conferences": "events", "deadlines": "deadlines",
	"journals": "journals", "organizations": "organizations", "catalog_topics": "topics of the catalogue",
}

// otherNames are the names that other systems have for what collections hold.
var otherNames = suggest.Meanings{
	{Word: "activities", Others: "publications publication publikationen papers works outputs articles items " +
		"references literature bibliography activity activitys talks lectures theses veröffentlichungen"},
	{Word: "persons", Others: "people users user staff members employees authors researchers personen person " +
		"mitarbeiter mitarbeitende team"},
	{Word: "groups", Others: "units unit departments department divisions orgunits teams einheiten abteilungen " +
		"arbeitsgruppen institutes"},
	{Word: "projects", Others: "grants projekte research_projects fundings"},
	{Word: "conferences", Others: "events event meetings workshops veranstaltungen konferenzen"},
	{Word: "organizations", Others: "organisations institutions partners funders organisationen"},
	{Word: "journals", Others: "venues sources zeitschriften periodicals"},
	{Word: "proposals", Others: "applications anträge"},
	{Word: "deadlines", Others: "fristen calls"},
	{Word: "catalog_topics", Others: "topics catalogue catalog themen"},
}

// FindUnread returns which of the found collections are not among those that are read, sorted: first those whose
// names are probably wrong.
func FindUnread(found, read []string) []Unread {
	all := []Unread{} // an empty array in JSON
	for _, name := range slices.Sorted(slices.Values(found)) {
		if slices.Contains(read, name) {
			continue
		}
		near := otherNames.Near(name, read)
		missing := near != "" && !slices.Contains(found, near)
		all = append(all, Unread{Collection: name, Near: near, Missing: missing})
	}
	slices.SortStableFunc(all, func(a, b Unread) int {
		switch {
		case a.Fault() == b.Fault():
			return 0
		case a.Fault():
			return -1
		}
		return 1
	})
	return all
}

package osiristest

import (
	"slices"
	"strings"
)

// Common lists the collections that every page below /portfolio reads.
var Common = []string{"system", "groups", "topics", "adminGeneral", "adminFeatures", "adminCategories", "adminTypes"}

// Path is one of the portal's paths.
type Path struct {
	Pattern  string // such as /portfolio/unit/ID/staff, or with alternatives in braces
	Examples []Example
}

// Example is a request for a path that has an answer.
type Example struct {
	Target string
	Reads  []string // the collections that the answer depends on, beside Common
}

// Depends reports whether the answer depends on a collection.
func (e Example) Depends(collection string) bool {
	return slices.Contains(Common, collection) || slices.Contains(e.Reads, collection)
}

// portal lists what the portal asks for below /portfolio. An element of a pattern in braces stands for any of its
// names; ID is an id of the kind before it.
var portal = []struct{ pattern, reads string }{
	{"settings", ""},
	{"topics", ""},
	{"units", ""},
	{"{unit|topic}/ID", "activities persons projects"},
	{"unit/ID/research", ""},
	{"topic/ID/units", ""},
	{"{publications|activities|all-activities}", "activities"},
	{"{unit|person|project|topic}/ID/{publications|activities|all-activities}", "activities"},
	{"unit/ID/cooperation", "activities"},
	{"infrastructure/ID/activities", "activities"},
	{"unit/ID/numbers", "activities persons projects infrastructures"},
	{"unit/ID/teaching", "activities persons teaching"},
	{"person/ID/teaching", "activities persons teaching"},
	{"{unit|topic}/ID/staff", "persons"},
	{"persons", "persons"},
	{"person-images", "persons"},
	{"projects", "projects adminProjects persons"},
	{"{unit|person|topic}/ID/projects", "projects adminProjects persons"},
	{"unit/ID/collaborators-by-country", "projects organizations"},
	{"{unit|project|topic}/ID/collaborators-map", "projects organizations"},
	{"project/ID", "projects persons activities organizations adminFields adminVocabularies"},
	{"project/ID/staff", "projects persons activities organizations adminFields adminVocabularies"},
	{"person/ID", "activities persons projects infrastructures teaching"},
	{"person/ID/infrastructures", "activities persons projects infrastructures teaching"},
	{"activity/ID", "activities activitiesConnections persons projects journals organizations conferences teaching " +
		"infrastructures adminFields adminVocabularies"},
	{"infrastructures", "infrastructures persons activities organizations"},
	{"infrastructure/ID", "infrastructures persons activities organizations"},
	{"news", "news"},
}

// kinds has, by the element before an ID, the collection and the id of the example.
var kinds = map[string]struct{ collection, example string }{
	"unit":           {"groups", Unit},
	"person":         {"persons", Person},
	"project":        {"projects", Project},
	"topic":          {"topics", Topic},
	"activity":       {"activities", Activity},
	"infrastructure": {"infrastructures", Infrastructure},
}

// Paths returns the portal's 28 paths below /portfolio.
func Paths() (all []Path) {
	for _, p := range portal {
		path := Path{Pattern: "/portfolio/" + p.pattern}
		for _, page := range expand(p.pattern) {
			kind, below, _ := strings.Cut(page, "/ID")
			target := "/portfolio/" + kind
			if page != kind {
				target += "/" + kinds[kind].example + below
			}
			path.Examples = append(path.Examples, Example{target, readsOf(page)})
		}
		all = append(all, path)
	}
	return all
}

// Examples returns the examples of all paths.
func Examples() (all []Example) {
	for _, p := range Paths() {
		all = append(all, p.Examples...)
	}
	return all
}

// expand returns what a pattern's braces stand for.
func expand(pattern string) []string {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		return []string{pattern}
	}
	names, after, _ := strings.Cut(rest, "}")
	var all []string
	for name := range strings.SplitSeq(names, "|") {
		all = append(all, expand(before+name+after)...)
	}
	return all
}

// pages has the collections that a page reads, by its pattern without braces.
var pages = func() map[string][]string {
	all := map[string][]string{}
	for _, p := range portal {
		for _, page := range expand(p.pattern) {
			all[page] = strings.Fields(p.reads)
			if strings.HasPrefix(page, "person/") && p.reads == "activities" { // a person's lists count teaching, too
				all[page] = append(all[page], "teaching", "persons")
			}
		}
	}
	return all
}()

func readsOf(page string) []string { return slices.Clone(pages[page]) }

// APIPaths lists the paths below /api for which Vitrine has no route and whose answers do not depend on the session.
var APIPaths = []string{
	"/api/users", "/api/reviews", "/api/teaching", "/api/journal", "/api/journals", "/api/google",
	"/api/infrastructures", "/api/organizations", "/api/groups", "/api/groups/tree",
	"/api/activities-suggest/soil", "/api/calendar",
}

// SessionPaths lists paths below /api whose answers depend on the session.
var SessionPaths = []string{"/api/pivot-data", "/api/command-palette", "/api/dashboard/collaborators-chart"}

package api

import (
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// Views declares the views this package reads: the fragments their rows are joined from,
// and the paths that nearly every caller filters on, indexed before a snapshot is first
// shown. Their default order is that of rules.Views. warm names more paths of activities
// that callers of an institute often filter on.
func Views(warm ...string) []index.Definition {
	views := []index.Definition{
		{
			Name:      rules.ViewActivities,
			Fragments: activityFragments(),
			Warm: append([]string{
				fragTable, fragType, fragList,
				"type", "subtype", "year", "units", "authors.user", "rendered.users", "spectrum.display_name",
			}, warm...),
			Searched: []string{"title"},
		},
		{Name: rules.ViewProjects, Warm: []string{"title", "public", "persons.user", "created_by", "funding_number"}},
		{Name: rules.ViewProposals, Warm: []string{"title", "public", "persons.user", "created_by"}},
		{Name: rules.ViewJournals},
		{Name: rules.ViewPersons, Warm: []string{"username", "_id"}},
		{Name: rules.ViewUserUnits, Warm: []string{"username", "_id"}},
		{Name: rules.ViewEvents, Fragments: recordFragments()},
		{Name: rules.ViewDeadlines, Fragments: recordFragments()},
		{Name: rules.ViewSpectrum},
	}
	for i := range views {
		if v, _ := rules.ViewNamed(views[i].Name); v.Order != "" {
			views[i].Order = raw.Sort{{Path: mustPath(v.Order), Desc: true}}
		}
	}
	return views
}

package lists

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/proxy/lists/params"
	"vitrine/rules/suggest"
)

// noList returns the error for a name that no list has, with a hint. name may end with a suffix that is no
// format's.
func noList(name string, slugs, suffixes []string) error {
	slug, suffix, _ := strings.Cut(name, ".")
	if slices.Contains(slugs, slug) && suffix != "" {
		if near := suffixMeanings.Near("."+suffix, suffixes); near != "" {
			return notFound("This list has no such format, did you mean " + slug + near + "?")
		}
		return notFound("This list has no such format, only " + strings.Join(suffixes, ", ") + ".")
	}
	return notFound("There is no list of this name. /lists has all" + cmp.Or(listMeanings.Hint(slug, slugs), "."))
}

// The names that other systems have for our lists, kinds of subjects and formats.
var (
	listMeanings = suggest.Meanings{
		{Word: "activities", Others: "publications publication papers articles works outputs literature"},
		{Word: "projects", Others: "grants funding research"},
		{Word: "persons", Others: "people staff team members employees users authors"},
	}
	kindMeanings = suggest.Meanings{
		{Word: params.Unit, Others: "department departments org organisation organization groups institute units"},
		{Word: params.Person, Others: "author authors user users staff people researcher researchers persons"},
		{Word: params.Project, Others: "grant grants funding projects"},
		{Word: params.Topic, Others: "spectrum concept topics"},
	}
	suffixMeanings = suggest.Meanings{
		{Word: ".bib", Others: ".bibtex"}, {Word: ".csl.json", Others: ".csl"}, {Word: ".atom", Others: ".feed"},
		{Word: ".jsonld", Others: ".json-ld"},
	}
)

package bench

import (
	"fmt"
	"net/url"
)

// listURL is the list of all activities.
const listURL = "/lists/activities"

// publicLists are the faces of public lists: kept ones, and ones never asked for.
func (v *vocabulary) publicLists() []Case {
	return []Case{
		{Name: "lists-fragment", Title: "a list's fragment, cached", Path: always(listURL + ".html"), Supply: 1},
		{Name: "lists-page", Title: "a list's page with facets, cached", Path: always(listURL + "?facets=year,type,person"), Supply: 1,
			Header: map[string]string{"Accept": "text/html"}},
		{Name: "lists-json", Title: "a list as JSON with facets, cached", Path: always(listURL + ".json?facets=year,type,person"), Supply: 1},
		v.narrowed(),
		v.searched("lists-words", "two words never searched for", "infixes"),
		v.searched("lists-typing", "the beginning of a word, as one types", "prefixes"),
		{Name: "lists-bib", Title: "all activities as BibTeX, streamed", Path: always(listURL + ".bib"), Supply: 1, Conns: 1},
	}
}

// narrowed are lists of a type's activities of some years, never asked for.
func (v *vocabulary) narrowed() Case {
	const years, first, sizes = 20, 1990, 100
	types := v.words["types"]
	return Case{
		Name: "lists-fresh", Title: "a list never asked for, with five facets", Fresh: true, Conns: 1,
		Supply: len(types) * years * years * sizes,
		Path: func(n int) string {
			d := digits(n)
			from, more, size := first+d.next(years), d.next(years), 1+d.next(sizes)
			return fmt.Sprintf("%s.json?facets=year,type,unit,person,topic&year=%d..%d&limit=%d&type=%s",
				listURL, from, from+more, size, url.QueryEscape(types[d.next(len(types))]))
		},
	}
}

// searched are searches for each text of a list of words, whose last counts as a beginning.
func (v *vocabulary) searched(name, title, list string) Case {
	words := v.words[list]
	return Case{
		Name: name, Title: title, Fresh: true, Conns: 1, Supply: len(words),
		Path: func(n int) string { return listURL + ".json?q=" + url.QueryEscape(words[n%len(words)]) },
	}
}

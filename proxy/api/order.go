package api

import "vitrine/rules/raw"

// newestFirst is the order of lists that API.md gives none: by year descending,
// ties by _id (DESIGN.md: 3).
func newestFirst() raw.Sort { return raw.Sort{{Path: mustPath("year"), Desc: true}} }

// idOrder is the order by _id alone.
func idOrder(descending bool) raw.Sort {
	return raw.Sort{{Path: mustPath("_id"), Desc: descending}}
}

// mustPath parses a path written in this package.
func mustPath(s string) raw.Path {
	p, err := raw.ParsePath(s)
	if err != nil {
		panic(err)
	}
	return p
}

package bench

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// pageSize is what lists are paged by.
const pageSize = 20

// always asks the same.
func always(path string) func(int) string { return func(int) string { return path } }

// newestFirst is the order of lists (DESIGN.md: What API.md leaves open, 3).
func newestFirst() bson.D { return bson.D{{Key: "year", Value: -1}, {Key: "_id", Value: 1}} }

// same asks the store the same question each time.
func same(q origin.Query) func(int) (origin.Query, error) {
	return func(int) (origin.Query, error) { return q, nil }
}

// rowFields are what the default row of a list is made from.
func rowFields() []string { return []string{"rendered", "year"} }

// lists are the lists of activities that portals ask for over and over.
func (v *vocabulary) lists() []Case {
	const list = "/api/activities?limit=20"
	page := origin.Query{Sort: newestFirst(), Limit: pageSize, Projection: rowFields()}
	recent := `{"type":"publication","year":{"$gte":2020}}`
	sorted := []string{"year"}
	pages := max((v.rows+pageSize-1)/pageSize, 1)
	return []Case{
		{Name: "list", Title: "first page, cached", Path: always(list), Supply: 1, Query: same(page), Index: sorted},
		{Name: "list-filtered", Title: "first page of a filter, cached", Path: always(list + "&json=" + url.QueryEscape(recent)), Supply: 1, Query: filtered(recent), Index: sorted},
		{Name: "list-304", Title: "first page, not modified", Path: always(list), Supply: 1, Revalidate: true},
		{
			Name: "list-pages", Title: "page by page to the end", Supply: pages, Index: sorted,
			Path: func(n int) string { return fmt.Sprintf("%s&offset=%d", list, n%pages*pageSize) },
			Query: func(n int) (origin.Query, error) {
				q := page
				q.Skip = int64(n % pages * pageSize)
				return q, nil
			},
		},
	}
}

// filtered is a page of a filter as a store is asked for it.
func filtered(json string) func(int) (origin.Query, error) {
	return func(int) (origin.Query, error) { return pageOf(json) }
}

// pageOf reads a filter for the first page of what it selects.
func pageOf(json string) (origin.Query, error) {
	var filter bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(json), false, &filter); err != nil {
		return origin.Query{}, fmt.Errorf("filter %s: %w", json, err)
	}
	return origin.Query{Filter: filter, Sort: newestFirst(), Limit: pageSize, Projection: rowFields()}, nil
}

// others are all endpoints and modes beside lists and filters.
func (v *vocabulary) others() []Case {
	const columns = "/api/activities?limit=20&columns[]=title&columns[]=year&columns[]=doi"
	all := same(origin.Query{})
	gzip := map[string]string{"Accept-Encoding": "gzip"}
	zstd := map[string]string{"Accept-Encoding": "zstd"}
	cases := []Case{
		{Name: "columns", Title: "three columns, cached", Path: always(columns), Supply: 1, Index: []string{"year"},
			Query: same(origin.Query{Sort: newestFirst(), Limit: pageSize, Projection: []string{"rendered", "title", "year", "doi"}})},
		v.fresh("columns-fresh", "three columns of a filter never seen", columns, v.ranges()),
		{Name: "aggregate", Title: "activities by author, cached", Path: always("/api/activities?aggregate=authors.user"), Supply: 1},
		unasked(v.fresh("aggregate-fresh", "activities by author of a filter never seen", "/api/activities?aggregate=authors.user", v.ranges())),
		{Name: "html", Title: "all publications as HTML", Path: always("/api/html"), Supply: 1, Whole: true},
		{Name: "html-50", Title: "50 publications as HTML, cached", Path: always("/api/html?limit=50"), Supply: 1},
		{Name: "all", Title: "all activities for tables", Path: always("/api/all-activities"), Supply: 1, Whole: true, Query: all},
		{Name: "all-gzip", Title: "all activities for tables, gzip", Path: always("/api/all-activities"), Supply: 1, Whole: true, Header: gzip},
		{Name: "all-zstd", Title: "all activities for tables, zstd", Path: always("/api/all-activities"), Supply: 1, Whole: true, Header: zstd},
		{Name: "full", Title: "all activities in full", Path: always("/api/activities?full=1"), Supply: 1, Whole: true, Query: all},
	}
	return slices.Concat(cases, v.people(), v.projects())
}

// unasked is a case that stores are not asked: their interface does not group.
func unasked(c Case) Case {
	c.Query = nil
	return c
}

// people are the endpoints about persons, topics and titles.
func (v *vocabulary) people() []Case {
	escaped := func(prefix string, words []string) func(int) string {
		return func(n int) string { return prefix + url.QueryEscape(words[n%len(words)]) }
	}
	one := func(n int) (origin.Query, error) {
		return origin.Query{Filter: document(bson.D{{Key: "username", Value: v.persons[n%len(v.persons)]}}), Limit: 1}, nil
	}
	byName := []string{"username"}
	byID := func(n int) (origin.Query, error) {
		return origin.Query{Filter: document(bson.D{{Key: "_id", Value: v.personIDs[n%len(v.personIDs)]}}), Limit: 1}, nil
	}
	return []Case{
		{Name: "user-units", Title: "a person's units", Supply: len(v.persons), Path: escaped("/api/user-units/", v.persons),
			Collection: collectionPersons, Query: one, Index: byName},
		{Name: "users", Title: "a person", Supply: len(v.persons), Path: escaped("/api/users/", v.persons),
			Collection: collectionPersons, Query: one, Index: byName},
		{Name: "users-id", Title: "a person by _id, one request at a time", Supply: len(v.personIDs), Conns: 1,
			Path:       func(n int) string { return "/api/users/" + v.personIDs[n%len(v.personIDs)].Hex() },
			Collection: collectionPersons, Query: byID, Index: []string{"_id"}},
		{Name: "spectrum", Title: "the research spectrum, cached", Supply: 1, Path: always("/portfolio/spectrum"), Whole: true},
		{Name: "spectrum-20", Title: "20 topics of the spectrum, cached", Supply: 1, Path: always("/portfolio/spectrum?limit=20")},
		{Name: "spectrum-activities", Title: "a topic's activities", Supply: len(v.spectra),
			Path: escaped("/api/spectrum-activities?spectrum=", v.spectra)},
		{Name: "levenshtein", Title: "closest title to one never seen", Supply: wordsBut * len(v.titles), Fresh: true,
			Path: func(n int) string { return "/api/levenshtein?title=" + url.QueryEscape(v.misquoted(n)) }},
	}
}

// projects are the endpoints about projects, journals, events and searches.
func (v *vocabulary) projects() []Case {
	search := func(what, collection string, fields ...string) Case {
		return Case{Name: "search-" + what, Title: "20 " + what + " found by search, cached", Supply: 1, Path: always("/api/search/" + what + "?limit=20"),
			Collection: collection, Query: same(origin.Query{Limit: pageSize, Projection: fields})}
	}
	return []Case{
		{Name: "projects", Title: "first page of projects, cached", Supply: 1, Path: always("/api/projects?limit=20"),
			Collection: collectionProjects, Query: same(origin.Query{Sort: newestFirst(), Limit: pageSize})},
		{Name: "funding", Title: "projects by funding number", Supply: len(v.numbers), Index: []string{"funding_number"},
			Path: func(n int) string {
				return "/api/projects-by-funding-number?number=" + url.QueryEscape(v.numbers[n%len(v.numbers)])
			},
			Collection: collectionProjects,
			Query: func(n int) (origin.Query, error) {
				return origin.Query{Filter: document(bson.D{{Key: "funding_number", Value: v.numbers[n%len(v.numbers)]}})}, nil
			}},
		search("proposals", "proposals", "name", "title", "type"),
		search("journals", "journals", "journal", "issn", "publisher"),
		search("persons", collectionPersons, "first", "last", "username"),
		{Name: "events", Title: "all events, cached", Supply: 1, Path: always("/api/events"),
			Collection: "conferences", Query: same(origin.Query{Sort: bson.D{{Key: "start", Value: -1}, {Key: "_id", Value: 1}}})},
	}
}

// wordsBut is how many ways there are to misquote a title.
const wordsBut = 4

// misquoted is a title as people remember it: a word is missing, another is new.
// The number at its end makes every one different.
func (v *vocabulary) misquoted(n int) string {
	words := strings.Fields(v.titles[n%len(v.titles)])
	at := n / len(v.titles) % wordsBut % len(words)
	return strings.Join(words[:at], " ") + " " + strings.Join(words[at+1:], " ") + fmt.Sprintf(" %d", n)
}

// document makes BSON of fields that this package spells itself.
func document(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return raw
}

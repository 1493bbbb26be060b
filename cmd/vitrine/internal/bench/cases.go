package bench

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Case is one kind of question.
type Case struct {
	Name  string
	Title string // says in a few words what is asked
	// Path returns path and query of the n-th request.
	Path   func(n int) string
	Header map[string]string // of every request
	// Supply is how many different paths there are; 1 for the same question again
	// and again, 0 if the records lack the words for any. Of a Fresh case no path is
	// asked twice.
	Supply int
	// Fresh questions were never asked before: none of the answers may come from the
	// result cache. They are asked one after another, so that their times are those of
	// the evaluation and not of a queue.
	Fresh bool
	// Revalidate asks with the answer's own tag: all answers are 304.
	Revalidate bool
	// Conns is how many connections ask at a time; 0 means Options.Conns.
	Conns int
	// Query is the n-th question as another server is asked it; nil if it is not.
	Query func(n int) (origin.Query, error)
	// Collection is the one that Query is about; if empty, activities.
	Collection string
	// Index lists the paths that an index must be on for a server to answer the query
	// without looking at every document; none if there is no way around that.
	Index []string
}

// Steps that are no cases.
const (
	stepStart   = "start"
	stepMemory  = "memory"
	stepRefresh = "refresh"
)

// Steps lists what can be chosen: cases and the other steps, in the order in which
// they are measured.
func Steps() []string {
	names := []string{stepStart, stepMemory}
	for _, c := range (&vocabulary{}).cases() {
		names = append(names, c.Name)
	}
	return append(names, stepRefresh)
}

// checkCases checks that each chosen name covers a step.
func (o Options) checkCases() error {
	all := Steps()
	for _, name := range o.Cases {
		if !slices.ContainsFunc(all, func(step string) bool { return covers(name, step) }) {
			return fmt.Errorf("there is no case %q: choose of %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// covers reports whether the name chooses the step: it is the step's, or its beginning up
// to a hyphen.
func covers(name, step string) bool { return name == step || strings.HasPrefix(step, name+"-") }

// wants reports whether a step is chosen.
func (o Options) wants(step string) bool {
	return len(o.Cases) == 0 || slices.ContainsFunc(o.Cases, func(name string) bool { return covers(name, step) })
}

const (
	// pageSize is the number of rows of a page.
	pageSize = 20
	// listPath asks for the first page of activities.
	listPath = "/api/activities?limit=20"
	// wholeConns is the number of connections for large answers, which grow with the institute.
	wholeConns = 2
)

// newestFirst is the order of lists (DESIGN.md: What API.md leaves open, 3).
func newestFirst() bson.D { return bson.D{{Key: "year", Value: -1}, {Key: "_id", Value: 1}} }

// always asks the same path.
func always(path string) func(int) string { return func(int) string { return path } }

// same asks the server the same question each time.
func same(q origin.Query) func(int) (origin.Query, error) {
	return func(int) (origin.Query, error) { return q, nil }
}

// page is a page of activities, newest first, as a server is asked for it. Without fields
// it has those that the default row of a list is made from.
func page(fields ...string) origin.Query {
	return origin.Query{Sort: newestFirst(), Limit: pageSize, Projection: append(fields, "rendered", "year")}
}

// pageOf is the first page of what a filter in JSON selects.
func pageOf(json string) (origin.Query, error) {
	q := page()
	if err := bson.UnmarshalExtJSON([]byte(json), false, &q.Filter); err != nil {
		return q, fmt.Errorf("filter %s: %w", json, err)
	}
	return q, nil
}

// cases lists all cases, those with a Supply of 0 included.
func (v *vocabulary) cases() []Case {
	return slices.Concat(v.lists(), v.filters(), v.modes(), v.people(), v.projects(), v.publicLists())
}

// lists are the lists of activities that portals ask for over and over.
func (v *vocabulary) lists() []Case {
	recent := `{"type":"publication","year":{"$gte":2020}}`
	year := []string{"year"}
	pages := max((v.rows+pageSize-1)/pageSize, 1)
	return []Case{
		{Name: "list", Title: "first page, cached", Path: always(listPath), Supply: 1, Query: same(page()), Index: year},
		{Name: "list-filtered", Title: "first page of a filter, cached", Path: always(listPath + "&json=" + url.QueryEscape(recent)), Supply: 1,
			Query: func(int) (origin.Query, error) { return pageOf(recent) }, Index: year},
		{Name: "list-304", Title: "first page, not modified", Path: always(listPath), Supply: 1, Revalidate: true},
		{Name: "list-pages", Title: "page by page to the end", Supply: pages, Index: year,
			Path: func(n int) string { return fmt.Sprintf("%s&offset=%d", listPath, n%pages*pageSize) },
			Query: func(n int) (origin.Query, error) {
				q := page()
				q.Skip = int64(n % pages * pageSize)
				return q, nil
			}},
	}
}

// modes are lists of activities in other forms.
func (v *vocabulary) modes() []Case {
	const columns, groups = listPath + "&columns[]=title&columns[]=year&columns[]=doi", "/api/activities?aggregate=authors.user"
	const all = "/api/all-activities"
	whole := func(name, title, path, coding string) Case {
		return Case{Name: name, Title: title, Path: always(path), Supply: 1, Conns: wholeConns, Header: map[string]string{"Accept-Encoding": coding}}
	}
	columnsFresh := v.fresh("columns-fresh", "three columns of a filter never seen", columns, v.ranges())
	groupsFresh := v.fresh("aggregate-fresh", "activities by author of a filter never seen", groups, v.ranges())
	groupsFresh.Query = nil // stores do not group
	return []Case{
		{Name: "columns", Title: "three columns, cached", Path: always(columns), Supply: 1, Query: same(page("title", "doi")), Index: []string{"year"}},
		columnsFresh,
		{Name: "aggregate", Title: "activities by author, cached", Path: always(groups), Supply: 1},
		groupsFresh,
		whole("html", "all publications as HTML", "/api/html", "identity"),
		{Name: "html-50", Title: "50 publications as HTML, cached", Path: always("/api/html?limit=50"), Supply: 1},
		whole("all", "all activities for tables", all, "identity"),
		whole("all-gzip", "all activities for tables, gzip", all, "gzip"),
		whole("all-zstd", "all activities for tables, zstd", all, "zstd"),
		whole("full", "all activities in full", "/api/activities?full=1", "identity"),
	}
}

// each asks for the words of a list in turn. If field is not empty, the other server is
// asked for the documents of a collection that have the word there.
func (v *vocabulary) each(name, title, list, path, collection, field string) Case {
	words := v.words[list]
	c := Case{
		Name: name, Title: title, Supply: len(words), Collection: collection,
		Path: func(n int) string { return path + url.QueryEscape(words[n%len(words)]) },
	}
	if field != "" {
		c.Index = []string{field}
		c.Query = func(n int) (origin.Query, error) {
			var value any = words[n%len(words)]
			if id, err := bson.ObjectIDFromHex(words[n%len(words)]); err == nil && field == "_id" {
				value = id
			}
			q, err := equal(field, value)
			if collection == collectionPersons {
				q.Limit = 1
			}
			return q, err
		}
	}
	return c
}

// equal is the documents that have a value in a field.
func equal(field string, value any) (origin.Query, error) {
	filter, err := bson.Marshal(bson.D{{Key: field, Value: value}})
	return origin.Query{Filter: filter}, err
}

// people are the endpoints about persons, topics and titles.
func (v *vocabulary) people() []Case {
	byID := v.each("users-id", "a person by _id, one request at a time", "ids", "/api/users/", collectionPersons, "_id")
	byID.Conns = 1
	return []Case{
		v.each("user-units", "a person's units", "persons", "/api/user-units/", collectionPersons, "username"),
		v.each("users", "a person", "persons", "/api/users/", collectionPersons, "username"),
		byID,
		{Name: "spectrum", Title: "the research spectrum, cached", Supply: 1, Path: always("/portfolio/spectrum"), Conns: wholeConns},
		{Name: "spectrum-20", Title: "20 topics of the spectrum, cached", Supply: 1, Path: always("/portfolio/spectrum?limit=20")},
		v.each("spectrum-activities", "a topic's activities", "spectra", "/api/spectrum-activities?spectrum=", "", ""),
		{Name: "levenshtein", Title: "closest title to one never seen", Supply: misquotes * len(v.words["titles"]), Fresh: true, Conns: 1,
			Path: func(n int) string { return "/api/levenshtein?title=" + url.QueryEscape(v.misquoted(n)) }},
	}
}

// projects are the endpoints about projects, journals, events and searches.
func (v *vocabulary) projects() []Case {
	search := func(what string) Case {
		return Case{Name: "search-" + what, Title: "20 " + what + " found by search, cached", Supply: 1, Path: always("/api/search/" + what + "?limit=20")}
	}
	return []Case{
		{Name: "projects", Title: "first page of projects, cached", Supply: 1, Path: always("/api/projects?limit=20")},
		v.each("funding", "projects by funding number", "numbers", "/api/projects-by-funding-number?number=", collectionProjects, "funding_number"),
		search("proposals"),
		search("journals"),
		search("persons"),
		{Name: "events", Title: "all events, cached", Supply: 1, Path: always("/api/events")},
	}
}

// misquotes is how many ways there are to misquote a title.
const misquotes = 4

// misquoted is a title as people remember it: a word is missing, another is new.
// The number at its end makes every one different.
func (v *vocabulary) misquoted(n int) string {
	titles := v.words["titles"]
	words := strings.Fields(titles[n%len(titles)])
	at := n / len(titles) % misquotes % len(words)
	return fmt.Sprintf("%s %s %d", strings.Join(words[:at], " "), strings.Join(words[at+1:], " "), n)
}

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
)

// recordsEnv says how many random records TestRecordsAgree makes, by a seed that differs each time.
const recordsEnv = "VITRINE_TEST_RECORDS"

// TestRecordsAgree: of random activities, projects and events, all formats, pages, citations, feeds, searches,
// parameters and facets have the same title, year, persons, pages and DOI, with the preset osiris and without, in
// zones east and west of UTC.
func TestRecordsAgree(t *testing.T) {
	count, seed := 200, uint64(1)
	if n, err := strconv.Atoi(os.Getenv(recordsEnv)); err == nil {
		count, seed = n, rand.Uint64()
	}
	for _, tt := range []struct{ preset, zone string }{{"", "Asia/Tokyo"}, {"osiris", "America/New_York"}} {
		t.Run(tt.zone, func(t *testing.T) {
			t.Parallel()
			from, to := 0, count/2
			if tt.preset != "" {
				from, to = to, count
			}
			records := map[string][]bson.D{}
			for n := from; n < to; n++ {
				collection, d := record(seed, n)
				records[collection] = append(records[collection], d)
			}
			served := serveRecords(t, tt.preset, tt.zone, records)
			for collection, view := range map[string]string{
				"activities": "/lists/activities", "projects": "/lists/projects", "conferences": "/lists/events",
			} {
				a := newAgreeing(t, served, view, records[collection])
				a.seed = seed
				a.check()
				a.facets()
			}
		})
	}
}

// serveRecords serves records by collection with a preset in a zone, and the persons and units that they name.
func serveRecords(t *testing.T, preset, zone string, records map[string][]bson.D) *running {
	t.Helper()
	environ := []string{
		"VITRINE_TIMEZONE=" + zone, "VITRINE_LISTS_PORTAL=false", "VITRINE_LISTS_BASE_URL=https://data.example",
	}
	if preset != "" {
		environ = append(environ, "VITRINE_PRESET="+preset)
	}
	cfg, err := configs.Load(configs.Sources{Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	return runConfigured(t, cfg, func(r *running) {
		for collection, all := range records {
			r.put(collection, all...)
		}
		r.put("groups", bson.D{
			{Key: "_id", Value: 1}, {Key: "id", Value: "OWL"}, {Key: "name", Value: "Owls &amp; Light"},
		})
		r.put("persons", bson.D{
			{Key: "_id", Value: 1}, {Key: "username", Value: "aquill"}, {Key: "first", Value: "Ada"},
			{Key: "last", Value: "Quill"},
		})
	})
}

// agreeing compares what a served list says of its records.
type agreeing struct {
	*running
	t       *testing.T
	view    string // the path of the list
	seed    uint64
	records map[string]bson.D
	stored  map[string]string  // the words of stored citations, by id
	items   map[string]*agreed // by id
	wrong   map[string]int     // faults by kind
}

// newAgreeing returns the comparison of a list that has exactly some records.
func newAgreeing(t *testing.T, served *running, view string, records []bson.D) *agreeing {
	a := &agreeing{
		t: t, running: served, view: view,
		records: map[string]bson.D{}, stored: map[string]string{}, items: map[string]*agreed{},
		wrong: map[string]int{},
	}
	for _, d := range records {
		a.records[d[0].Value.(string)] = d
	}
	return a
}

// agreed is a record as the list's JSON has it.
type agreed struct {
	ID, HTML, Title, Pages, DOI, Date string
	Key                               string `json:"cite_key"`
	Authors                           []struct{ Name string }
	Year                              *int
	Type, Subtype                     string
	Links                             map[string]string
	Keywords                          []string
	OA                                *bool
	more                              bool
	print                             string // the words of the printed citation
	persons                           []string
}

// about are the fields of a record that decide what a member of its statements is.
var about = map[string][]string{
	"title": {"title"}, "year": {"year", "month", "day", "start_date", "end_date"}, "pages": {"pages"},
	"doi":     {"doi"},
	"authors": {"authors"}, "spoken": {"authors"}, "more": {"authors"}, "keyword": {"keywords"},
	"oa": {"open_access"},
}

// fault reports a disagreement, with the seed and with those fields of the record that concern it. Of many faults of
// a kind it reports the first ones.
func (a *agreeing) fault(id, where, member, got, want string) {
	a.t.Helper()
	kind := where + " " + member
	if a.wrong[kind]++; a.wrong[kind] > 3 {
		a.t.Fail()
		return
	}
	minimal := bson.D{}
	for _, e := range a.records[id] {
		if slices.Contains([]string{"_id", "type", "subtype"}, e.Key) || about[member] == nil ||
			slices.Contains(about[member], e.Key) {
			minimal = append(minimal, e)
		}
	}
	text, err := bson.MarshalExtJSON(minimal, false, false)
	if err != nil {
		text = fmt.Append(nil, err)
	}
	a.t.Errorf("seed %d: %s: %s is %q, want %q of\n\t%s", a.seed, where, member, got, want, text)
}

func (a *agreeing) get(path string) string {
	a.t.Helper()
	status, body := fetch(a.t, http.MethodGet, a.base+path, "Accept", "text/html")
	if status != http.StatusOK || !utf8.ValidString(body) {
		a.t.Fatalf("seed %d: %s: %d, UTF-8 %t: %.300s", a.seed, path, status, utf8.ValidString(body), body)
	}
	return body
}

// list returns items of a list as JSON, by id.
func (a *agreeing) list(query string) (items map[string]*agreed, facets map[string][]struct {
	Value string
	Count int
}) {
	a.t.Helper()
	var list struct {
		Items  []*agreed
		Facets map[string][]struct {
			Value string
			Count int
		}
	}
	parse(a.t, a.get(a.view+".json?"+query), &list)
	items = map[string]*agreed{}
	for _, it := range list.Items {
		items[it.ID] = it
	}
	return items, list.Facets
}

// check compares all formats with the JSON of the list, which has all records.
func (a *agreeing) check() {
	const most = 40
	for part := range slices.Chunk(slices.Sorted(maps.Keys(a.records)), most) {
		query := "ids=" + strings.Join(part, ",") + "&limit=" + strconv.Itoa(most)
		items, _ := a.list(query)
		if len(items) != len(part) {
			a.t.Fatalf("seed %d: the list has %d of %d records", a.seed, len(items), len(part))
		}
		maps.Copy(a.items, items)
		read := map[string]map[string]statement{}
		for _, f := range formats {
			read[f.suffix] = f.read(a.t, a.get(a.view+f.suffix+"?"+query))
		}
		prints := readHTML(a.t, a.get(a.view+".html?style=print&"+query))
		for id, it := range items {
			it.print = prints[it.Key]["citation"]
			a.record(id, it, read)
		}
	}
}

// record compares what is read about one record.
func (a *agreeing) record(id string, it *agreed, read map[string]map[string]statement) {
	want := statement{
		"title": it.Title, "year": "", "pages": hyphens(it.Pages), "doi": it.DOI, "citation": wordsOf(it.HTML),
	}
	if it.Year != nil {
		want["year"] = strconv.Itoa(*it.Year)
	}
	for _, p := range it.Authors {
		it.persons = append(it.persons, p.Name)
	}
	want["authors"] = strings.Join(it.persons, " / ")
	if date := yearOf(it.Date); date != want["year"] {
		a.fault(id, "JSON", "year", date, want["year"])
	}
	a.doiLink(id, it)
	for suffix, of := range read {
		got, ok := of[it.Key]
		if !ok {
			got, ok = of["/items/"+id]
		}
		if !ok {
			a.fault(id, suffix, "record", "missing", "")
			continue
		}
		if suffix == ".bib" {
			it.more = got["more"] != ""
			delete(got, "more")
		}
		a.compare(id, suffix, got, want)
	}
	page := a.get("/items/" + id)
	a.compare(id, "meta", readMeta(page), want)
	for _, got := range readHTML(a.t, page) {
		a.compare(id, "page", got, want)
	}
	if stored := a.stored[id]; stored == "" {
		a.citation(id, it, want)
	} else if !strings.HasPrefix(want["citation"], stored) { // volume and pages may follow
		a.fault(id, "citation", "words", want["citation"], stored)
	}
	a.search(id, it)
}

func (a *agreeing) compare(id, where string, got, want statement) {
	a.t.Helper()
	for member, value := range got {
		expected := want[member]
		switch {
		case member == "spoken": // names as they are spoken: the same words
			if expected = words(want["authors"]); words(value) != expected {
				a.fault(id, where, member, words(value), expected)
			}
			continue
		case member == "title" && (where == ".bib" || where == ".csl.json"):
			value, expected = strings.TrimSpace(value), blanks(expected) // they have it from HTML
			if where == ".csl.json" && strings.Contains(expected, "<") {
				continue // markup of CSL and the words <i> are the same there
			}
		case member == "title" && expected == "" && strings.HasPrefix(where, "."):
			continue // a feed calls it untitled
		case member == "authors" && where == ".ris":
			expected = noCommas(a.items[id].persons)
			value = noCommas(strings.Split(value, " / "))
		case where == ".csv" && strings.TrimPrefix(value, "'") == expected &&
			strings.IndexAny(expected, "'=+-@") == 0:
			continue // to a spreadsheet the apostrophe says that the cell has no formula
		}
		if value != expected {
			a.fault(id, where, member, value, expected)
		}
	}
}

// noCommas returns names without commas, which RIS does not have in a part of a name.
func noCommas(names []string) string { return strings.ReplaceAll(strings.Join(names, " / "), ",", "") }

// words returns the words of a text, sorted.
func words(s string) string {
	all := strings.Fields(strings.NewReplacer(",", " ", "/", " ").Replace(s))
	slices.Sort(all)
	return strings.Join(all, " ")
}

// doiLink checks that the address of a DOI is the DOI, encoded once.
func (a *agreeing) doiLink(id string, it *agreed) {
	address, err := url.Parse(it.Links["doi"])
	right := err == nil && address.Host == "doi.org" && address.Path == "/"+it.DOI
	if it.DOI == "" {
		right = it.Links["doi"] == ""
	}
	if !right {
		a.fault(id, "links", "doi", it.Links["doi"], it.DOI)
	}
}

// search checks that a record is found by its DOI in each form, a word of its title, and each name; and by
// parameters.
func (a *agreeing) search(id string, it *agreed) {
	found := func(member, query string) {
		a.t.Helper()
		if items, _ := a.list(query + "&and.ids=" + id); items[id] == nil {
			a.fault(id, "?"+query, member, "not found", "")
		}
	}
	if it.DOI != "" {
		forms := []string{it.DOI, "doi:" + it.DOI, it.Links["doi"], "DOI: " + it.DOI}
		found("doi", "q="+url.QueryEscape(forms[len(it.Title)%len(forms)]))
	}
	if word := longest(it.Title); word != "" {
		found("title", "q="+url.QueryEscape(word))
	}
	for _, name := range it.persons {
		if word := longest(name); word != "" {
			found("authors", "q="+url.QueryEscape(word))
		}
	}
	if it.Year != nil {
		found("year", "year="+strconv.Itoa(*it.Year))
	} else {
		found("year", "year=missing")
	}
	for _, k := range it.Keywords {
		found("keyword", "keyword="+url.QueryEscape(asValue(k)))
	}
	if it.OA != nil {
		found("oa", "oa="+map[bool]string{true: "1", false: "0"}[*it.OA])
	}
}

// asValue escapes what separates values of a parameter.
func asValue(s string) string { return strings.NewReplacer(",", `\,`, "..", `\.\.`).Replace(s) }

// longest returns the longest word of a text.
func longest(s string) (longest string) {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

// facets compares the counts of facets with the records.
func (a *agreeing) facets() {
	_, facets := a.list("limit=1&facets=year,oa,keyword")
	years, open := map[string]int{}, map[string]int{}
	for _, it := range a.items {
		if it.Year != nil {
			years[strconv.Itoa(*it.Year)]++
		} else {
			years["missing"]++
		}
		if it.OA != nil {
			open[map[bool]string{true: "1", false: "0"}[*it.OA]]++
		}
	}
	for name, want := range map[string]map[string]int{"year": years, "oa": open} {
		got := map[string]int{}
		for _, v := range facets[name] {
			got[v.Value] = v.Count
		}
		if !maps.Equal(got, want) {
			a.t.Errorf("seed %d: the facet %s is %v, want %v", a.seed, name, got, want)
		}
	}
}

package lists_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// made are the fields of rows that the materializer writes, and the one that decides who may see an activity.
var made = []string{"_id", mark.Field, rules.FieldResolved, "rendered", "type"}

// spoiled returns a row whose other fields have values of no use.
func spoiled(t *testing.T, row bson.Raw) bson.Raw {
	t.Helper()
	var b raw.Builder
	for e := range raw.All(row) {
		if v := e.Value(); slices.Contains(made, string(e.Key)) {
			b.Add(string(e.Key), v)
		} else {
			b.AddString(string(e.Key), "Spoiled; 1999-09-09, doi:10.9999/spoiled")
		}
	}
	return b.Document()
}

// TestStored: lists, items and exports show nothing of a row but what the materializer has made of its record: they
// are the same for rows whose other fields are spoiled.
func TestStored(t *testing.T) {
	more := map[string][]string{"activities": {whole, hostile}, "projects": {funded}}
	change := func(collection string, docs []bson.Raw) []bson.Raw {
		return append(docs, proxytest.Parse(t, more[collection]...)...)
	}
	for _, hidden := range [][]string{nil, {"volume", "orcid"}} {
		var sites [2]*proxytest.Site
		for i := range sites {
			store := proxytest.ListStore(t, change, hidden...)
			for _, view := range []string{
				rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons,
			} {
				var rows []bson.Raw
				_, err := store.Rows(t.Context(), view, 0, func(row origin.Row) error {
					if i == 1 && mark.Of(row.Doc) != nil {
						row.Doc = spoiled(t, row.Doc)
					}
					rows = append(rows, row.Doc)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				store.Publish(view, rows...)
			}
			o, views := proxytest.ListOptions(t, hidden...), proxytest.ListViews(t, hidden...)
			sites[i] = proxytest.OpenViews(t, store, o, views, 0)
		}
		for _, target := range storedTargets() {
			var bodies [2]string
			for i, s := range sites {
				res := s.Get(target, "Accept", "text/html")
				if bodies[i] = string(res.Body); res.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", target, res.Status)
				}
				if target == "/sitemap.xml" { // whose order is that of the view, which says nothing
					lines := strings.Split(bodies[i], "\n")
					slices.Sort(lines)
					bodies[i] = strings.Join(lines, "\n")
				}
			}
			if bodies[0] != bodies[1] {
				t.Errorf("without %s: %s differs\n%s\n%s", hidden, target, differing(bodies[0], bodies[1]),
					differing(bodies[1], bodies[0]))
			}
		}
	}
}

// hostile is a record whose values are in unusual forms.
const hostile = `{"_id": "hostile", "type": "publication", "subtype": "preprint", "title": "<b>A &amp; B</b>\u0007",
	"year": "c2019", "month": "Aug", "authors": "Quill, Ada; Fern, Bo; et al.", "editors": [{"name": "Dr. Éditor"}],
	"pages": "e12\u201314", "doi": "https://dx.doi.org/10.5555%2FABC", "issn": ["1234-5679", "0000-0000"],
	"abstract": ["one", "two"], "tags": "a; b", "updated": "2020-02-02", "series": "<i>S</i>", "status": "in press"}`

// storedTargets are requests for lists and items in all formats, orders and groups.
func storedTargets() (all []string) {
	for _, suffix := range []string{
		"", ".html", ".json", ".jsonld", ".bib", ".ris", ".csl.json", ".csv", ".atom", ".rss", ".feed.json",
	} {
		for _, list := range []string{
			"/lists/activities", "/lists/projects", "/lists/events", "/lists/persons", "/lists/unit/MOTH",
			"/items/whole", "/items/hostile", "/items/funded",
		} {
			show := "?show=abstract,badges,bibtex,contact,doi,keywords,oa,pdf,photo,position,profiles,ris,units&lang=de"
			if strings.HasPrefix(list, "/lists") {
				show += "&limit=200"
			}
			all = append(all, list+suffix+show)
		}
	}
	for _, query := range []string{
		"q=plugh", "q=10.5555/abc", "q=fern", "sort=title", "sort=-author", "sort=added", "sort=-added", "sort=type",
		"sort=year", "group=year,type", "group=keyword", "group=person", "keyword=a", "year=2019", "oa=1", "chart=1",
		"facets=year,type,subtype,unit,person,project,topic,keyword,oa",
	} {
		all = append(all, "/lists/activities.json?limit=200&"+query, "/lists/activities?limit=200&"+query)
	}
	return append(all, "/sitemap.xml", "/lists", "/lists.json")
}

// differing returns where a text begins to differ from another one.
func differing(text, other string) string {
	i := 0
	for i < min(len(text), len(other)) && text[i] == other[i] {
		i++
	}
	return text[max(0, i-80):min(len(text), i+80)]
}

package lists_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/proxytest"
	"vitrine/rules/markup"
	"vitrine/rules/render/names"
)

// crowd returns an activity with n authors, whose citations name all of them. Number 1500 is a person of the demo.
func crowd(id string, n int) bson.D {
	var all []names.Person
	var stored bson.A
	for i := range n {
		who := names.Person{First: "Ada B.", Last: fmt.Sprintf("Crowd%d", i)}
		fields := bson.D{{Key: "first", Value: who.First}, {Key: "last", Value: who.Last}}
		if i == 1500 {
			fields = append(fields, bson.E{Key: "user", Value: "nkerzenr"})
		}
		all, stored = append(all, who), append(stored, fields)
	}
	form := names.Default()
	list := string(form.Append(nil, all))
	return bson.D{
		{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "year", Value: 2026}, {Key: "title", Value: "All of us"}, {Key: "authors", Value: stored},
		{Key: "rendered", Value: bson.D{
			{Key: "web", Value: "<a href='/activities/view/" + id + "'>All of us</a><br><small>" + list +
				" <i>J</i> (2026)</small>"},
			{Key: "print", Value: list + " (2026) All of us."},
		}},
	}
}

// named matches the names of a crowd.
var named = regexp.MustCompile(`Crowd\d+`)

// namesIn returns the distinct names of a crowd in a text, sorted.
func namesIn(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(named.FindAllString(text, -1))))
}

// rest matches the link to an item that stands for persons.
var rest = regexp.MustCompile(`<a class="vl-rest" href="https://data.example/items/(\w+)" lang="..">([^<]*)</a>`)

// TestCrowdsInLists: a list has 50 names of an entry at most, in its citation as in the data beside it, a link to the
// item for the others, and few bytes. The item has all names.
func TestCrowdsInLists(t *testing.T) {
	sizes := map[string]int{"many50": 50, "many51": 51, "many60": 60, "many3000": 3000}
	var records []bson.D
	for id, n := range sizes {
		records = append(records, crowd(id, n))
	}
	s := proxytest.OpenLists(t, withActivities(t, records...))
	for id, all := range sizes {
		more := map[int]string{50: "", 51: "and 1 more", 60: "and 10 more", 3000: "and 2,950 more"}[all]
		for _, query := range []string{
			"", "&style=print", "&authors=3", "&authors=50&show=bibtex,ris", "&group=person",
		} {
			for _, suffix := range []string{"", ".html", ".json"} {
				target := "/lists/activities" + suffix + "?ids=" + id + query
				body := string(s.Get(target, "Accept", "text/html").Body)
				if suffix == ".json" {
					body = getList(s, target).Items[0].HTML
				}
				if found := namesIn(body); len(found) != min(all, 50) || found[0] != "Crowd0" || len(body) > 60_000 {
					t.Errorf("%s has %d names in %d bytes", target, len(found), len(body))
				}
				link := rest.FindStringSubmatch(body)
				if found := link != nil && link[1] == id && link[2] == more; found != (more != "") {
					t.Errorf("%s links to the item with %q, want %q", target, link, more)
				}
			}
		}
		most := min(all, 50)
		for suffix, want := range map[string]int{".jsonld": most, ".atom": most, ".rss": 20, ".feed.json": most} {
			body := string(s.Get("/lists/activities" + suffix + "?ids=" + id).Body)
			if found := namesIn(body); len(found) != want || len(body) > 20_000 {
				t.Errorf("the list as %s has %d names in %d bytes, want %d", suffix, len(found), len(body), want)
			}
		}
		for _, suffix := range []string{"", ".html", ".json", ".jsonld", ".bib", ".ris", ".csl.json", ".csv"} {
			res := s.Get("/items/"+id+suffix, "Accept", "text/html")
			if found := namesIn(string(res.Body)); res.StatusCode != http.StatusOK || len(found) != all {
				t.Errorf("/items/%s%s: %s, with %d of %d names", id, suffix, res.Status, len(found), all)
			}
		}
		for _, suffix := range []string{".bib", ".ris", ".csl.json", ".csv", ".json"} {
			if found := namesIn(string(s.Get("/lists/activities" + suffix + "?ids=" + id).Body)); len(found) != all {
				t.Errorf("the list as %s has %d of %d names", suffix, len(found), all)
			}
		}
	}
	german := string(s.Get("/lists/activities.html?ids=many3000&lang=de").Body)
	if !strings.Contains(german, ` href="https://data.example/items/many3000" lang="de">und 2.950 weitere</a>`) {
		t.Errorf("the German list does not count the others: %.3000s", german)
	}
}

// TestOwnNameInCrowd: the list of a person shows the own name in a crowd, as one of 50, and what is left out around
// it.
func TestOwnNameInCrowd(t *testing.T) {
	s := proxytest.OpenLists(t, withActivities(t, crowd("many", 3000)))
	own := `, Crowd48,&nbsp;A. B. … </span><span class="vl-gap"> … </span>` +
		`<mark class="vl-mark">Crowd1500,&nbsp;A. B.</mark><span class="vl-others"> ` +
		`<a class="vl-rest" href="https://data.example/items/many" lang="en">and 2,950 more</a></span> <label `
	for _, target := range []string{
		"/lists/person/nkerzenr.json?ids=many", "/lists/activities.json?ids=many&person=nkerzenr",
	} {
		if html := getList(s, target).Items[0].HTML; !strings.Contains(html, own) || len(namesIn(html)) != 50 {
			t.Errorf("%s has %d names: %s", target, len(namesIn(html)), html)
		}
	}
}

// TestHugeEntries: what is huge in a record does not make its lists huge, where the citation does not say what it is
// made of. The item has everything.
func TestHugeEntries(t *testing.T) {
	// Megabytes are read anew by each of a dozen requests, for which the race detector takes minutes.
	words, people := 1<<17, 10_000
	if testing.Short() {
		words, people = 1<<14, 2000
	}
	title := "Owls " + strings.Repeat("& moths ", words)
	var keywords, editors bson.A
	for i := range people {
		keywords = append(keywords, fmt.Sprintf("word %d", i))
		editors = append(editors,
			bson.D{{Key: "first", Value: "Ada"}, {Key: "last", Value: fmt.Sprintf("Crowd%d", i)}})
	}
	huge := bson.D{
		{Key: "_id", Value: "huge"}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "year", Value: 2026}, {Key: "title", Value: title}, {Key: "keywords", Value: keywords},
		{Key: "editors", Value: editors}, {Key: "authors", Value: editors}, {Key: "doi", Value: "10.5555/huge"},
		{Key: "abstract", Value: strings.Repeat("Owls eat moths.\n\n", words)},
		{Key: "rendered", Value: bson.D{
			{Key: "web", Value: "<b>" + markup.Escape(title) + "</b>"},
			{Key: "print", Value: strings.Repeat("Owls. ", words)},
		}},
	}
	s := proxytest.OpenLists(t, withActivities(t, huge))
	for target, most := range map[string]int{
		"/lists/activities?ids=huge&facets=none":                                                130_000,
		"/lists/activities.html?ids=huge":                                                       100_000,
		"/lists/activities.html?ids=huge&style=print&jsonld=0":                                  80_000,
		"/lists/activities.html?ids=huge&show=abstract,badges,bibtex,doi,keywords,oa,ris,units": 250_000,
		"/lists/activities.jsonld?ids=huge":                                                     50_000,
		"/lists/activities.atom?ids=huge":                                                       60_000,
		"/lists/activities.rss?ids=huge":                                                        50_000,
		"/lists/activities.feed.json?ids=huge":                                                  50_000,
	} {
		body := string(s.Get(target, "Accept", "text/html").Body)
		if len(body) > most || !strings.Contains(body, "Owls") || !strings.Contains(body, "/items/huge") {
			t.Errorf("%s takes %d bytes, want at most %d", target, len(body), most)
		}
	}
	details := `</b> … <a class="vl-rest" href="https://data.example/items/huge" lang="en">Details</a>`
	html := getList(s, "/lists/activities.json?ids=huge").Items[0].HTML
	if len(html) > 21_000 || !strings.HasSuffix(html, details) {
		t.Errorf("the citation in JSON has %d bytes and ends with %s", len(html), html[max(len(html)-100, 0):])
	}
	for _, suffix := range []string{".html", ".jsonld", ".bib", ".csl.json"} {
		if body := s.Get("/items/huge" + suffix).Body; len(body) < len(title) {
			t.Errorf("/items/huge%s takes %d bytes", suffix, len(body))
		}
	}
	var data struct {
		Items []struct {
			Item struct{ Editor, Author []any }
		} `json:"itemListElement"`
	}
	if err := json.Unmarshal(s.Get("/lists/activities.jsonld?ids=huge").Body, &data); err != nil ||
		len(data.Items[0].Item.Author) != 50 || len(data.Items[0].Item.Editor) != 50 {
		t.Errorf("linked data: %v, %d authors", err, len(data.Items[0].Item.Author))
	}
}

package lists_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// facetValue is a value of a facet as JSON.
type facetValue struct {
	Value, Label string
	Count        int
	Fixed        bool
}

// listGroup is a group of an item as JSON.
type listGroup struct {
	By, Value, Label string
	Count            int
	Continued        bool
}

// listAnswer is a list as JSON.
type listAnswer struct {
	Title string `json:"title"`
	Count int    `json:"count"`
	Page  int    `json:"page"`
	Pages int    `json:"pages"`
	Limit int    `json:"limit"`
	Items []struct {
		ID      string            `json:"id"`
		HTML    string            `json:"html"`
		Title   string            `json:"title"`
		Year    *int              `json:"year"`
		Type    string            `json:"type"`
		Subtype string            `json:"subtype"`
		Group   string            `json:"group"`
		Groups  []listGroup       `json:"groups"`
		Text    string            `json:"text"`
		Links   map[string]string `json:"links"`
		Key     string            `json:"cite_key"`
		Authors []struct{ Name, ID, ORCID string }
	} `json:"items"`
	Facets  map[string][]facetValue `json:"facets"`
	Self    string                  `json:"self"`
	Missing []string                `json:"missing"`
	Links   map[string]string       `json:"links"`
}

// getList reads a list.
func getList(s *proxytest.Site, target string) (l listAnswer) {
	s.T.Helper()
	res := s.Get(target)
	if res.StatusCode != http.StatusOK {
		s.T.Fatalf("%s: status %d: %s", target, res.StatusCode, res.Body)
	}
	if err := json.Unmarshal(res.Body, &l); err != nil {
		s.T.Fatalf("%s: %v", target, err)
	}
	return l
}

// withRecords serves the demo with more records, which are given by collection, without the fields in hidden.
func withRecords(t *testing.T, records map[string][]string, hidden ...string) *proxytest.Site {
	t.Helper()
	return proxytest.OpenHiding(t, func(collection string, docs []bson.Raw) []bson.Raw {
		return append(docs, proxytest.Parse(t, records[collection]...)...)
	}, hidden...)
}

// builtIn are lists of the demo, one of each kind.
var builtIn = []string{
	"/lists/activities", "/lists/projects", "/lists/events", "/lists/unit/MOTH", "/lists/person/ekoyyild",
	"/lists/person/0000-0009-3666-8279", "/lists/topic/T90015",
}

// counters count the items of each face that contains all of them.
var counters = map[string]func(body string) int{
	".bib":      func(body string) int { return strings.Count("\n"+body, "\n@") },
	".ris":      func(body string) int { return strings.Count(body, "\nER  -") },
	".csl.json": func(body string) int { var all []any; _ = json.Unmarshal([]byte(body), &all); return len(all) },
	".csv": func(body string) int {
		rows, _ := csv.NewReader(strings.NewReader(body)).ReadAll()
		return len(rows) - 1
	},
	".jsonld": func(body string) int {
		var doc struct {
			Items []any `json:"itemListElement"`
		}
		_ = json.Unmarshal([]byte(body), &doc)
		return len(doc.Items)
	},
}

// TestListFacesAgree: each face of each list has the same items.
func TestListFacesAgree(t *testing.T) {
	proxytest.WholeOnly(t)
	s := proxytest.OpenLists(t, nil)
	for _, list := range builtIn {
		all := getList(s, list+".json?facets=year,type,unit")
		if all.Count == 0 || len(all.Items) != min(all.Count, 25) || all.Title == "" {
			t.Errorf("%s: %d of %d items, title %q", list, len(all.Items), all.Count, all.Title)
		}
		for _, facet := range []string{"year", "type"} {
			sum := 0
			for _, v := range all.Facets[facet] {
				sum += v.Count
			}
			if facet == "year" && sum != all.Count {
				t.Errorf("%s: the years have %d of %d items", list, sum, all.Count)
			}
		}
		for suffix, count := range counters {
			res := s.Get(list + suffix)
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s%s: status %d: %s", list, suffix, res.StatusCode, res.Body)
			} else if got := count(string(res.Body)); got != all.Count {
				t.Errorf("%s%s has %d items, want %d", list, suffix, got, all.Count)
			}
		}
		for suffix, mark := range map[string]string{".atom": "<entry>", ".rss": "<item>",
			".feed.json": `"content_html"`, ".html?limit=200": "<article ", "?limit=200": "<article "} {
			want := min(all.Count, 50)
			if strings.Contains(suffix, "limit") {
				want = min(all.Count, 200)
			}
			if got := strings.Count(string(s.Get(list+suffix, "Accept", "text/html").Body), mark); got != want {
				t.Errorf("%s%s has %d items, want %d", list, suffix, got, want)
			}
		}
	}
}

// TestStreamedExports: an export made in parts on several processors has the same bytes as one made
// as a whole, whatever the number of parts.
func TestStreamedExports(t *testing.T) {
	many := func(collection string, docs []bson.Raw) []bson.Raw {
		all := docs
		for i := 0; collection == "activities" && len(all) < 1000; i++ {
			changed, err := raw.SetField(docs[i%len(docs)], "_id", raw.NewString("<copy> "+strconv.Itoa(i)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, changed)
		}
		return all
	}
	store := proxytest.ListStore(t, many)
	whole := proxytest.OpenViews(t, store, proxytest.ListOptions(t), proxytest.ListViews(t), 0)
	o := proxytest.ListOptions(t)
	o.Limits.KeptBytes = 1
	parts := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	for _, target := range []string{
		"/lists/activities.bib", "/lists/activities.bib?latex=1&group=person", "/lists/activities.ris",
		"/lists/activities.csl.json", "/lists/activities.jsonld",
		"/lists/activities.csv?sort=title", "/lists/activities.bib?limit=1", "/lists/activities.ris?limit=128",
		"/lists/activities.ris?limit=129&page=2",
		"/lists/activities.csl.json?year=1000",
	} {
		want, got := whole.Get(target), parts.Get(target)
		if want.StatusCode != http.StatusOK || got.StatusCode != http.StatusOK ||
			string(got.Body) != string(want.Body) {
			t.Errorf("%s: %d bytes in parts (%d), %d as a whole (%d)", target, len(got.Body), got.StatusCode,
				len(want.Body), want.StatusCode)
		}
	}
}

// TestPreparedEntries: BibTeX entries prepared for a whole view equal those made for a request, in
// every order, from one version of the rows to the next, with and without free memory for them.
func TestPreparedEntries(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	compare := func() {
		t.Helper()
		for _, sort := range []string{"", "&sort=title", "&sort=-year", "&group=person", "&group=type"} {
			prepared := string(s.Get("/lists/activities.bib?" + sort).Body)
			var made []string
			for len(made) == 0 || made[len(made)-1] != "" {
				page := s.Get(fmt.Sprintf("/lists/activities.bib?limit=200&page=%d%s", len(made)+1, sort))
				made = append(made, string(page.Body))
			}
			if pages := strings.Join(made[:len(made)-1], "\n"); prepared != pages ||
				strings.Count(pages, "\n@") < 500 {
				t.Errorf("%s: %d bytes are prepared, %d made", sort, len(prepared), len(pages))
			}
		}
	}
	compare()
	first := s.Store.First(rules.ViewActivities)
	changed, err := raw.SetField(first, "title", raw.NewString("Quite another title"))
	if err != nil {
		t.Fatal(err)
	}
	s.Store.PublishMarked(t, rules.ViewActivities, changed)
	s.Await(rules.ViewActivities)
	compare()
	if !strings.Contains(string(s.Get("/lists/activities.bib").Body), "Quite another title") {
		t.Error("the answer lacks the change")
	}
}

// TestListParametersAreDescribed: for each path below /lists and /items, the description has
// exactly the parameters that are accepted.
func TestListParametersAreDescribed(t *testing.T) {
	var document struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Ref  string `json:"$ref"`
					Name string
					In   string
				}
			}
		}
		Components struct {
			Parameters map[string]struct{ Name, In string }
		}
	}
	s := proxytest.OpenLists(t, nil)
	if err := json.Unmarshal(s.Get("/openapi.json").Body, &document); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"q": "moths", "year": "2020", "type": "publication", "subtype": "article", "unit": "BIO", "deep": "1",
		"person": "ann", "project": "MOTH", "topic": "T1", "keyword": "owls",
		"ids": "a", "exclude": "a", "sort": "title", "group": "year", "counts": "1", "authors": "3", "page": "2",
		"limit": "2", "facets": "type", "lang": "de", "style": "print", "show": "abstract", "h": "3", "title": "0",
		"jsonld": "0", "latex": "1", "chart": "1", "embed": "1", "theme": "dark",
		"numbered": "1", "jump": "1", "pager": "0",
		"oa": "1", "not.year": "2020", "not.type": "review", "not.subtype": "article", "not.unit": "BIO",
		"not.person": "ann", "not.project": "MOTH", "not.topic": "T1", "not.keyword": "owls", "not.oa": "0",
	}
	for _, name := range params.Narrowing() {
		values[name] = values[strings.TrimPrefix(name, params.And(""))]
	}
	item := getList(s, "/lists/activities.json").Items[0].ID
	unit := getList(s, "/lists/activities.json?facets=unit").Facets["unit"][0].Value
	for path, target := range map[string]string{
		"/lists": "/lists", "/lists.json": "/lists.json", "/lists/{list}": "/lists/activities.json",
		"/lists/{kind}/{id}": "/lists/unit/" + unit + ".json", "/items/{id}": "/items/" + item + ".json",
	} {
		var described []string
		for _, p := range document.Paths[path].Get.Parameters {
			if p.Ref != "" {
				shared := document.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				p.Name, p.In = shared.Name, shared.In
			}
			if p.In == "query" {
				described = append(described, p.Name)
			}
		}
		var accepted []string
		for name, value := range values {
			if s.Get(target+"?"+name+"="+value).StatusCode == http.StatusOK {
				accepted = append(accepted, name)
			}
		}
		slices.Sort(described)
		slices.Sort(accepted)
		if !slices.Equal(described, accepted) {
			t.Errorf("%s takes    %v\ndescribed %v", path, accepted, described)
		}
	}
}

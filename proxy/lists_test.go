package proxy_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	viewindex "vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// collections are the source collections of the views that lists show.
var collections = map[string]string{
	rules.ViewActivities: "activities", rules.ViewProjects: "projects", rules.ViewEvents: "conferences", rules.ViewPersons: "persons",
}

// citeRules are the built-in mapping rules.
func citeRules(t testing.TB) *cite.Mapping {
	t.Helper()
	r, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// marked returns the rows of a view with the marks that the materializer writes.
func marked(t testing.TB, d *mark.Directory, view string, docs []bson.Raw) (rows []bson.Raw) {
	t.Helper()
	for _, doc := range docs {
		made, err := d.Make(view, doc)
		if err != nil {
			t.Fatal(err)
		}
		if made != nil {
			if doc, err = raw.SetField(doc, mark.Field, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: made}); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, doc)
	}
	return rows
}

// listStore is a store of records as the materializer marks them; change may add to those
// of a collection.
func listStore(t testing.TB, change func(collection string, docs []bson.Raw) []bson.Raw) *store {
	t.Helper()
	docs := map[string][]bson.Raw{}
	for _, name := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		docs[name] = documents(t, filepath.Join("..", "configs", "demo", name+".jsonl"))
		if change != nil {
			docs[name] = change(name, docs[name])
		}
	}
	return publicStore(t, docs)
}

// publicStore is a store of the records of collections as the materializer marks them.
func publicStore(t testing.TB, docs map[string][]bson.Raw) *store {
	t.Helper()
	public, err := filter.Parse([]byte(`{"hide": {"$ne": true}, "workflow.status": {"$nin": ["rejected", "in-review"]}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := mark.NewDirectory(mark.Options{Public: public, Now: published}, docs["persons"], docs["groups"], docs["projects"])
	s := newStore()
	for view, name := range collections {
		s.publish(view, marked(t, d, view, docs[name])...)
	}
	return s
}

// listOptions are options with lists.
func listOptions(t testing.TB) proxy.Options {
	t.Helper()
	o := options(t)
	o.Lists = lists.Options{Enabled: true, Cite: citeRules(t), BaseURL: "https://data.example"}
	return o
}

// listViews are the views with what lists need.
func listViews(t testing.TB) []viewindex.Definition {
	return lists.Views(api.Views(), citeRules(t))
}

// openLists serves the demo's records as lists.
func openLists(t testing.TB, change func(collection string, docs []bson.Raw) []bson.Raw) *site {
	t.Helper()
	return openViews(t, listStore(t, change), listOptions(t), listViews(t), 0)
}

// facetValue is a value of a facet as JSON.
type facetValue struct {
	Value, Label string
	Count        int
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
		Links   map[string]string `json:"links"`
		Key     string            `json:"cite_key"`
		Authors []struct{ Name, ID, ORCID string }
	} `json:"items"`
	Facets map[string][]facetValue `json:"facets"`
	Self   string                  `json:"self"`
	Links  map[string]string       `json:"links"`
}

// list reads a list.
func (s *site) list(target string) (l listAnswer) {
	s.t.Helper()
	res := s.get(target)
	if res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", target, res.StatusCode, res.body)
	}
	if err := json.Unmarshal(res.body, &l); err != nil {
		s.t.Fatalf("%s: %v", target, err)
	}
	return l
}

// builtIn are lists of the demo, one of each kind.
var builtIn = []string{
	"/lists/activities", "/lists/projects", "/lists/events", "/lists/unit/MOTH", "/lists/person/ekoyyild",
	"/lists/person/0000-0009-3666-8279", "/lists/topic/T90015",
}

// counters count the items of each face that has all of them.
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
	wholeOnly(t)
	s := openLists(t, nil)
	for _, list := range builtIn {
		all := s.list(list + ".json?facets=year,type,unit")
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
			res := s.get(list + suffix)
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s%s: status %d: %s", list, suffix, res.StatusCode, res.body)
			} else if got := count(string(res.body)); got != all.Count {
				t.Errorf("%s%s has %d items, want %d", list, suffix, got, all.Count)
			}
		}
		for suffix, mark := range map[string]string{".atom": "<entry>", ".rss": "<item>", ".feed.json": `"content_html"`, ".html?limit=200": "<article ", "?limit=200": "<article "} {
			want := min(all.Count, 50)
			if strings.Contains(suffix, "limit") {
				want = min(all.Count, 200)
			}
			if got := strings.Count(string(s.get(list+suffix, "Accept", "text/html").body), mark); got != want {
				t.Errorf("%s%s has %d items, want %d", list, suffix, got, want)
			}
		}
	}
}

// jsonOf decodes an answer.
func jsonOf(body []byte, into any) error { return json.Unmarshal(body, into) }

// TestStreamedExports: what is made in parts on several processors is what is made as a
// whole, whatever the number of parts.
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
	store := listStore(t, many)
	whole := openViews(t, store, listOptions(t), listViews(t), 0)
	o := listOptions(t)
	o.Limits.KeptBytes = 1
	parts := openViews(t, store, o, listViews(t), 0)
	for _, target := range []string{
		"/lists/activities.bib", "/lists/activities.bib?latex=1&group=person", "/lists/activities.ris", "/lists/activities.csl.json", "/lists/activities.jsonld",
		"/lists/activities.csv?sort=title", "/lists/activities.bib?limit=1", "/lists/activities.ris?limit=128", "/lists/activities.ris?limit=129&page=2",
		"/lists/activities.csl.json?year=1000",
	} {
		want, got := whole.get(target), parts.get(target)
		if want.StatusCode != http.StatusOK || got.StatusCode != http.StatusOK || string(got.body) != string(want.body) {
			t.Errorf("%s: %d bytes in parts (%d), %d as a whole (%d)", target, len(got.body), got.StatusCode, len(want.body), want.StatusCode)
		}
	}
}

// TestPreparedEntries: entries in BibTeX that are prepared for a whole view are those that
// are made for a request, in every order, from one version of the rows to the next, and
// whether memory for them is at hand or not.
func TestPreparedEntries(t *testing.T) {
	s := openLists(t, nil)
	compare := func() {
		t.Helper()
		for _, sort := range []string{"", "&sort=title", "&sort=-year", "&group=person", "&group=type"} {
			prepared := string(s.get("/lists/activities.bib?" + sort).body)
			var made []string
			for len(made) == 0 || made[len(made)-1] != "" {
				page := s.get(fmt.Sprintf("/lists/activities.bib?limit=200&page=%d%s", len(made)+1, sort))
				made = append(made, string(page.body))
			}
			if pages := strings.Join(made[:len(made)-1], "\n"); prepared != pages || strings.Count(pages, "\n@") < 500 {
				t.Errorf("%s: %d bytes are prepared, %d made", sort, len(prepared), len(pages))
			}
		}
	}
	compare()
	first := s.store.rows[rules.ViewActivities][0].Doc
	changed, err := raw.SetField(first, "title", raw.NewString("Quite another title"))
	if err != nil {
		t.Fatal(err)
	}
	s.refresh(rules.ViewActivities, changed)
	compare()
	if !strings.Contains(string(s.get("/lists/activities.bib").body), "Quite another title") {
		t.Error("the change is not shown")
	}
}

// TestListParametersAreDescribed: the description has the parameters of each path below /lists
// and /items, those that are accepted and no others.
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
	s := openLists(t, nil)
	if err := json.Unmarshal(s.get("/openapi.json").body, &document); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"q": "moths", "year": "2020", "type": "publication", "subtype": "article", "unit": "BIO", "deep": "1", "person": "ann", "project": "MOTH", "topic": "T1",
		"ids": "a", "exclude": "a", "sort": "title", "group": "year", "page": "2", "limit": "2", "facets": "type", "lang": "de", "style": "print", "h": "3", "jsonld": "0", "latex": "1",
	}
	item := s.list("/lists/activities.json").Items[0].ID
	unit := s.list("/lists/activities.json?facets=unit").Facets["unit"][0].Value
	for path, target := range map[string]string{
		"/lists": "/lists", "/lists.json": "/lists.json", "/lists/{list}": "/lists/activities.json", "/lists/{kind}/{id}": "/lists/unit/" + unit + ".json", "/items/{id}": "/items/" + item + ".json",
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
			if s.get(target+"?"+name+"="+value).StatusCode == http.StatusOK {
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

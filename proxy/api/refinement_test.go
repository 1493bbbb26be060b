package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// mixed returns n activities whose fields have values of many types, or none.
func mixed(t testing.TB, rnd *rand.Rand, n int) []bson.Raw {
	t.Helper()
	values := []func() any{
		func() any { return rnd.IntN(9) }, func() any { return fmt.Sprint(rnd.IntN(9)) },
		func() any { return int64(rnd.IntN(9)) }, func() any { return float64(rnd.IntN(90)) / 10 },
		func() any { return nil }, func() any { return rnd.IntN(2) > 0 }, func() any { return bson.A{} },
		func() any { return bson.A{rnd.IntN(9), "x", nil} },
		func() any { return bson.D{{Key: "b", Value: rnd.IntN(5)}} },
		func() any { return bson.A{bson.D{{Key: "b", Value: rnd.IntN(5)}}, bson.D{{Key: "b", Value: "y"}}} },
		func() any { return bson.DateTime(rnd.IntN(1000)) },
	}
	docs := make([]bson.Raw, n)
	for i := range docs {
		doc := bson.D{{Key: "_id", Value: bson.ObjectID{byte(rnd.IntN(256)), byte(n), byte(i >> 8), byte(i)}}}
		for _, field := range []string{"year", "a", "c"} {
			of := values
			if field == "year" {
				of = values[:2]
			}
			if rnd.IntN(5) > 0 {
				doc = append(doc, bson.E{Key: field, Value: of[rnd.IntN(len(of))]()})
			}
		}
		var err error
		if docs[i], err = bson.Marshal(doc); err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

// idsOf returns the ids of the rows of an answer.
func idsOf(t testing.TB, s *proxytest.Site, target string) (ids []string, count int) {
	t.Helper()
	res := s.Get(target)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", target, res.StatusCode, res.Body)
	}
	e := res.Envelope(t)
	var rows []struct {
		ID   string `json:"id"`
		ByID struct {
			OID string `json:"$oid"`
		} `json:"_id"`
	}
	if err := json.Unmarshal(e.Data, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		ids = append(ids, r.ID+r.ByID.OID)
	}
	return ids, *e.Count
}

// TestSort: rows come in the order of a reference sort of all documents, in every form, and the pages together are
// the whole.
func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 36))
	store := proxytest.NewStore()
	docs := mixed(t, rnd, 1300)
	store.Publish(rules.ViewActivities, docs...)
	s := proxytest.Open(t, store, proxytest.Options(t))
	docs = append(docs, mixed(t, rnd, 60)...)
	s.Refresh(rules.ViewActivities, docs...) // a second segment
	few := url.QueryEscape(`{"year":{"$type":"number"}}`)
	for range 24 {
		var order raw.Sort
		var keys []string
		for range 1 + rnd.IntN(3) {
			path := []string{"year", "a", "c", "a.b", "c.b", "_id"}[rnd.IntN(6)]
			if desc := rnd.IntN(2) > 0; !order.Has(raw.PathOf(path)) {
				order = append(order, raw.SortField{Path: raw.PathOf(path), Desc: desc})
				keys = append(keys, map[bool]string{true: "-"}[desc]+path)
			}
		}
		want := slices.Clone(docs)
		order.Total().Documents(want)
		sort := "sort=" + strings.Join(keys, ",")
		for form, matches := range map[string]func(bson.Raw) bool{
			"": nil, "&full=1": nil, "&columns[]=year": nil,
			"&json=" + few: func(doc bson.Raw) bool { return numeric(doc.Lookup("year")) },
		} {
			var ids []string
			for _, doc := range want {
				if matches == nil || matches(doc) {
					ids = append(ids, doc.Lookup("_id").ObjectID().Hex())
				}
			}
			got, count := idsOf(t, s, "/api/activities?"+sort+form)
			if !slices.Equal(got, ids) || count != len(ids) {
				t.Fatalf("%s%s: %d rows, %d in the order of the reference", sort, form, len(got), len(ids))
			}
			var pages []string
			for size := 170 + rnd.IntN(300); len(pages) < len(ids); {
				page, _ := idsOf(t, s,
					fmt.Sprintf("/api/activities?%s%s&limit=%d&offset=%d", sort, form, size, len(pages)))
				if pages = append(pages, page...); len(page) == 0 {
					break
				}
			}
			if !slices.Equal(pages, ids) {
				t.Fatalf("%s%s: pages have %d rows of %d", sort, form, len(pages), len(ids))
			}
		}
	}
}

// numeric reports whether $type: number matches a value.
func numeric(v bson.RawValue) bool {
	if v.Type == bson.TypeArray {
		return slices.ContainsFunc(slices.Collect(raw.Elements(v)), numeric)
	}
	return slices.Contains([]bson.Type{bson.TypeInt32, bson.TypeInt64, bson.TypeDouble}, v.Type)
}

// TestSortAsUsual: an order that the list has anyway, and one by fields that no record has, give the usual bytes.
func TestSortAsUsual(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for path, usual := range map[string]string{
		"/api/activities?limit=5": "-year,_id", "/api/activities?full=1": "-id",
		"/api/search/persons?limit=5":            "-year",
		"/api/search/activities?columns[]=title": "-year", "/api/search/activities?columns[]=authors.user": "-year",
	} {
		want := s.Get(path)
		for _, order := range []string{usual, "nosuch", "-nosuch.at.all", ""} {
			res := s.Get(path + "&sort=" + order)
			if string(res.Body) != string(want.Body) {
				t.Errorf("%s sorted by %s: %s, want %s", path, order, res.Body, want.Body)
			}
			if order == "nosuch" && res.Header.Get("Vitrine-Ignored") != "nosuch (no record has it)" {
				t.Errorf("%s: ignored %q", path, res.Header.Get("Vitrine-Ignored"))
			}
		}
	}
	s.Get("/api/activities?sort=-title,year")
	for _, same := range []string{"-title,%2Byear", "-title,+year,title,", "-title&sort=year"} {
		res := s.Get("/api/activities?sort=" + same)
		if hit := strings.Contains(res.Header.Get("Cache-Status"), "hit"); !hit {
			t.Errorf("sort=%s is another answer: %s", same, res.Header.Get("Cache-Status"))
		}
	}
	for sort, want := range map[string]string{
		"sort=-": "sort: -: is not the path of a stored field", "sort=year,%2B": "sort: +: is not the path",
		"sort=$where": `sort: $where: is not the path of a stored field`, "sort=a..b": "sort: a..b: is not the path",
		"sort=year&sort[x]=1": "sort: [x]: want sort[]=value",
	} {
		res := s.Get("/api/activities?" + sort)
		if res.StatusCode != 400 || !strings.Contains(string(res.Body), want) {
			t.Errorf("%s: %d %s, want %s", sort, res.StatusCode, res.Body, want)
		}
	}
}

// found returns a field of the rows of an answer, joined.
func found(t testing.TB, s *proxytest.Site, target, field string, headers ...string) string {
	t.Helper()
	res := s.Get(target, headers...)
	var rows []map[string]any
	if res.StatusCode != http.StatusOK || json.Unmarshal(res.Envelope(t).Data, &rows) != nil {
		t.Fatalf("%s: %d %s", target, res.StatusCode, res.Body)
	}
	var all []string
	for _, row := range rows {
		all = append(all, fmt.Sprint(row[field]))
	}
	return strings.Join(all, " ")
}

// worded returns a store with records that are not public, since they have no marks.
func worded(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	s.Publish(rules.ViewActivities, proxytest.Parse(t,
		`{"_id":1,"type":"publication","year":2020,"title":"Owls and <i>moths</i>","doi":"10.5555/OWL.1",`+
			`"authors":[{"first":"Zoë","last":"Müller","user":"zoe"}]}`,
		`{"_id":2,"type":"publication","year":2021,"title":"Moths","authors":[{"last":"Owlet"}],"secret":"bats"}`,
		`{"_id":3,"type":"review","year":2022,"title":"Bats"}`)...)
	s.Publish(rules.ViewPersons, proxytest.Parse(t, `{"_id":1,"last":"Müller","first":"Zoë","username":"zoe"}`,
		`{"_id":2,"last":"Owlet","first":"Ann","username":"ann"}`)...)
	s.Publish(rules.ViewJournals, proxytest.Parse(t, `{"_id":1,"journal":"Moth Letters","issn":["1234-5679"]}`,
		`{"_id":2,"journal":"Night"}`)...)
	s.Publish(rules.ViewProjects, proxytest.Parse(t,
		`{"_id":1,"name":"MOTH","title":"Moths at night","persons":[{"user":"ann"}]}`,
		`{"_id":2,"name":"OWL","title":"Owls at night","persons":[{"user":"bob"}]}`)...)
	s.Publish(rules.ViewProposals,
		proxytest.Parse(t, `{"_id":1,"name":"P","title":"Moths again","created_by":"ann"}`)...)
	s.Publish(rules.ViewEvents, proxytest.Parse(t, `{"_id":1,"title":"Night of the moths","location":"Owlton"}`)...)
	return s
}

// TestWords: q finds rows by the words of lists, whether or not they are public, beside filters and permissions.
func TestWords(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Access = access.New(access.Options{Restricted: map[string][]string{"review": {"admin"}},
		Anonymous: []access.Permission{access.ProposalsView}})
	s := proxytest.OpenViews(t, worded(t), o, proxytest.ListViews(t), 0)
	for target, want := range map[string]string{
		"/api/activities?q=moth&columns[]=year":                          "2021 2020",
		"/api/activities?q=moth&sort=year&columns[]=year":                "2020 2021",
		"/api/activities?q=MOTHS+owl&sort=year&columns[]=year":           "2020 2021",
		"/api/activities?q=mueller&columns[]=year":                       "2020",
		"/api/activities?q=moth&json={\"year\":2021}&columns[]=year":     "2021",
		"/api/activities?q=10.5555/owl.1&columns[]=year":                 "2020",
		"/api/activities?q=https://doi.org/10.5555/OWL.1&columns[]=year": "2020",
		"/api/activities?q=10.5555/owl.2&columns[]=year":                 "",
		"/api/activities?q=moth&aggregate=type":                          "publication",
		"/api/search/activities?q=owl&search=moths&columns[]=year":       "2021 2020",
		"/api/search/activities?q=owl&search=^m&columns[]=year":          "2021",
		"/api/search/persons?q=muller+zo":                                "zoe",
		"/api/search/persons?sort=-first":                                "zoe ann",
		"/api/search/journals?q=moth":                                    "1",
		"/api/search/journals?q=1234-5679":                               "1",
		"/api/search/proposals?q=moths":                                  "1",
		"/api/search/conferences?q=owlton":                               "1",
		"/api/search/projects?q=moths":                                   "",
	} {
		field := "id"
		switch {
		case strings.Contains(target, "aggregate"):
			field = "value"
		case strings.Contains(target, "year"):
			field = "year"
		case strings.Contains(target, "persons"):
			field = "username"
		}
		if got := found(t, s, target, field); got != want {
			t.Errorf("%s finds %s, want %s", target, got, want)
		}
		if res := s.Get(target); res.Header.Get("Vitrine-Ignored") != "" {
			t.Errorf("%s ignores %s", target, res.Header.Get("Vitrine-Ignored"))
		}
	}
	for q, want := range map[string]string{
		strings.Repeat("a", 201): "q: is longer than 200 bytes",
		strings.Repeat("a+", 13): "q: has 13 words; 12 is the limit",
	} {
		if res := s.Get("/api/activities?q=" + q); res.StatusCode != 400 || !strings.Contains(string(res.Body), want) {
			t.Errorf("%s: %d %s", q, res.StatusCode, res.Body)
		}
	}
}

// TestHiddenFieldsDoNotSort: neither the order of rows nor what words find says anything about hidden fields.
func TestHiddenFieldsDoNotSort(t *testing.T) {
	s := proxytest.OpenViews(t, worded(t), proxytest.ListOptions(t, "secret", "authors.last"),
		proxytest.ListViews(t, "secret", "authors.last"), 0)
	for target, want := range map[string]string{
		"/api/activities?sort=secret":        "sort: secret: is hidden from callers",
		"/api/activities?sort=authors.last":  "sort: authors.last: is hidden from callers",
		"/api/activities?sort=-authors.user": "", "/api/activities?q=bats": "", "/api/activities?q=owlet": "",
	} {
		res := s.Get(target)
		if want != "" && (res.StatusCode != 400 || !strings.Contains(string(res.Body), want)) {
			t.Errorf("%s: %d %s, want %s", target, res.StatusCode, res.Body, want)
		}
		if want == "" && res.StatusCode != 200 {
			t.Errorf("%s: %d %s", target, res.StatusCode, res.Body)
		}
	}
	if got := found(t, s, "/api/activities?q=bats&columns[]=year", "year"); got != "2022" {
		t.Errorf("bats are in %s", got)
	}
	if got := found(t, s, "/api/activities?q=owlet&columns[]=year", "year"); got != "" {
		t.Errorf("owlet is in %s", got)
	}
	// A whole list of authors is compared with the hidden names only where the store compares it.
	res := s.Get("/api/activities?sort=authors&columns[]=year")
	refused := res.StatusCode == 400 && strings.Contains(string(res.Body), "fields of its own")
	if refused != (proxytest.ViewsAre == view.Store) {
		t.Errorf("sorted by authors: %d %s", res.StatusCode, res.Body)
	}
}

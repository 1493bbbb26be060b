package lists_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// indexAnswer is the index of lists as JSON.
type indexAnswer struct {
	Sections []struct {
		Kind  string
		Lists []indexEntry
	}
}

// indexEntry is a list in the index.
type indexEntry struct {
	ID, Title, Href string
	Count           int
}

// names reads the lists of a kind from the index.
func namesOf(s *proxytest.Site, target, kind string) (all []indexEntry) {
	s.T.Helper()
	var index indexAnswer
	res := s.Get(target)
	if err := json.Unmarshal(res.Body, &index); err != nil || res.StatusCode != http.StatusOK {
		s.T.Fatalf("%s: %s: %v", target, res.Status, err)
	}
	for _, section := range index.Sections {
		if section.Kind == kind {
			all = append(all, section.Lists...)
		}
	}
	return all
}

// withManyPersons adds activities of more persons, units and topics than a facet shows.
func withManyPersons(t testing.TB) func(string, []bson.Raw) []bson.Raw {
	hidden := withHidden(t)
	return func(collection string, docs []bson.Raw) []bson.Raw {
		docs = hidden(collection, docs)
		add := func(format string, args ...any) {
			doc, err := ejson.Parse(fmt.Appendf(nil, format, args...), ejson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		for i := range 150 {
			user := fmt.Sprintf("seldom%03d", i)
			switch collection {
			case "activities":
				add(`{"_id":"rare-%d","type":"publication","title":"Rare","year":2001,"authors":[{"last":"Rare",`+
					`"user":%q}],"units":["RARE%[1]d"],"catalog":{"topics":[{"id":"TR%[1]d","name":"Rare %[1]d"}]}}`,
					i, user)
			case "persons":
				add(`{"_id":"p-%s","username":%[1]q,"first":"Świętosława","last":"Łąka-%03d"}`, user, i)
			case "groups":
				add(`{"_id":"g-%d","id":"RARE%[1]d","name":"Rare unit %03[1]d"}`, i)
			}
		}
		return docs
	}
}

// TestListNames: the index contains the name of every person, unit, project and topic of a public
// activity and no hidden one, and a search finds them by words.
func TestListNames(t *testing.T) {
	s := proxytest.OpenLists(t, withManyPersons(t))
	for kind, least := range map[string]int{"person": 151, "unit": 151, "topic": 151, "project": 1} {
		all := namesOf(s, "/lists.json", kind)
		if len(all) < least {
			t.Errorf("%d lists of the kind %s, want %d", len(all), kind, least)
		}
		for i, one := range all {
			if i%25 != 0 && one.Count > 1 {
				continue
			}
			list := getList(s, strings.TrimPrefix(one.Href, "https://data.example")+".json?limit=1")
			if list.Title != one.Title || list.Count != one.Count || one.Count == 0 {
				t.Errorf("%s is %q with %d items, the index says %q with %d", one.Href, list.Title, list.Count,
					one.Title, one.Count)
			}
		}
	}
	for query, want := range map[string]string{
		"q=laka+042": "seldom042", "q=%C5%81%C4%84KA-042": "seldom042", "q=swietoslawa&limit=1": "seldom000",
		"q=seldom149":           "seldom149",
		"q=" + proxytest.Secret: "", "q=xyzzyquauser": "", "q=unheard+of+name": "",
	} {
		var got []string
		for _, one := range namesOf(s, "/lists.json?"+query, "person") {
			got = append(got, one.ID)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s finds %q, want %s", query, got, want)
		}
	}
	titles := []string{}
	for _, one := range namesOf(s, "/lists.json?q=seldom", "person") {
		titles = append(titles, one.Title)
	}
	if len(titles) != 150 || !slices.IsSorted(titles) {
		t.Errorf("%d people, sorted by name: %v", len(titles), slices.IsSorted(titles))
	}
	page := string(s.Get("/lists?lang=de&q=seldom", "Accept", "text/html").Body)
	for _, want := range []string{`id="vl_persons"`, `<h2 dir="auto">Personen</h2>`,
		`<details open><summary>L <span class="vl-n">150</span>`, `value="seldom"`,
		`href="https://data.example/lists/person/seldom149">Łąka-149, Świętosława</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s: %.3000s", want, page)
		}
	}
	if start := string(s.Get("/", "Accept", "text/html").Body); strings.Contains(start, "seldom149") ||
		!strings.Contains(start, `href="/lists?lang=en#vl_persons"`) {
		t.Error("the start page lists all people, or does not link to them")
	}
	if res := s.Get("/lists.json?limit=1&q=seldom&lang=en"); res.StatusCode != http.StatusOK {
		t.Errorf("%s", res.Status)
	} else if again := s.Get("/lists.json?q=seldom&limit=1"); again.Header.Get("Cache-Status") != "vitrine; hit" {
		t.Errorf("an equal request gives %s", again.Header.Get("Cache-Status"))
	}
}

// TestListNamesOfInstitute checks the same for a whole institute.
func TestListNamesOfInstitute(t *testing.T) {
	docs := map[string][]bson.Raw{}
	for _, name := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		docs[name] = zippedDocuments(t, proxytest.InRepo("..", "shared", "data", "institute", name+".jsonl.gz"))
	}
	s := proxytest.OpenViews(t, proxytest.PublicStore(t, docs), proxytest.ListOptions(t), proxytest.ListViews(t), 0)
	for _, kind := range []string{"person", "unit", "project", "topic"} {
		all := namesOf(s, "/lists.json", kind)
		items := 0
		for _, one := range all {
			items += one.Count
		}
		t.Logf("%s: %d lists, %d entries", kind, len(all), items)
		if len(all) == 0 {
			t.Errorf("no list of the kind %s", kind)
		}
	}
	index, page, start := s.Get("/lists.json"), s.Get("/lists", "Accept", "text/html"), s.Get("/", "Accept",
		"text/html")
	t.Logf("the index has %d bytes, its page %d, the start page %d", len(index.Body), len(page.Body), len(start.Body))
}

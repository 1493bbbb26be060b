package lists_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// hiddenRecords are records that no list may show, and a person and a unit that no public record or
// only these records name.
var hiddenRecords = map[string][]string{
	"activities": {
		`{"_id":"hide-1","hide":true,"type":"publication","subtype":"article","title":"Xyzzyqua","year":1901,` +
			`"units":["XyzzyquaUnit"],"authors":[{"last":"Xyzzyqua","first":"A","user":"xyzzyquauser"}],` +
			`"topics":["x"],"rendered":{"web":"Xyzzyqua"}}`,
		`{"_id":"hide-2","workflow":{"status":"rejected"},"type":"publication","title":"Xyzzyqua","year":1902,` +
			`"units":["XyzzyquaUnit"],"authors":[]}`,
		`{"_id":"hide-3","workflow":{"status":"in-review"},"type":"XyzzyquaType","title":"Xyzzyqua","year":1903,` +
			`"authors":[]}`,
		`{"_id":"hide-4","type":"review","title":"Xyzzyqua","year":1904,"units":["XyzzyquaUnit"],` +
			`"authors":[{"last":"Xyzzyqua","user":"xyzzyquauser"}],"rendered":{"web":"Xyzzyqua"}}`,
		`{"_id":"shown-1","type":"publication","subtype":"article","title":"Plugh","year":"1999",` +
			`"authors":[{"last":"Nowak","first":"N","user":"xyzzyquauser"}],"units":["MOTH"],"rendered":{"web":"<a ` +
			`href='/activities/view/shown-1'>Plugh</a> by <a href='/profile/xyzzyquauser'>Nowak, N.</a>, see <a ` +
			`href='/activities/view/hide-1'>that</a> and <a href='/activities/view/shown-1'>this</a>"}}`,
	},
	"projects": {`{"_id":"hide-5","name":"XyzzyquaProject","title":"Xyzzyqua","public":false,"year":1905}`,
		`{"_id":"hide-6","name":"XyzzyquaTwo","title":"Xyzzyqua","public":true,"hide":true,"year":1906}`},
	"conferences": {`{"_id":"hide-7","title":"Xyzzyqua","hide":true,"start":"1907-01-01"}`},
	"persons": {
		`{"_id":"hide-8","username":"xyzzyquauser","first":"Xyzzyqua","last":"Xyzzyqua","hide":true,` +
			`"orcid":"0000-0002-1825-0097"}`},
}

// withHidden adds hiddenRecords to those of a collection.
func withHidden(t testing.TB) func(string, []bson.Raw) []bson.Raw {
	return func(collection string, docs []bson.Raw) []bson.Raw {
		for _, text := range hiddenRecords[collection] {
			doc, err := ejson.Parse([]byte(text), ejson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		return docs
	}
}

// TestHiddenRecordsAreNowhere: faces, facets, search and sitemap contain no records that are
// hidden, rejected, in review or of a type that only some may see, and no hidden persons.
func TestHiddenRecordsAreNowhere(t *testing.T) {
	if testing.Short() {
		t.Skip("only in a full run: sends many requests one after the other")
	}
	s := proxytest.OpenLists(t, withHidden(t))
	without := proxytest.OpenLists(t, nil)
	suffixes := []string{"", ".html", ".json", ".jsonld", ".bib", ".ris", ".csl.json", ".csv", ".atom", ".rss",
		".feed.json"}
	var targets []string
	for _, list := range append([]string{"/lists/unit/MOTH"}, builtIn...) {
		for _, suffix := range suffixes {
			targets = append(targets, list+suffix)
		}
	}
	targets = append(targets, "/lists", "/lists.json", "/sitemap.xml", "/",
		"/lists/activities.json?facets=year,type,subtype,unit,person,project,topic,keyword&limit=200",
		"/lists/activities?facets=year,type,subtype,unit,person,project,topic,keyword",
		"/lists/activities.json?sort=title&limit=200", "/lists/activities.json?group=person&limit=200&page=3",
		"/lists/activities.json?ids=hide-1,hide-2,hide-3,hide-4,shown-1")
	for _, target := range targets {
		if body := string(s.Get(target, "Accept", "text/html").Body); strings.Contains(strings.ToLower(body),
			strings.ToLower(proxytest.Secret)) {
			at := strings.Index(strings.ToLower(body), strings.ToLower(proxytest.Secret))
			t.Errorf("%s shows a hidden record or person: %.200s", target, body[max(at-100, 0):])
		}
	}
	for _, search := range []string{"q=" + proxytest.Secret, "year=1901..1907", "unit=XyzzyquaUnit",
		"unit=XyzzyquaUnit&deep=1", "person=xyzzyquauser", "person=0000-0002-1825-0097", "type=XyzzyquaType",
		"type=review", "ids=hide-1,hide-2,hide-3,hide-4"} {
		for _, list := range []string{"/lists/activities", "/lists/projects", "/lists/events"} {
			if list != "/lists/activities" && search == "type=review" {
				continue
			}
			if got := getList(s, list+".json?"+search).Count; got != 0 {
				t.Errorf("%s?%s finds %d", list, search, got)
			}
		}
	}
	for _, gone := range []string{
		"/items/hide-1", "/items/hide-4.json", "/items/hide-5", "/items/hide-6", "/items/hide-7.bib", "/items/hide-8",
		"/lists/unit/XyzzyquaUnit", "/lists/unit/XyzzyquaUnit.json",
		"/lists/person/xyzzyquauser.json", "/lists/person/0000-0002-1825-0097", "/lists/project/XyzzyquaProject.bib",
		"/lists/project/XyzzyquaTwo", "/oembed?url=https://data.example/items/hide-1",
	} {
		if got := s.Get(gone).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", gone, got)
		}
	}
	for _, list := range []string{"/lists/activities.json", "/lists/projects.json", "/lists/events.json"} {
		more := 0
		if list == "/lists/activities.json" {
			more = 1 // shown-1
		}
		if got, want := getList(s, list).Count, getList(without, list).Count+more; got != want {
			t.Errorf("%s has %d items, want %d", list, got, want)
		}
	}
	// A citation keeps the names of hidden persons and the text of links to hidden records, but not
	// the links. A year stored as text counts as the number.
	one := getList(s, "/lists/activities.json?year=1999&q=plugh")
	if one.Count != 1 || !strings.Contains(one.Items[0].HTML, "by Nowak, N., see that and <a") ||
		!strings.Contains(one.Items[0].HTML, "href='https://data.example/items/shown-1'") {
		text, _ := json.Marshal(one.Items)
		t.Errorf("the public record is %s", text)
	}
}

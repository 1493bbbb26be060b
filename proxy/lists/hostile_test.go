package lists_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// withActivities adds activities to those of the demo.
func withActivities(t testing.TB, more ...bson.D) func(string, []bson.Raw) []bson.Raw {
	return func(collection string, docs []bson.Raw) []bson.Raw {
		for _, d := range more {
			if collection == "activities" {
				raw, err := bson.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				docs = append(docs, raw)
			}
		}
		return docs
	}
}

// article returns an activity with an id.
func article(id any, title string) bson.D {
	return bson.D{
		{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: title}, {Key: "year", Value: 2021},
		{Key: "rendered", Value: bson.D{{Key: "web", Value: "<a href='/activities/view/x'>" + title + "</a>"},
			{Key: "print", Value: title}}},
	}
}

// TestItemAddresses: an item has its page at the address that lists link to, whatever characters its id has.
func TestItemAddresses(t *testing.T) {
	ids := []any{"a/b", "a/../b", "\"><script>x</script>", "ü ä", "a%2Fb", "a,b", `a\b`, "a?b#c",
		12345, int64(1) << 40, "x.json", "y.csl.json", "x.bib.json", "z.html", "ids",
		1.5, true, bson.NewDateTimeFromTime(proxytest.Published),
		bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, bson.D{{Key: "a", Value: 1}}, "a\nb\x00\u0085"}
	var records []bson.D
	for _, id := range ids {
		records = append(records, article(id, "Xyzzy"))
	}
	s := proxytest.OpenLists(t, withActivities(t, records...))
	got := getList(s, "/lists/activities.json?q=xyzzy&limit=200")
	if len(got.Items) != len(ids) {
		t.Errorf("%d items, want %d", len(got.Items), len(ids))
	}
	for _, it := range got.Items {
		address, err := url.Parse(it.Links["page"])
		if err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", ".json", ".csl.json", ".bib"} {
			if res := s.Get(address.EscapedPath() + suffix); res.StatusCode != 200 {
				t.Errorf("%s%s of %q: %s", address.EscapedPath(), suffix, it.ID, res.Status)
			}
		}
		if one := getList(s, address.EscapedPath()+".json"); len(one.Items) != 1 || one.Items[0].ID != it.ID {
			t.Errorf("%s.json is not %q: %v", address.EscapedPath(), it.ID, one.Items)
		}
	}
	for _, none := range []string{`{"$regularExpression":{"pattern":".","options":""}}`, `{"$regex":"."}`,
		`{"$ne":1}`, `"a/b"`, "1.50", "null", "{"} {
		if res := s.Get("/items/" + url.PathEscape(none)); res.StatusCode != 404 {
			t.Errorf("%s: %s", none, res.Status)
		}
	}
}

// TestListAddresses: lists of persons and projects have the addresses that other pages link to,
// even if these end like a format.
func TestListAddresses(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		more := map[string]string{
			"activities": `{"_id":"dots","type":"publication","title":"Xyzzy","year":2021,"authors":[{"last":"Dot",` +
				`"first":"D","user":"dot.json"}],"projects":["p.feed.json"],"units":["u.html"]}`,
			"persons":  `{"_id":"dot","username":"dot.json","first":"D","last":"Dot"}`,
			"projects": `{"_id":"p","name":"p.feed.json","title":"P","public":true}`,
			"groups":   `{"_id":"u","id":"u.html","name":"U","parent":"above"}`,
		}[collection]
		if more == "" {
			return docs
		}
		doc, err := ejson.Parse([]byte(more), ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if collection == "groups" {
			above, err := bson.Marshal(bson.D{{Key: "id", Value: "above"}, {Key: "name", Value: "All Above"}})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, above)
		}
		return append(docs, doc)
	})
	page := string(s.Get("/items/dots").Body)
	for _, address := range []string{"/lists/person/dot.json", "/lists/project/p.feed.json", "/lists/unit/u.html"} {
		if !strings.Contains(page, address) {
			t.Errorf("the item does not link to %s", address)
		}
		if got := getList(s, address+".json"); got.Count != 1 ||
			!strings.HasPrefix(got.Self, "https://data.example"+address+".json") {
			t.Errorf("%s has %d items and is at %s", address, got.Count, got.Self)
		}
	}
	// A unit without activities, but with units below it, has its name.
	if got := getList(s, "/lists/unit/above.json?deep=1&facets=unit"); got.Title != "All Above" ||
		!slices.ContainsFunc(got.Facets["unit"], func(v facetValue) bool { return v.Label == "All Above" }) {
		t.Errorf("the unit above is called %q, its facet %v", got.Title, got.Facets["unit"])
	}
}

// TestFeedsAreXML: characters that XML forbids do not break a feed.
func TestFeedsAreXML(t *testing.T) {
	s := proxytest.OpenLists(t,
		withActivities(t, article("hostile", "Xyzzy \x00\x01\x08\x1b\x7f\u0085\u2028\ufffe\uffff ]]> end")))
	for _, target := range []string{"/lists/activities.atom?q=xyzzy", "/lists/activities.rss?q=xyzzy"} {
		body := s.Get(target).Body
		if bytes.ContainsRune(body, '\ufffe') || bytes.ContainsRune(body, '\uffff') {
			t.Errorf("%s has an invalid character", target)
		}
		d := xml.NewDecoder(bytes.NewReader(body))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", target, err)
			}
		}
	}
}

// TestLinkedDataIsNoScript: linked data is safe inside a script element, whatever the list's name.
func TestLinkedDataIsNoScript(t *testing.T) {
	const title = `</script><script>alert(1)</script><!-- <script> & "`
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(
		map[string]configs.NamedList{"hostile": {Title: map[string]string{"en": title}, View: "activities"}})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, withActivities(t, article("hostile", title))), o,
		proxytest.ListViews(t), 0)
	for target, name := range map[string]string{"/lists/hostile.jsonld": title,
		"/lists/hostile.jsonld?limit=1": title, "/lists/hostile.jsonld?q=alert": title, "/items/hostile.jsonld": ""} {
		var found struct{ Name string }
		body := s.Get(target).Body
		if err := json.Unmarshal(body, &found); err != nil || name != "" && found.Name != name ||
			bytes.ContainsRune(body, '<') {
			t.Errorf("%s: %v, %.300s", target, err, body)
		}
	}
}

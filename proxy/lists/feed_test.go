package lists_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// atomDoc has the parts of an Atom feed that tests check.
type atomDoc struct {
	Updated time.Time `xml:"updated"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string    `xml:"id"`
		Title   string    `xml:"title"`
		Updated time.Time `xml:"updated"`
		Content string    `xml:"content"`
	} `xml:"entry"`
}

// hostileForXML are texts that break XML written without escaping.
var hostileForXML = []string{"a\x01b\x0b", "\ufffe\uffff", "]]>", "<![CDATA[ ]]]]>", "<script>&lt;", "\u2028\u2029",
	"\xff\xed\xa0\x80", "<!-- --", "&#0;&#xFFFE;", "'\"&"}

// TestFeedsOfHostileRecords: feeds of any records are well-formed, and contain each item once, with
// a title.
func TestFeedsOfHostileRecords(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != "activities" {
			return docs
		}
		docs = nil
		for i, text := range hostileForXML {
			doc, err := bson.Marshal(bson.D{
				{Key: "_id", Value: i}, {Key: "type", Value: "publication"}, {Key: "title", Value: text},
				{Key: "year", Value: 2020},
				{Key: "authors", Value: bson.A{bson.D{{Key: "last", Value: text}, {Key: "first", Value: text}}}},
				{Key: "rendered", Value: bson.D{{Key: "web", Value: text}, {Key: "print", Value: text}}},
				{Key: "created", Value: text}, {Key: "updated", Value: i},
			})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		return docs
	})
	for _, suffix := range []string{".atom", ".rss", ".atom?style=print", ".rss?style=print", ".rss?lang=de"} {
		body := string(s.Get("/lists/activities" + suffix).Body)
		for d := xml.NewDecoder(strings.NewReader(body)); ; {
			if token, err := d.Token(); token == nil {
				if err.Error() != "EOF" {
					t.Errorf("%s: %v", suffix, err)
				}
				break
			}
		}
		if got := strings.Count(body, "<entry>") + strings.Count(body, "<item>"); got != len(hostileForXML) {
			t.Errorf("%s has %d items, want %d", suffix, got, len(hostileForXML))
		}
		if strings.Contains(body, "<title></title>") {
			t.Errorf("%s has an item without a title", suffix)
		}
	}
}

// TestAtom: a feed, also in RSS, contains its address and the time of its last news, which is at
// most the publication time of its view, whatever dates the records have.
func TestAtom(t *testing.T) {
	texts := []string{
		`{"_id":"a","title":"Created","type":"publication","year":2020,"created":"2021-02-03"}`,
		`{"_id":"b","title":"Changed","type":"publication","year":2020,"created":"2021-02-03","updated":"2022-03-04"}`,
		`{"_id":"c","title":"To come","type":"publication","year":2090,"created":"2091-01-01","updated":"2092-01-01"}`,
		`{"_id":{"$oid":"600000000000000000000000"},"title":"ObjectID","type":"publication","year":2019}`,
		`{"_id":"e","title":"Own day","type":"publication","year":2018,"month":5,"day":6}`,
		`{"_id":"f","title":"Changed before","type":"publication","year":2020,` +
			`"created":{"$date":"2021-02-03T04:05:06Z"},"updated":"2001-01-01"}`,
		`{"_id":"g","title":"None","type":"publication","year":"1","created":["2021-02-03"]}`,
	}
	want := map[string]string{
		"Created": "2021-02-03", "Changed": "2022-03-04", "To come": "1970-01-01", "ObjectID": "2021-01-14",
		"Own day": "2018-05-06", "Changed before": "2021-02-03",
		"None": "1970-01-01",
	}
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != "activities" {
			return docs
		}
		docs = nil
		for _, text := range texts {
			doc, err := ejson.Parse([]byte(text), ejson.Options{})
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		return docs
	})
	var feed atomDoc
	if err := xml.Unmarshal(s.Get("/lists/activities.atom?lang=de").Body, &feed); err != nil {
		t.Fatal(err)
	}
	for _, e := range feed.Entries {
		if got := e.Updated.Format(time.DateOnly); got != want[e.Title] {
			t.Errorf("%s was updated on %s, want %s", e.Title, got, want[e.Title])
		}
	}
	var order []string
	for _, e := range feed.Entries {
		order = append(order, e.Title)
	}
	if got, want := strings.Join(order,
		", "), "Changed before, Created, Changed, ObjectID, To come, Own day, None"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if got := feed.Updated.Format(time.DateOnly); got != "2022-03-04" || len(feed.Entries) != len(want) {
		t.Errorf("%d entries, updated on %s", len(feed.Entries), got)
	}
	links := map[string]string{}
	for _, link := range feed.Links {
		links[link.Rel] = link.Href
	}
	if links["self"] != "https://data.example/lists/activities.atom?lang=de" || links["alternate"] == "" ||
		len(links) != 2 {
		t.Errorf("links %v", feed.Links)
	}
	rss := string(s.Get("/lists/activities.rss?lang=de").Body)
	if want :=
		`<atom:link href="https://data.example/lists/activities.rss?lang=de" rel="self" type="application/` +
			`rss+xml"></atom:link>`; strings.Count(rss, want) != 1 ||
		!strings.Contains(rss, `xmlns:atom="http://www.w3.org/2005/Atom"`) {
		t.Errorf("RSS lacks %s: %.500s", want, rss)
	}
	var empty atomDoc
	if err := xml.Unmarshal(s.Get("/lists/activities.atom?year=1500").Body, &empty); err != nil ||
		!empty.Updated.Equal(proxytest.Published) {
		t.Errorf("an empty feed was updated at %v (%v)", empty.Updated, err)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(s.Get("/lists/activities.feed.json?year=1500").Body, &doc); err != nil ||
		string(doc["items"]) != "[]" {
		t.Errorf("the items of an empty feed are %s (%v)", doc["items"], err)
	}
}

// TestFeedsByEntry: each of the three feeds, of one list or of all records, has the 50 records
// entered last, of any year. Records entered on the same day are in the order of their own dates.
func TestFeedsByEntry(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != "activities" {
			return docs
		}
		docs = nil
		for i := range 120 { // the older a record's year, the later its entry; two on each day
			day := proxytest.Published.AddDate(0, 0, i/2-120).Format(time.DateOnly)
			docs = append(docs,
				documentOf(t, fmt.Sprintf(`{"_id":%d,"title":"T%d","type":"publication","year":%d,"created":%q}`, i,
					i, 2020-i-(i+1)%2*2, day)))
		}
		return append(docs, documentOf(t, `{"_id":"x","title":"Unknown","type":"publication","year":2026}`))
	})
	var want []string
	for i := 119; i >= 70; i -= 2 {
		want = append(want, fmt.Sprint("T", i), fmt.Sprint("T", i-1))
	}
	for _, path := range []string{"/lists/activities", "/lists/activities.feed.json?type=publication"} {
		for _, suffix := range []string{".atom", ".rss", ".feed.json"} {
			target := path + suffix
			if strings.Contains(path, "?") {
				target = path
			}
			body := string(s.Get(target).Body)
			var got []string
			for _, m := range regexp.MustCompile(`(?:<title>|"title": ?")(T[0-9]+)`).FindAllStringSubmatch(body, -1) {
				got = append(got, m[1])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has %v, want %v", target, got, want)
			}
		}
	}
}

// documentOf parses a JSON document.
func documentOf(t *testing.T, text string) bson.Raw {
	t.Helper()
	doc, err := ejson.Parse([]byte(text), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestFeedAuthors: Atom and JSON Feed name each author of an item separately, with an ORCID if the
// person is public and in our database. RSS names no authors, as it requires mail addresses.
func TestFeedAuthors(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		switch collection {
		case "activities":
			return []bson.Raw{
				documentOf(t,
					`{"_id":1,"type":"publication","title":"A","year":2020,"authors":[{"first":"Ada",`+
						`"last":"Frost","user":"ada"},{"last":"The Night Group"}]}`),
				documentOf(t, `{"_id":2,"type":"publication","title":"B","year":2019}`),
			}
		case "persons":
			return []bson.Raw{documentOf(t, `{"_id":1,"username":"ada","orcid":"0000-0002-1825-0097"}`)}
		}
		return docs
	})
	var feed struct {
		Entries []struct {
			Published, Updated string
			Authors            []struct {
				Name string `xml:"name"`
				URI  string `xml:"uri"`
			} `xml:"author"`
		} `xml:"entry"`
	}
	body := s.Get("/lists/activities.atom").Body
	if err := xml.Unmarshal(body, &feed); err != nil || len(feed.Entries) != 2 {
		t.Fatalf("%v: %s", err, body)
	}
	if got := fmt.Sprint(feed.Entries[0].Authors, feed.Entries[1].Authors); got !=
		"[{Frost, Ada https://orcid.org/0000-0002-1825-0097} {The Night Group }] []" {
		t.Errorf("Atom has the authors %s", got)
	}
	if n := strings.Count(string(body), "<published>"); n != 2 {
		t.Errorf("%d of 2 entries have a time of publication", n)
	}
	body = s.Get("/lists/activities.feed.json").Body
	if want :=
		`"authors":[{"name":"Frost, Ada","url":"https://orcid.org/0000-0002-1825-0097"},{"name":"The Night Group"}]`; !strings.Contains(string(body), want) {
		t.Errorf("JSON Feed lacks %s: %s", want, body)
	}
	if body = s.Get("/lists/activities.rss").Body; strings.Contains(string(body), "Frost, Ada<") {
		t.Errorf("RSS has authors: %s", body)
	}
}

package lists_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/proxytest"
)

// TestWordsOfNames: names and titles of units, projects and persons are the same words on pages, in facets, headings
// and exports, and whatever bytes a record has, a table is valid UTF-8.
func TestWordsOfNames(t *testing.T) {
	doc := func(fields ...any) bson.Raw {
		var d bson.D
		for i := 0; i < len(fields); i += 2 {
			d = append(d, bson.E{Key: fields[i].(string), Value: fields[i+1]})
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	s := proxytest.OpenLists(t, func(collection string, demo []bson.Raw) []bson.Raw {
		switch collection {
		case "activities":
			return []bson.Raw{doc("_id", "a", "type", "publication", "subtype", "article", "year", 2021,
				"title", "Moths in <mml:math><mml:msub><mml:mi>RuO</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> "+
					"&amp;lt;b lamps",
				"authors", bson.A{bson.D{{Key: "last", Value: "O&#39;Brien"}, {Key: "first", Value: "Se&aacute;n"},
					{Key: "user", Value: "ob"}}},
				"units", bson.A{"R&D", "\xff"}, "projects", bson.A{"P\xfe"}, "publisher", "Taylor &amp; Francis")}
		case "groups":
			return []bson.Raw{doc("_id", "g", "id", "R&D", "name", "Research &amp; <i>Bubo</i>")}
		case "persons":
			return []bson.Raw{doc("_id", "p", "username", "ob", "last", "O&#39;Brien", "first", "Se&aacute;n")}
		case "projects":
			return []bson.Raw{doc("_id", "q", "name", "P\xfe", "title", "Light &amp;amp; moths", "public", true)}
		}
		return demo
	})
	table := string(s.Get("/lists/activities.csv").Body)
	if !utf8.ValidString(table) {
		t.Errorf("not UTF-8: %q", table)
	}
	page := string(s.Get("/lists/activities?facets=unit,person,project&group=unit").Body)
	for in, wants := range map[string][]string{
		table: {"O'Brien, Seán", "Moths in RuO2 &lt;b lamps", "Taylor & Francis", "R&D; \uFFFD", "P\uFFFD"},
		page: {
			"Research &amp; Bubo", "O&#39;Brien, Seán", "Light &amp;amp; moths",
			"Moths in RuO<sub>2</sub> &amp;lt;b lamps",
			"rft.atitle=" + url.QueryEscape("Moths in RuO2 &lt;b lamps"),
		},
		string(s.Get("/lists/activities.json?q=RuO2+lt").Body):     {`"count":1`},
		string(s.Get("/lists/activities.json?q=obrien+seán").Body): {`"count":1`},
		string(s.Get("/lists/unit/R&D.json").Body):                 {`"title":"Research & Bubo"`},
	} {
		for _, want := range wants {
			if !strings.Contains(in, want) {
				t.Errorf("no %q in %s", want, in)
			}
		}
	}
}

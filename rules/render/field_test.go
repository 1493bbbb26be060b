package render_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/render"
)

// TestKinds: the values that fields of each kind accept, and how they are rendered.
func TestKinds(t *testing.T) {
	const link = "<a href='https://doi.org/10.1000/x' target='_blank' rel='noopener'>10.1000/x</a>"
	for _, tt := range []struct{ name, tmpl, doc, want string }{
		{"text", "{note}", `{"note": "a <b>b</b> & c &lt;d&gt; &#39;e&#39; 1<2"}`,
			"a b &amp; c &lt;d&gt; &#x27;e&#x27; 1&lt;2"},
		{"text of a number", "{note}", `{"note": 7}`, "7"},
		{"text of a fraction", "{note}", `{"note": 7.5}`, "7.5"},
		{"text of a long number", "{note}", `{"note": {"$numberLong": "9007199254740993"}}`, "9007199254740993"},
		{"text of a decimal", "{note}", `{"note": {"$numberDecimal": "1.20"}}`, "1.20"},
		{"text of an id", "{note}", `{"note": {"$oid": "507f1f77bcf86cd799439011"}}`, "507f1f77bcf86cd799439011"},
		{"no text of NaN", "{note}", `{"note": {"$numberDouble": "NaN"}}`, ""},
		{"no text of a flag", "{note}", `{"note": true}`, ""},
		{"a list of texts", "{note}", `{"note": ["a", 2, null, " ", ["x"], {"y": 1}, "c"]}`, "a, 2, c"},
		{"an empty list", "{note}", `{"note": []}`, ""},
		{"markup", "{title}", `{"title": "H<sub>2</sub>O <u>x</u>"}`, "H<sub>2</sub>O x"},
		{"a list of markup", "{title}", `{"title": ["<i>a</i>", "b"]}`, "<i>a</i>, b"},
		{"a path", "{place.city}", `{"place": {"city": "Oslo"}}`, "Oslo"},
		{"a path through a list", "{place.city}", `{"place": [{"city": "Oslo"}]}`, ""},
		{"a path through text", "{place.city}", `{"place": "Oslo"}`, ""},
		{"the first of doubled keys", "{place.city}", `{"place": {"city": "Oslo"}, "note": "n"}`, "Oslo"},
		{"url", "{link}", `{"link": " https://example.org/?a&b "}`, "https://example.org/?a&amp;b"},
		{"url without a host", "{link}", `{"link": "https:///x"}`, ""},
		{"doi", "{doi:link}", `{"doi": "10.1000/x"}`, link},
		{"doi as address", "{doi:link}", `{"doi": "https://doi.org/10.1000/x"}`, link},
		{"doi as old address", "{doi:link}", `{"doi": "http://dx.doi.org/10.1000/x"}`, link},
		{"doi with a prefix", "{doi:link}", `{"doi": "DOI: 10.1000/x"}`, link},
		{"doi with signs", "{doi}", `{"doi": "10.1000/a<b>(c)&d"}`, "10.1000/a&lt;b&gt;(c)&amp;d"},
		{"no doi", "{doi}", `{"doi": "11.1000/x"}`, ""},
		{"flag", "{?open:open}{?!open:closed}", `{"open": true}`, "open"},
		{"flag as number", "{?open:open}{?!open:closed}", `{"open": 1}`, "open"},
		{"flag as text", "{?open:open}{?!open:closed}", `{"open": "1"}`, "open"},
		{"flag that is off", "{?open:open}{?!open:closed}", `{"open": 0}`, "closed"},
		{"flag in words", "{?open:open}{?!open:closed}", `{"open": "yes"}`, "closed"},
		{"volume, issue, pages", "{volume-issue-pages}", `{"volume": 1, "issue": 2, "pages": "3-4"}`, "1(2): 3-4"},
		{"volume and pages", "{volume-issue-pages}", `{"volume": 1, "pages": "3-4"}`, "1: 3-4"},
		{"issue alone", "{volume-issue-pages}", `{"issue": 2}`, "(2)"},
		{"pages alone", "{volume-issue-pages}", `{"pages": "3-4"}`, "3-4"},
		{"pages in a list", "{pages}", `{"pages": ["3–4", 7]}`, "3–4, 7"},
		{"unknown pages", "{volume-issue-pages}", `{"volume": 1, "pages": "n/a-n/a"}`, "1"},
		{"year of the record", "{year}", `{"year": "2020", "start_date": "2021-01-01"}`, "2020"},
		{"year of the start", "{year}", `{"year": "soon", "start_date": "2021-01-01"}`, "2021"},
		{"units", "{units}", `{"units": ["A", "B"]}`, "A, B"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, tt.tmpl, tt.doc, "en"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestPersonFormats: each format of a list of persons, for complete and for empty persons.
func TestPersonFormats(t *testing.T) {
	const doc = `{"guests": [{"first": "Ana Maria", "last": "Lund", "user": "ana", "aoi": 1}, {"first": "Ji-woo", "last": "Kim", "user": "kim"},
		{"last": "Plato", "aoi": true}, {"user": "nameless", "aoi": 1}, {"first": "B.", "last": "Ødegård", "user": ".."}]}`
	for format, want := range map[string]string{
		"":       "<b>Lund,&nbsp;A. M.</b>, Kim,&nbsp;J., <b>Plato</b>, Ødegård,&nbsp;B.",
		":plain": "Lund,&nbsp;A. M., Kim,&nbsp;J., Plato, Ødegård,&nbsp;B.",
		":full":  "<b>Ana Maria Lund</b>, Ji-woo Kim, <b>Plato</b>, B. Ødegård",
		":linked": "<a href='/profile/ana'><b>Lund,&nbsp;A. M.</b></a>, <a href='/profile/kim'>Kim,&nbsp;J.</a>, " +
			"<b>Plato</b>, Ødegård,&nbsp;B.",
	} {
		if got := printed(t, "{guests"+format+"}", doc, "en"); got != want {
			t.Errorf("{guests%s}\ngot  %s\nwant %s", format, got, want)
		}
	}
}

// TestStoredValues: which values of unknown type Complete keeps.
func TestStoredValues(t *testing.T) {
	deep := strings.Repeat(`{"a": `, 10) + `1` + strings.Repeat(`}`, 10)
	r := defaultRules(t)
	for _, tt := range []struct{ name, stored, want string }{
		{"text", `"a<script>b</script>c"`, `"ac"`},
		{"text in simple form", `"<b>a</b>"`, `"\u003cb\u003ea\u003c/b\u003e"`},
		{"a number", `7`, `{"$numberInt":"7"}`},
		{"a flag", `true`, `true`},
		{"null", `null`, `null`},
		{"a list", `["<u onclick='x'>a</u>", 1]`, `["\u003cu\u003ea\u003c/u\u003e",{"$numberInt":"1"}]`},
		{"a document", `{"x": {"y": "<img>z"}}`, `{"x": {"y": "z"}}`},
		{"an empty document", `{}`, `{}`},
		{"an empty list", `[]`, `[]`},
		{"a document that is too deep", deep, strings.Repeat(`{"a": `, 8) + `null` + strings.Repeat(`}`, 8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Complete(activity(t, `{"rendered": {"other": `+tt.stored+`}}`), render.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if other := got.Lookup("other").String(); other != tt.want {
				t.Errorf("got  %s\nwant %s", other, tt.want)
			}
		})
	}
}

// TestDoubledKeys: the first of several equal keys counts, in the activity and in its nested
// documents.
func TestDoubledKeys(t *testing.T) {
	doc, err := bson.Marshal(bson.D{
		{Key: "title", Value: "first"}, {Key: "title", Value: "second"},
		{Key: "rendered", Value: bson.D{
			{Key: "other", Value: "first"}, {Key: "authors", Value: "A"}, {Key: "other", Value: "second"},
			{Key: "authors", Value: "B"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := defaultRules(t).Complete(doc, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"title": "first", "authors": "A", "other": "first"} {
		if got := got.Lookup(key).StringValue(); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	elements, err := got.Elements()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range elements {
		if seen[e.Key()] {
			t.Errorf("%s is written twice", e.Key())
		}
		seen[e.Key()] = true
	}
}

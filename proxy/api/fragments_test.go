package api

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

// parse reads a document from Extended JSON.
func parse(t testing.TB, text string) bson.Raw {
	t.Helper()
	doc, err := ejson.Parse([]byte(text), ejson.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc
}

// params reads a query string that needs no decoding.
func params(text string) query.Params {
	return query.Read(func(yield func(name, value []byte) bool) {
		for pair := range strings.SplitSeq(text, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if !yield([]byte(name), []byte(value)) {
				return
			}
		}
	})
}

// TestFragments: each fragment of an activity, for a record with all its fields and for an empty
// record.
func TestFragments(t *testing.T) {
	full := parse(t, `{"_id":"a","type":"publication","subtype":"article","year":{"$numberDouble":"2020"},"start_date":"2020-01-02",
		"units":["BIO"],"epub":true,"topics":["t1"],"affiliated":true,"workflow":{"status":"draft"},"tags":["x"],"doi":"doi:10.1/a(b)",
		"rendered":{"web":"<b>w</b>","print":"p","icon":"i","quarter":"Q1","type":"Article","subtype":"Paper","authors":"A","editors":"E","title":"T"}}`)
	empty := parse(t, `{"_id":1,"year":null,"units":"BIO"}`)
	for _, tt := range []struct{ fragment, full, empty string }{
		{fragID, `{"id":"a"`, `{"id":"1"`},
		{fragWeb, `"<b>w</b>"`, ``},
		{fragPrint, `"p"`, ``},
		{fragIcon, `,"icon":"i"`, ``},
		{fragMiddle, `,"quarter":"Q1","links":"","search-text":`, `,"quarter":"","links":"","search-text":`},
		{fragList, `,"type":"Article","subtype":"Paper","year":2020}`, `}`},
		{fragHTML, `,"year":2020,"departments":["BIO"],"link":"https://doi.org/10.1/a(b)"}`,
			`,"departments":[],"link":null}`},
		{fragRest,
			`,"start":"2020-01-02","end":"","departments":["BIO"],"epub":true,"type":"Article","subtype":"Paper",` +
				`"raw_type":"publication",` +
				`"raw_subtype":"article","year":2020,"authors":"A","editors":"E","title":"T","topics":["t1"],` +
				`"affiliated":true,"workflow":"draft","tags":["x"]}`,
			`,"start":"","end":"","departments":[],"type":"","subtype":"","year":0,"authors":"","editors":"",` +
				`"title":"","topics":[],` +
				`"affiliated":false,"workflow":"verif"}`},
	} {
		for _, all := range activityFragments() {
			for _, f := range append(all.Parts, all) {
				if f.Name != tt.fragment {
					continue
				}
				if got := string(f.Encode(nil, full)); got != tt.full {
					t.Errorf("%s of a full record: %s, want %s", f.Name, got, tt.full)
				}
				if got := string(f.Encode(nil, empty)); got != tt.empty {
					t.Errorf("%s of an empty record: %s, want %s", f.Name, got, tt.empty)
				}
			}
		}
	}
}

// TestExternalLink: the link is the first of DOI, PubMed and URL, escaped as a path.
func TestExternalLink(t *testing.T) {
	for record, want := range map[string]string{
		`{}`:                                   "",
		`{"doi":"","pubmed":"","link":""}`:     "",
		`{"doi":" 10.1000/182 ","pubmed":"1"}`: "https://doi.org/10.1000/182",
		`{"doi":"https://doi.org/10.1/x"}`:     "https://doi.org/10.1/x",
		`{"doi":"DOI:10.1/x"}`:                 "https://doi.org/10.1/x",
		`{"doi":"10.1/(a)!*'\"<b>"}`:           "https://doi.org/10.1/(a)!*%27%22%3Cb%3E",
		`{"doi":"10.1/ä%20?#[c]"}`:             "https://doi.org/10.1/%C3%A4%2520%3F%23%5Bc%5D",
		`{"doi":"none"}`:                       "https://doi.org/none",
		`{"doi":"https://www.doi.org/10.1000/a%3Cb%3E?utm_source=x"}`:   "https://doi.org/10.1000/a%3Cb%3E",
		`{"doi":["10.1000/182"]}`:                                       "https://doi.org/10.1000/182",
		`{"doi":"https://p.example/77"}`:                                "https://p.example/77",
		`{"doi":"https://p.example/77","link":"https://example.org/1"}`: "https://example.org/1",
		`{"pubmed":"PMID: 123"}`:                                        "https://pubmed.ncbi.nlm.nih.gov/123/",
		`{"pubmed":"a/b"}`:                                              "https://pubmed.ncbi.nlm.nih.gov/a%2Fb/",
		`{"doi":null,"pubmed":123}`:                                     "https://pubmed.ncbi.nlm.nih.gov/123/",
		`{"pubmed":{"a":1},"link":"https://example.org/a?b=c"}`:         "https://example.org/a?b=c",
		`{"link":"javascript:alert(1)"}`:                                "",
	} {
		if got := externalLink(parse(t, record)); got != want {
			t.Errorf("%s links to %q, want %q", record, got, want)
		}
	}
}

// TestFundingNumbers: values are decoded once more than the query string.
func TestFundingNumbers(t *testing.T) {
	for text, want := range map[string][]string{
		"number=a,b":                 {"a", "b"},
		"number[]=a,b&number[]= c":   {"a,b", " c"},
		"number=01%252F2,x+y,,%zz%4": {"01%2F2", "x y", "%zz%4"},
		"number=%41%c3%a4":           {"Aä"},
		"number=":                    nil,
		"number=%ff":                 nil,
		"number[x]=a":                nil,
	} {
		p := params(text)
		got := fundingNumbers(p)
		if (p.Err() == nil) != (want != nil) || want != nil && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, p.Err(), want)
		}
		if p.Err() != nil && !errors.Is(p.Err(), rules.ErrWrongCall) {
			t.Errorf("%s: %v", text, p.Err())
		}
	}
}

// TestRecordRow: columns of a record, raw and rendered, with the right id.
func TestRecordRow(t *testing.T) {
	doc := parse(t,
		`{"_id":{"$oid":"64a000000000000000000008"},"id":"own","title":"<i>T</i><script>x</script>","a":{"b":1,`+
			`"c":2},"n":null,"persons":[]}`)
	for _, tt := range []struct {
		columns, want string
		ownID         bool
		style         *display.Style
	}{
		{"title,a.c,nope",
			`{"id":"64a000000000000000000008","title":"<i>T</i>&lt;script&gt;x&lt;/script&gt;","a":{"c":2}}`, false,
			nil},
		{"id,n", `{"id":"64a000000000000000000008","n":null}`, false, nil},
		{"id,n", `{"id":"own","n":null}`, true, nil},
		{"nope", `{}`, true, nil},
		{"n,persons,a.b", `{"id":"64a000000000000000000008","n":"-","persons":"-","a":"{\"b\":1}"}`, false,
			&display.Style{Lang: "en"}},
	} {
		row := recordRow{columns: params("columns=" + tt.columns).StoredColumns(), ownID: tt.ownID, style: tt.style}
		got := string(row.appendFields(nil, doc, func(name string) bson.RawValue { return doc.Lookup(name) }))
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.columns, got, tt.want)
		}
	}
}

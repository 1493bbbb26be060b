package lists_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// whole is a record that has all that entries can show. The value of each field that is not a code or a number begins
// with its name.
const whole = `{"_id": "whole", "type": "publication", "subtype": "article", "title": "Plugh", "year": 2021, "authors": [{"last": "Nowak", "first": "N"}],
	"journal": "Lamps", "volume": "1719", "issue": "4", "pages": "45-67", "doi": "10.5555/plugh", "link": "https://example.org/link",
	"abstract": "<jats:title>Abstract</jats:title><p>abstract of <b>Plugh</b></p>More &amp; more.",
	"keywords": ["keywords one", "keywords two"], "tags": ["best-paper"], "quartile": "quartile1",
	"open_access": true, "license": "CC BY 4.0", "pdf": "https://example.org/pdf", "units": ["MOTH"], "projects": "FUNDED", "funder": "funder of Plugh", "funding_number": "grant-1",
	"rendered": {"web": "<a href='/activities/view/whole'>Plugh</a><br><small>Nowak, N. <i>Lamps</i> (2021)</small>", "print": "Nowak, N. (2021) Plugh. <i>Lamps</i> 1719(4):45-67."}}`

// funded is the project of the record.
const funded = `{"_id": "funded", "name": "FUNDED", "title": "Lamps", "public": true, "funder": "dfg", "funding_number": ["grant-2", "grant-3"]}`

// showing serves the record, without the fields in hidden.
func showing(t *testing.T, hidden ...string) *proxytest.Site {
	t.Helper()
	return withRecords(t, map[string][]string{"activities": {whole}, "projects": {funded}}, hidden...)
}

const all = "abstract,badges,bibtex,doi,keywords,oa,pdf,ris,units"

// TestShow: entries have the parts that a request asks for, and no others, in pages and fragments.
func TestShow(t *testing.T) {
	s := showing(t)
	parts := map[string][]string{
		"abstract": {`<details class="vl-fold"><summary>Abstract</summary><p dir="auto">abstract of ` +
			`<b>Plugh</b></p><p dir="auto">More &amp; more.</p></details>`},
		"badges": {`<li class="vl-badge">Best paper</li>`, `<li class="vl-badge">Quartile: quartile1</li>`},
		"bibtex": {`<summary>BibTeX</summary><pre`, `.bib">Save as a file (.bib)</a>`,
			`href="https://data.example/items/whole.bib" download="nowak2021plugh-`},
		"doi": {`>doi:10.5555/plugh</a>`},
		"keywords": {`<span>Keywords:</span> <a href="https://data.example/lists/activities?keyword=keywords+one" ` +
			`rel="nofollow">keywords one</a>, `,
			`<a href="https://data.example/lists/activities?keyword=best+paper" rel="nofollow">best-paper</a></p>`},
		"oa": {`<li class="vl-oa">Open access</li>`,
			`<a rel="license" href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>`},
		"pdf":   {`<a href="https://example.org/pdf" type="application/pdf">PDF</a>`},
		"ris":   {`<summary>RIS</summary><pre`, `>TY  - JOUR`, `.ris">Save as a file (.ris)</a>`},
		"units": {`<span>Units:</span> <a href="https://data.example/lists/unit/MOTH">`},
	}
	for _, target := range []string{"/lists/activities.html?ids=whole&show=", "/lists/activities?ids=whole&show=",
		"/items/whole.html?show="} {
		for asked := range parts {
			body := string(s.Get(target+asked, "Accept", "text/html").Body)
			for name, texts := range parts {
				for _, text := range texts {
					if strings.Contains(body, text) != (name == asked) {
						t.Errorf("%s%s: has %s: %v", target, asked, text, name != asked)
					}
				}
			}
		}
	}
	page := string(s.Get("/items/whole", "Accept", "text/html").Body)
	for name, texts := range parts {
		for _, text := range texts {
			if shown := strings.Contains("badges keywords oa pdf units", name); shown !=
				strings.Contains(page, text) {
				t.Errorf("the item's page has %s: %v", text, !shown)
			}
		}
	}
	for _, text := range []string{`<dt>Funding</dt><dd dir="auto">funder of Plugh grant-1</dd>`,
		`<meta name="citation_pdf_url" content="https://example.org/pdf">`,
		`<meta name="citation_keywords" content="keywords one; keywords two; best-paper">`} {
		if !strings.Contains(page, text) {
			t.Errorf("the item's page lacks %s", text)
		}
	}
	if links := s.Get("/items/whole", "Accept", "text/html").Header.Get("Link"); !strings.Contains(links,
		`<https://creativecommons.org/licenses/by/4.0/>; rel="license"`) {
		t.Errorf("the item's page links to %s", links)
	}
	german := string(s.Get("/lists/activities.html?ids=whole&lang=de&show=oa,badges").Body)
	for _, text := range []string{"Open Access", "Bester Beitrag", "Quartil: quartile1"} {
		if !strings.Contains(german, text) {
			t.Errorf("the German list lacks %s", text)
		}
	}
}

// TestShowIsStrict: values that do not exist are refused, and equal requests have one address.
func TestShowIsStrict(t *testing.T) {
	s := showing(t)
	if res := s.Get("/lists/activities?show=abstracts"); res.StatusCode != http.StatusBadRequest ||
		!strings.Contains(string(res.Body), "did you mean abstract?") {
		t.Errorf("%s %s", res.Status, res.Body)
	}
	if got := getList(s, "/lists/activities.json?show=ris&show=abstract,ris&limit=1").Self; got !=
		"https://data.example/lists/activities.json?limit=1&show=abstract,ris" {
		t.Errorf("self is %s", got)
	}
	if res := s.Get("/lists/activities.bib?show=abstract&limit=1"); res.StatusCode != http.StatusOK {
		t.Errorf("an export: %s", res.Status) // as with other parameters of pages
	}
}

// TestShowInJSON: items have the data that reference managers want and, on request, the rest.
func TestShowInJSON(t *testing.T) {
	s := showing(t)
	items := func(target string) map[string]any {
		var l struct{ Items []map[string]any }
		if err := json.Unmarshal(s.Get(target).Body, &l); err != nil || len(l.Items) != 1 {
			t.Fatalf("%s: %v, %d items", target, err, len(l.Items))
		}
		return l.Items[0]
	}
	it := items("/lists/activities.json?ids=whole")
	for name, want := range map[string]any{
		"venue": "Lamps", "volume": "1719", "issue": "4", "pages": "45-67", "date": "2021", "doi": "10.5555/plugh",
		"abstract": "abstract of Plugh More & more.", "oa": true,
		"funder": "funder of Plugh", "grant": "grant-1", "badges": nil, "units": nil, "bibtex": nil, "ris": nil,
		"html": "<a href='https://doi.org/10.5555/plugh'>Plugh</a><br><small>Nowak, N. <i>Lamps</i> 1719(4), 45–67 " +
			"(2021)</small>",
	} {
		if it[name] != want {
			t.Errorf("%s is %v, want %v", name, it[name], want)
		}
	}
	links, _ := json.Marshal(it["links"])
	if want :=
		`{"doi":"https://doi.org/10.5555/plugh","license":"https://creativecommons.org/licenses/by/4.0/",` +
			`"page":"https://data.example/items/whole","pdf":"https://example.org/pdf","url":"https://example.org/` +
			`link"}`; string(links) != want {
		t.Errorf("links are %s", links)
	}
	known, _ := json.Marshal([]any{it["keywords"], it["projects"]})
	if want :=
		`[["keywords one","keywords two","best-paper"],[{"funder":"Deutsche Forschungsgemeinschaft",` +
			`"grant":"grant-2, grant-3","id":"FUNDED","title":"Lamps"}]]`; string(known) != want {
		t.Errorf("keywords and projects are %s", known)
	}
	for name, texts := range map[string][]string{
		".atom": {`<category term="keywords one"></category>`, `<category term="best-paper"></category>`,
			`<link href="https://creativecommons.org/licenses/by/4.0/" rel="license"></link>`},
		".rss":       {`<category>keywords one</category>`, `<category>best-paper</category>`},
		".feed.json": {`"tags":["keywords one","keywords two","best-paper"]`},
	} {
		feed := string(s.Get("/lists/activities" + name + "?ids=whole").Body)
		for _, want := range texts {
			if !strings.Contains(feed, want) {
				t.Errorf("%s\nlacks %s", feed, want)
			}
		}
	}
	more, _ := json.Marshal(items("/items/whole.json?show=" + all))
	for _, want := range []string{
		`"badges":["Best paper","Quartile: quartile1"]`, `"keywords":["keywords one","keywords two","best-paper"]`,
		`"units":[{"id":"MOTH","name":"`, `"bibtex":"@article{nowak2021plugh-`, `"ris":"TY  - JOUR\r\n`,
	} {
		if !strings.Contains(string(more), want) {
			t.Errorf("%s\nlacks %s", more, want)
		}
	}
	table := string(s.Get("/lists/activities.csv?ids=whole").Body)
	if !strings.Contains(table, ",MOTH,,FUNDED,keywords one; keywords two; best-paper,true,,,") {
		t.Errorf("the table is %s", table)
	}
	data := string(s.Get("/items/whole.jsonld").Body)
	for _, want := range []string{
		`"isAccessibleForFree":true`, `"license":"https://creativecommons.org/licenses/by/4.0/"`,
		`"contentUrl":"https://example.org/pdf"`, `"keywords":["keywords one",`,
		`"funder":{"@type":"Organization","name":"funder of Plugh"}`, `"identifier":"grant-1"`,
		`{"@type":"Grant","name":"Lamps","alternateName":"FUNDED","identifier":["grant-2","grant-3"],` +
			`"funder":{"@type":"Organization","name":"Deutsche Forschungsgemeinschaft"}}`,
	} {
		if !strings.Contains(data, want) {
			t.Errorf("%s\nlacks %s", data, want)
		}
	}
}

// TestShowHidesHiddenFields: no format shows a hidden field under any name.
func TestShowHidesHiddenFields(t *testing.T) {
	s := showing(t, "volume", "abstract", "keywords", "tags", "quartile", "open_access", "license", "pdf", "units",
		"funder", "funding_number")
	shown := regexp.MustCompile(
		`1719\(|abstract of|keywords one|best-paper|Best paper|quartile1|Open ` +
			`access|isAccessibleForFree|creativecommons|example.org/pdf|unit/MOTH|funder ` +
			`of|Forschungsgemeinschaft|grant-`)
	if found := shown.FindAll(showing(t).Get("/items/whole.json?show="+all).Body, -1); len(found) < 8 {
		t.Errorf("without hidden fields there are only %q", found)
	}
	for _, suffix := range []string{"", ".html", ".json", ".jsonld", ".bib", ".ris", ".csl.json", ".csv", ".atom",
		".rss", ".feed.json"} {
		for _, target := range []string{"/lists/activities" + suffix + "?ids=whole&show=" + all,
			"/items/whole" + suffix, "/lists/project/FUNDED" + suffix, "/items/funded" + suffix} {
			res := s.Get(target, "Accept", "text/html")
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", target, res.Status)
			}
			if found := shown.Find(res.Body); found != nil {
				t.Errorf("%s shows %s", target, found)
			}
		}
	}
}

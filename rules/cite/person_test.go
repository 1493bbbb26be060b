package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// formatsOf returns an item with these authors in all formats, by name.
func formatsOf(t *testing.T, authors string) map[string]string {
	it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", "subtype": "article", "title": "T", `+
		`"journal": "J", "year": 2021, "authors": `+authors+`}`)
	return map[string]string{
		"bib": string(cite.AppendBibTeX(nil, it, false)), "ris": string(cite.AppendRIS(nil, it)),
		"csl":    string(cite.AppendCSL(nil, it)),
		"jsonld": string(appendJSONLD(nil, it, "")), "coins": string(cite.AppendCOinS(nil, it)), "meta": metaOf(it),
		"key": it.Key,
	}
}

// TestSuffix: wherever a suffix is stored, each format has it in its place.
func TestSuffix(t *testing.T) {
	for _, authors := range []string{
		`[{"last": "Costa, Jr.", "first": "P. T."}]`, `[{"last": "Costa", "first": "P. T., Jr."}]`,
		`[{"last": "Costa Jr.", "first": "P. T."}]`,
		`["Costa, Jr., P. T."]`, `"Costa, P. T., Jr."`, `[{"last": "Costa", "first": "P. T.", "suffix": "Jr."}]`,
		`["P. T. Costa Jr."]`,
	} {
		got := formatsOf(t, authors)
		for format, want := range map[string]string{
			"bib": "  author = {Costa, Jr., P. T.},\n", "ris": "AU  - Costa, P. T., Jr.\r\n", "key": "costa2021t-",
			"csl": `"author":[{"family":"Costa","given":"P. T.","suffix":"Jr."}]`,
			"jsonld": `"author":[{"@type":"Person","name":"P. T. Costa Jr.","givenName":"P. T.","familyName":"Costa",` +
				`"honorificSuffix":"Jr."}]`,
			"coins": "rft.aulast=Costa&amp;rft.aufirst=P.+T.&amp;rft.ausuffix=Jr.&amp;rft.au=P.+T.+Costa+Jr.",
			"meta":  "citation_author Costa, P. T., Jr. ",
		} {
			if !strings.Contains(got[format], want) {
				t.Errorf("%s: %s lacks %q", authors, got[format], want)
			}
		}
	}
	for authors, want := range map[string]string{
		`["Costa, Jr."]`: "author = {{Costa Jr.}}",
		`[{"last": "van der Berg III", "first": "Jan"}]`: "author = {van der Berg, III, Jan}",
		`["Barnes and Noble, Inc."]`:                     "author = {{Barnes and Noble, Inc.}}",
		`[{"last": "de Silva"}]`:                         "author = {{de Silva}}",
		`"Quill, Ada; Fern, Bo"`:                         "author = {Quill, Ada and Fern, Bo}",
		`[{"last": "王", "first": "小明"}]`:                 "author = {王, 小明}",
	} {
		if got := formatsOf(t, authors)["bib"]; !strings.Contains(got, want) {
			t.Errorf("%s: %s lacks %q", authors, got, want)
		}
	}
}

// TestOthers: "et al." is no person, but BibTeX says that there are others.
func TestOthers(t *testing.T) {
	for _, authors := range []string{
		`[{"last": "Quill", "first": "Ada"}, {"last": "et al.", "first": ""}]`, `"Quill, Ada et al."`,
		`["Quill, Ada", "and others"]`,
	} {
		got := formatsOf(t, authors)
		if !strings.Contains(got["bib"], "author = {Quill, Ada and others}") {
			t.Errorf("%s: %s", authors, got["bib"])
		}
		for _, format := range []string{"ris", "csl", "jsonld", "coins", "meta"} {
			if strings.Contains(got[format], "others") || strings.Contains(got[format], "al.") ||
				strings.Count(got[format], "Ada") == 0 {
				t.Errorf("%s: %s", authors, got[format])
			}
		}
	}
	if got := formatsOf(t, `["et al."]`)["bib"]; strings.Contains(got, "author") {
		t.Error(got)
	}
	editors := string(cite.AppendBibTeX(nil, read(t, rules.ViewActivities,
		`{"_id": 1, "editors": ["Quill, Ada", "et al."]}`), false))
	if !strings.Contains(editors, "editor = {Quill, Ada and others}") {
		t.Error(editors)
	}
}

// TestPersonWords: search finds all parts of a name, and no "et al."
func TestPersonWords(t *testing.T) {
	var all []string
	builtIn(t).Words(doc(t, `{"_id": 1, "authors": [{"last": "Costa", "first": "P.", "middle": "T.", `+
		`"suffix": "Jr."}, "et al."], "editors": "Quill, Ada; WHO"}`), func(text string, title bool) {
		if text != "" && !title {
			all = append(all, text)
		}
	})
	if got := strings.Join(all, "|"); got != "P. T.|Costa|Jr.|Ada|Quill|WHO" {
		t.Error(got)
	}
}

// TestMarkedPerson: a public person stored without a name has the parts of the name in the mark; titles of persons
// have the whole name.
func TestMarkedPerson(t *testing.T) {
	it := read(t, rules.ViewProjects, `{"_id": 1, "name": "P", "persons": [{"user": "costa", "name": "Paul Costa"}, `+
		`{"user": "costa"}, {"user": "eve", "last": "Eve"}], "_list": {"persons": [{"id": "costa", "name": "Costa, `+
		`P. T., Jr."}]}}`)
	got := ""
	for i := range it.Authors {
		got += fmt.Sprint(it.Authors[i].Inverted(), it.Authors[i].User, "; ")
	}
	if got != "Costa, P. T., Jr.costa; Costa, P. T., Jr.costa; " {
		t.Error(got)
	}
	it = read(t, rules.ViewPersons,
		`{"_id": 1, "username": "costa", "first": "P. T.", "last": "Costa", "suffix": "Jr."}`)
	if it.Text != "P. T. Costa Jr." {
		t.Error(it.Text)
	}
}

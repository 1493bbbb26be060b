package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// TestOrganisations: an author without a given name is an organisation in every format if the name
// has several words or is an abbreviation, and a person otherwise.
func TestOrganisations(t *testing.T) {
	tests := []struct {
		author       string
		organisation bool
	}{
		{`{"last":"The ATLAS Collaboration"}`, true},
		{`{"last":"The ATLAS Collaboration","first":""}`, true},
		{`{"last":"The ATLAS Collaboration","first":null,"user":""}`, true},
		{`{"last":"WHO"}`, true},
		{`{"last":"Écoles Réunies"}`, true},
		{`{"name":"WHO"}`, true},
		{`"World Health Organization"`, true},
		{`{"last":"Suharto"}`, false},
		{`{"last":"van den Berg"}`, false},
		{`{"last":"山田"}`, false},
		{`{"last":"X"}`, false},
		{`{"last":"The ATLAS Collaboration","first":"A."}`, false},
		{`{"last":"Dalla Torre","user":"torre"}`, false},
	}
	for _, tt := range tests {
		it := read(t, rules.ViewActivities,
			`{"_id":1,"type":"publication","authors":[`+tt.author+`],"_list":{"persons":[{"id":"torre"}]}}`)
		schema, csl := string(appendJSONLD(nil, it, "")), string(cite.AppendCSL(nil, it))
		want := map[bool]string{true: `{"@type":"Organization","name":`,
			false: `{"@type":"Person","name":`}[tt.organisation]
		if !strings.Contains(schema, want) || strings.Contains(csl, `"literal":`) != tt.organisation {
			t.Errorf("%s: %s\n%s", tt.author, schema, csl)
		}
	}
}

// TestSeveralISSN: several ISSN, however they are stored, are several in formats that allow it, and
// one in others.
func TestSeveralISSN(t *testing.T) {
	for _, stored := range []string{
		`["1234-5678","8765-432X"]`, `"1234-5678, 8765-432X"`,
	} {
		it := read(t, rules.ViewActivities,
			fmt.Sprintf(`{"_id":1,"type":"publication","subtype":"article","journal":"J","issn":%s,"isbn":["1","2"]}`,
				stored))
		for name, got := range map[string]string{
			`"issn":["1234-5678","8765-432X"]`:                string(appendJSONLD(nil, it, "")),
			"SN  - 1234-5678\r\nSN  - 8765-432X\r\n":          string(cite.AppendRIS(nil, it)),
			`"ISSN":"1234-5678, 8765-432X"`:                   string(cite.AppendCSL(nil, it)),
			"issn = {1234-5678},":                             string(cite.AppendBibTeX(nil, it, false)),
			"rft.issn=1234-5678":                              string(cite.AppendCOinS(nil, it)),
			"citation_issn 1234-5678 citation_issn 8765-432X": metaOf(it),
		} {
			if !strings.Contains(got, name) {
				t.Errorf("%s: %q lacks %q", stored, got, name)
			}
			if strings.HasPrefix(name, "rft") && strings.Contains(got, "8765") {
				t.Errorf("%s: %q has two", stored, got)
			}
		}
	}
	for stored, want := range map[string]string{`"1234567X"`: "1234-567X", `"none yet"`: "none yet",
		`12345678`: "1234-5678", `"1234-5678"`: "1234-5678"} {
		if it := read(t, rules.ViewActivities, `{"_id":1,"issn":`+stored+`}`); it.ISSN != want {
			t.Errorf("%s: got %q", stored, it.ISSN)
		}
	}
	book := read(t, rules.ViewActivities, `{"_id":1,"type":"publication","subtype":"book","isbn":["1","2"]}`)
	if got := string(appendJSONLD(nil, book, "")); !strings.Contains(got, `"isbn":["1","2"]`) {
		t.Error(got)
	}
}

// metaOf returns the meta tags of an item in one text.
func metaOf(it *cite.Item) (all string) {
	cite.Meta(it, func(name, content string) { all += name + " " + content + " " })
	return all
}

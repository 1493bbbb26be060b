package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// TestHiddenFieldsMistakes: a field that cannot be hidden stops the start, and the error says where
// it is.
func TestHiddenFieldsMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.yml")
	for field, want := range map[string]string{"roles": "it decides who sees what",
		"a..b": "is not the path of a field", "'*'": "is not the path of a field"} {
		if err := os.WriteFile(path, []byte("access:\n  hidden_fields: [mail, "+field+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"config", "--config", path}, &out, &errs); code == 0 ||
			!strings.Contains(errs.String(), path+":2: access.hidden_fields: ") ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %s", field, code, errs.String())
		}
	}
}

// TestHiddenFieldsAreNotMarked: a search, a facet or a list finds no record by a hidden field, and the item in the
// mark lacks it.
func TestHiddenFieldsAreNotMarked(t *testing.T) {
	mapping, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	public, err := filter.Parse([]byte("{}"), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	records := map[string]string{
		rules.ViewActivities: `{"doi":"doi:10.1000/x","open_access":true,"keywords":"owls; moths","year":2021,
			"authors":[{"user":"ann"}],"supervisors":[{"last":"Bobson","user":"bob","units":["LAB"]}]}`,
		rules.ViewProjects: `{"name":"P","public":true,"contact":"ann"}`,
	}
	const (
		all = `{"public":true,"year":2021,"units":[{"id":"LAB"}],"in":["LAB"],"persons":[{"id":"ann","name":"Ada"},` +
			`{"id":"bob","name":"Bobson","orcid":"0000-0002-1825-0097"}],"keywords":[{"id":"owls"},{"id":"moths"}],` +
			`"oa":"1","doi":"10.1000/x","by_author":"bobson"}`
		project = `{"public":true,"persons":[{"id":"ann","name":"Ada"}],"projects":[{"id":"P","title":"P"}],` +
			`"by_author":"ada"}`
	)
	parts := map[string]string{"doi": "10.1000/x", "keywords": "owls", "orcid": "0000-0002-1825-0097"}
	for _, tt := range []struct{ view, hidden, from, without string }{
		{rules.ViewActivities, "mail", all, ""},
		{rules.ViewActivities, "orcid", all, ""}, // of its own field the item knows
		{rules.ViewActivities, "doi", all, `"doi":"10.1000/x",`},
		{rules.ViewActivities, "open_access", all, `"oa":"1",`},
		{rules.ViewActivities, "year", all, `"year":2021,`},
		{rules.ViewActivities, "keywords", all, `"keywords":[{"id":"owls"},{"id":"moths"}],`},
		{rules.ViewActivities, "supervisors.units", all, `"units":[{"id":"LAB"}],"in":["LAB"],`},
		{rules.ViewActivities, "authors", all, `{"id":"ann","name":"Ada"},`},
		{rules.ViewProjects, "mail", project, ""},
		{rules.ViewProjects, "contact", strings.Replace(project, `,"by_author":"ada"`, "", 1),
			`"persons":[{"id":"ann","name":"Ada"}],`},
	} {
		fields, err := access.NewFields([]string{tt.hidden})
		if err != nil {
			t.Fatal(err)
		}
		o := mark.Options{Public: public, Cited: (&institute{cite: mapping}).citing(nil), Visible: fields.Strip}
		persons := proxytest.Parse(t, `{"username":"ann","last":"Ada"}`,
			`{"username":"bob","last":"Bobson","orcid":"0000-0002-1825-0097"}`)
		made, _, err := mark.NewDirectory(o, persons, nil, nil).Make(tt.view, proxytest.Parse(t, records[tt.view])[0])
		if err != nil {
			t.Fatal(err)
		}
		item := string(mark.ItemOf(made))
		for field, text := range parts {
			shows := tt.view == rules.ViewActivities && field != tt.hidden
			if strings.Contains(item, text) != shows {
				t.Errorf("without %s: the item has %s: %t", tt.hidden, field, !shows)
			}
		}
		var b raw.Builder
		if err := b.Copy(made, func(name string) bool { return name != "item" }); err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(tt.from, tt.without, "", 1)
		if got := string(ejson.AppendDocument(nil, b.Document())); got != want {
			t.Errorf("without %s the mark is\n%s, want\n%s", tt.hidden, got, want)
		}
	}
}

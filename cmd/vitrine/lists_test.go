package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// public returns the ids of the public activities.
func (r *running) public() string {
	r.t.Helper()
	r.checked()
	if _, err := r.program.runner.Refresh(r.t.Context(), materialize.Request{Views: []string{"activities"}}); err != nil {
		r.t.Fatal(err)
	}
	ids := map[string]bool{}
	_, err := r.store.Rows(r.t.Context(), "activities", 0, func(row origin.Row) error {
		ids[ejson.IDText(row.ID)] = mark.Of(row.Doc) != nil
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, id := range []string{"a1", "a2", "a3"} {
		if ids[id] {
			all = append(all, id)
		}
	}
	return strings.Join(all, " ")
}

// TestReloadedLists: a reload adopts the whole configuration of public activities or nothing.
func TestReloadedLists(t *testing.T) {
	t.Parallel()
	r := runProgram(t)
	name := filepath.Join(t.TempDir(), "vitrine.yml")
	tests := []struct{ name, file, public, wrong string }{
		{"the defaults", "", "a1 a2 a3", ""},
		{"a rule", "lists:\n  public: '{\"title\": {\"$ne\": \"First\"}}'\n", "a2 a3", ""},
		{"a filter that does not compile", "lists:\n  public: '{\"title\": {\"$in\": 7}}'\n", "a2 a3", "vitrine.yml:2: lists.public: title.$in: "},
		{"a filter by the clock", "lists:\n  public: '{\"$expr\": {\"$gt\": [\"$$NOW\", \"$day\"]}}'\n", "a2 a3", "vitrine.yml:2: lists.public: may not use $$NOW"},
		{"a mistake elsewhere", "lists:\n  public: '{}'\n  named: {papers: {view: personen}}\n", "a2 a3", "vitrine.yml:3: lists.named.papers.view: "},
		{"a filter of a list", "lists:\n  named:\n    papers:\n      filter: '{\"a\": {\"$lt\": 1, \"$foo\": 2}}'\n", "a2 a3", "vitrine.yml:4: lists.named.papers.filter: a.$foo: "},
		{"no lists", "lists: {enabled: false}\n", "", ""},
		{"lists again", "lists:\n  named: {papers: {}}\n", "a1 a2 a3", ""},
	}
	for _, tt := range tests {
		tt.file += "site: {title: {en: " + tt.name + "}}\n"
		if err := os.WriteFile(name, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		err := r.program.reload(t.Context(), func() (configs.Config, error) {
			return configs.Load(configs.Sources{Environ: []string{"VITRINE_CONFIG=" + name}, Checks: checks})
		})
		if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.wrong)
		}
		if got := r.public(); got != tt.public {
			t.Errorf("%s: public activities %q, want %q", tt.name, got, tt.public)
		}
		if got := r.program.settings.Site.Title["en"]; (got == tt.name) != (tt.wrong == "") {
			t.Errorf("%s: the site's title is %q", tt.name, got)
		}
	}
}

// TestTitles: a list with a title in only one language shows it in both.
func TestTitles(t *testing.T) {
	for given, want := range map[[2]string][2]string{
		{"Papers", "Aufsätze"}: {"Papers", "Aufsätze"}, {"", "Aufsätze"}: {"Aufsätze", "Aufsätze"}, {"Papers", ""}: {"Papers", "Papers"}, {}: {},
	} {
		l := listOptions(configs.Config{Lists: configs.Lists{Named: map[string]*configs.NamedList{"x": {Title: map[string]string{"en": given[0], "de": given[1]}}}}}, nil).Named[0]
		if got := [2]string{l.Title["en"], l.Title["de"]}; got != want {
			t.Errorf("%v: got %q, want %q", given, got, want)
		}
	}
}

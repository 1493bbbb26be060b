package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/admin"
	"vitrine/rules/ejson"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
)

// public returns the ids of the public activities.
func (r *running) public() string {
	r.t.Helper()
	r.checked()
	if _, err := r.program.runner.Refresh(r.t.Context(), materialize.Request{Views: []string{"activities"}}); err !=
		nil {
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
		{"a filter that does not compile", "lists:\n  public: '{\"title\": {\"$in\": 7}}'\n", "a2 a3",
			"vitrine.yml:2: lists.public: title.$in: "},
		{"a filter by the clock", "lists:\n  public: '{\"$expr\": {\"$gt\": [\"$$NOW\", \"$day\"]}}'\n", "a2 a3",
			"vitrine.yml:2: lists.public: may not use $$NOW"},
		{"a mistake elsewhere", "lists:\n  public: '{}'\n  named: {papers: {view: personen}}\n", "a2 a3",
			"vitrine.yml:3: lists.named.papers.view: "},
		{"a filter of a list", "lists:\n  named:\n    papers:\n      filter: '{\"a\": {\"$lt\": 1, \"$foo\": 2}}'\n",
			"a2 a3", "vitrine.yml:4: lists.named.papers.filter: a.$foo: "},
		{"no lists", "lists: {enabled: false}\n", "", ""},
		{"what hides is not named any more", "lists:\n  named: {papers: {}}\n", "", ""},
		{"lists again", "lists:\n  enabled: true\n  named: {papers: {}}\n", "a2 a3", ""},
		{"all again", "lists:\n  public: '{}'\n  named: {papers: {}}\n", "a1 a2 a3", ""},
	}
	for _, tt := range tests {
		tt.file += "site: {title: {en: " + tt.name + "}}\n"
		if err := os.WriteFile(name, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		r.program.sources = sourcesIn(name)
		_, err := r.program.reload(t.Context())
		if tt.wrong == "" && err != nil ||
			tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
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

// TestListsDiff: a configuration file is compared with all that decides what lists show, and what the rows cannot
// decide is named.
func TestListsDiff(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	papers := configs.NewList()
	papers.Select = "type=publication"
	cfg.Lists.Named = map[string]*configs.NamedList{"papers": &papers}
	r := runConfigured(t, cfg, func(r *running) {
		poster := append(activity("a2", "Second"), bson.E{Key: "quality", Value: "low"})
		poster[1].Value = "poster"
		hidden := append(activity("a3", "Third"), bson.E{Key: "hide", Value: true})
		r.put("activities", activity("a1", "First"), poster, hidden)
	})
	if public := r.public(); public != "a1 a2" {
		t.Fatalf("public: %s", public)
	}
	const keep = "lists: {named: {papers: {select: 'type=publication'}}}\n"
	for _, tt := range []struct {
		name   string
		change admin.ListsChange
		want   string
	}{
		{"nothing", admin.ListsChange{File: []byte(keep)}, "activities 2 2, papers 1 1"},
		{"types of activities", admin.ListsChange{File: []byte(keep + "access: {types: {poster: [admin]}}")},
			"activities 2 1 hidden by type: 1, papers 1 1"},
		{"a selection", admin.ListsChange{File: []byte("lists: {named: {papers: {select: 'type=poster'}}}")},
			"activities 2 2, papers 1 1 hidden by type: 1 shown by type: 1"},
		{"no lists", admin.ListsChange{File: []byte("lists: {enabled: false}")},
			"activities 2 0 hidden by lists.enabled: lists are disabled: 2, papers 1 0 hidden by lists.enabled: " +
				"lists are disabled: 1"},
		{"hidden fields", admin.ListsChange{File: []byte(keep + "access: {hidden_fields: [doi]}")},
			"activities 2 2 not judged: access.hidden_fields, papers 1 1 not judged: access.hidden_fields"},
		{"more records", admin.ListsChange{Public: "{}", File: []byte(keep)},
			"activities 2 3 shown by hide: 1, papers 1 1 not judged: select, on records that are not public yet"},
		{"a misspelt list", admin.ListsChange{List: "paper"},
			"lists.named has no list \"paper\", did you mean papers?"},
	} {
		all, err := r.program.listsDiff(t.Context(), tt.change)
		var got []string
		for _, d := range all {
			if d.List != "activities" && d.List != "papers" {
				continue
			}
			line := fmt.Sprint(d.List, " ", d.Before, " ", d.After)
			for field, n := range d.Hidden.Fields {
				line += fmt.Sprint(" hidden by ", field, ": ", n)
			}
			for field, n := range d.Shown.Fields {
				line += fmt.Sprint(" shown by ", field, ": ", n)
			}
			if len(d.NotJudged) > 0 {
				line += " not judged: " + strings.Join(d.NotJudged, ", ")
			}
			got = append(got, line)
		}
		if text := strings.Join(got, ", "); text != tt.want &&
			(err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, text, tt.want)
		}
	}
}

// TestTrackersAgree: what lists ignore by default is no part of a DOI either.
func TestTrackersAgree(t *testing.T) {
	for _, name := range configs.Default().Lists.IgnoredParameters {
		name = strings.ReplaceAll(name, "*", "x")
		if got := identifier.DOI("https://doi.org/10.5555/owl?" + name + "=1"); got != "10.5555/owl" {
			t.Errorf("%s stays in %s", name, got)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
)

// TestHiddenFieldsMistakes: a field that cannot be hidden stops the start, and the error says where
// it is.
func TestHiddenFieldsMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.yml")
	for field, want := range map[string]string{"roles": "it decides who sees what", "a..b": "is not the path of a field", "'*'": "is not the path of a field"} {
		if err := os.WriteFile(path, []byte("access:\n  hidden_fields: [mail, "+field+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if code := run(t.Context(), []string{"config", "--config", path}, &out, &errs); code == 0 || !strings.Contains(errs.String(), path+":2: access.hidden_fields: ") || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: %d %s", field, code, errs.String())
		}
	}
}

// TestHiddenFieldsAreNotMarked: a search finds no record by a hidden field.
func TestHiddenFieldsAreNotMarked(t *testing.T) {
	mapping, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	record, err := bson.Marshal(bson.D{{Key: "doi", Value: "doi:10.1000/x"}, {Key: "open_access", Value: true},
		{Key: "keywords", Value: "owls; moths"}, {Key: "year", Value: 2021}})
	if err != nil {
		t.Fatal(err)
	}
	for hidden, want := range map[string]string{
		"mail": "2021 1 10.1000/x [owls moths]", "doi": "2021 1  [owls moths]",
		"open_access": "2021  10.1000/x [owls moths]",
		"year":        "0 1 10.1000/x [owls moths]", "keywords": "2021 1 10.1000/x []",
	} {
		fields, err := access.NewFields([]string{hidden})
		if err != nil {
			t.Fatal(err)
		}
		c := (&institute{cite: mapping, hidden: fields}).cited(rules.ViewActivities, record)
		if got := fmt.Sprint(c.Year, " ", c.OA, " ", c.DOI, " ", c.Keywords); got != want {
			t.Errorf("without %s the mark has %q, want %q", hidden, got, want)
		}
	}
}

package osiris_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/osiris"
)

// shown returns which of some activities a portal shows, by their _id.
func shown(t *testing.T, p osiris.Portal, activities []bson.Raw) string {
	t.Helper()
	var ids []string
	for _, a := range activities {
		ok, err := p.Shown().Match(a)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			ids = append(ids, a.Lookup("_id").StringValue())
		}
	}
	return strings.Join(ids, " ")
}

func portalOf(t *testing.T, features, general, types string) osiris.Settings {
	t.Helper()
	return osiris.From(
		documents(t, map[string]string{osiris.Features: features, osiris.General: general, osiris.Types: types}))
}

// TestPortalSubtypes: the portal shows a subtype if its record has portfolio in one of the forms that OSIRIS looks
// for.
func TestPortalSubtypes(t *testing.T) {
	article := documents(t, map[string]string{"a": `{"_id": "article", "subtype": "article"}`})["a"]
	for types, want := range map[string]bool{
		`{"id": "article", "portfolio": true}`:    true,
		`{"id": "article", "portfolio": 1}`:       true,
		`{"id": "article", "portfolio": 1.0}`:     true,
		`{"id": "article", "portfolio": "true"}`:  true,
		`{"id": "article", "portfolio": "1"}`:     false,
		`{"id": "article", "portfolio": "TRUE"}`:  false,
		`{"id": "article", "portfolio": false}`:   false,
		`{"id": "article", "portfolio": "false"}`: false,
		`{"id": "article", "portfolio": 0}`:       false,
		`{"id": "article", "portfolio": null}`:    false,
		// although OSIRIS's form shows it as set
		`{"id": "article", "parent": "publication"}`: false,
		`{"id": "Article", "portfolio": true}`:       false,
		`{"id": " article", "portfolio": true}`:      false,
		`{"id": 7, "portfolio": true}`:               false,
		`{"portfolio": true}`:                        false,
		``:                                           false,
		"{\"id\": \"article\", \"portfolio\": true}\n{\"id\": \"article\"}": false, // two records of one subtype
	} {
		s := portalOf(t, "", "", types)
		if got := shown(t, s.Portal, article) != ""; got != want {
			t.Errorf("%s: shown %v, want %v", types, got, want)
		}
	}
	for _, activity := range documents(t,
		map[string]string{"a": `{} {"subtype": null} {"subtype": ["chapter"]} {"subtype": "chapter"}`})["a"] {
		if got := shown(t, portalOf(t, "", "", `{"id": "article", "portfolio": true}`).Portal,
			[]bson.Raw{activity}); got != "" {
			t.Errorf("%s is shown", activity)
		}
	}
}

// TestPortalWorkflow: the portal's visibility by workflow counts if the institute has workflows.
func TestPortalWorkflow(t *testing.T) {
	const (
		every, closes = "none null empty open verified rejected", "verified"
		orEmpty       = "none null verified"
	)
	activities := documents(t, map[string]string{"a": `{"_id": "none", "subtype": "x"}
		{"_id": "null", "subtype": "x", "workflow": null}
		{"_id": "empty", "subtype": "x", "workflow": {"status": null}}
		{"_id": "open", "subtype": "x", "workflow": {"status": "in_progress"}}
		{"_id": "verified", "subtype": "x", "workflow": {"status": "verified"}}
		{"_id": "rejected", "subtype": "x", "workflow": {"status": "rejected"}}
		{"_id": "kept", "subtype": "y", "workflow": {"status": "verified"}}`})["a"]
	for _, tt := range []struct {
		feature, visibility, want string
		warned                    bool
	}{
		{``, `"only-approved"`, every, false},
		{`false`, `"only-approved"`, every, false},
		{`0`, `"approved-or-empty"`, every, false},
		{`true`, ``, every, false},
		{`true`, `null`, every, false},
		{`true`, `""`, every, false},
		{`true`, `"all"`, every, false},
		{`true`, `"only-approved"`, closes, false},
		{`1`, `"only-approved"`, closes, false},
		{`"true"`, `"approved-or-empty"`, orEmpty, false},
		{`"maybe"`, `"approved-or-empty"`, orEmpty, true}, // hides if in doubt
		{`true`, `"some"`, closes, true},
		{`true`, `7`, closes, true},
		{`true`, `["all"]`, closes, true},
	} {
		var features, general string
		if tt.feature != "" {
			features = fmt.Sprintf(`{"_id": 1, "feature": "quality-workflow", "enabled": %s}`, tt.feature)
		}
		if tt.visibility != "" {
			general = fmt.Sprintf(`{"_id": 1, "key": "portfolio-workflow-visibility", "value": %s}`, tt.visibility)
		}
		s := portalOf(t, features, general, `{"id": "x", "portfolio": true}`)
		if got := shown(t, s.Portal, activities); got != tt.want || (s.Warnings != nil) != tt.warned {
			t.Errorf("feature %s, visibility %s: shown %s, want %s; warnings %q", tt.feature, tt.visibility, got,
				tt.want, warnings(s))
		}
	}
}

// TestPortalKeeping: a setting that is gone keeps its last value, and one that has changed does not.
func TestPortalKeeping(t *testing.T) {
	on, off := true, false
	last := osiris.Portal{Subtypes: []string{"x"}, Workflow: &on, Visibility: osiris.VisibleApproved}
	for _, tt := range []struct {
		now, want osiris.Portal
		gone      int
	}{
		{osiris.Portal{}, osiris.Portal{Workflow: &on, Visibility: osiris.VisibleApproved}, 2},
		{osiris.Portal{Workflow: &off}, osiris.Portal{Workflow: &off, Visibility: osiris.VisibleApproved}, 1},
		{osiris.Portal{Workflow: &on, Visibility: osiris.VisibleAll},
			osiris.Portal{Workflow: &on, Visibility: osiris.VisibleAll}, 0},
	} {
		got, gone := tt.now.Keeping(last)
		if !reflect.DeepEqual(got, tt.want) || len(gone) != tt.gone {
			t.Errorf("%+v: got %+v, %q", tt.now, got, gone)
		}
	}
}

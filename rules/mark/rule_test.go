package mark_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// TestPortal: with a portal, marks follow its rule for activities and the switches of persons.
func TestPortal(t *testing.T) {
	persons := all(t,
		`{"_id":1,"username":"ann","last":"Ada"}`,
		`{"_id":2,"username":"bob","last":"Bob","public_other_activities":false}`,
		`{"_id":3,"username":"cid","last":"Cid","public_other_activities":"false"}`,
		`{"_id":4,"username":"dee","last":"Dee","public_other_activities":null}`)
	const by = `"authors":[{"user":"ann"},{"user":"bob"},{"user":"cid"},{"user":"dee"}]`
	tests := []struct{ name, view, record, open, portal string }{
		{"an activity", rules.ViewActivities, `{"subtype":"article"}`, `{"public":true,"subtype":"article"}`,
			`{"public":true,"subtype":"article"}`},
		{"a subtype that is kept", rules.ViewActivities, `{"subtype":"report"}`, `{"public":true,"subtype":"report"}`,
			``},
		{"a hidden activity", rules.ViewActivities, `{"subtype":"article","hide":1}`,
			`{"public":true,"subtype":"article"}`, ``},
		{"an event", rules.ViewEvents, `{"subtype":"report","hide":1}`, `{"public":true,"subtype":"report"}`,
			`{"public":true,"subtype":"report"}`},
		{"a project", rules.ViewProjects, `{"name":"MOTH","public":true}`,
			`{"public":true,"projects":[{"id":"MOTH","title":"MOTH"}]}`,
			`{"public":true,"projects":[{"id":"MOTH","title":"MOTH"}]}`},
		{"authors of a publication", rules.ViewActivities, `{"type":"publication","subtype":"article",` + by + `}`,
			`ann bob cid dee`, `ann bob cid dee`},
		{"speakers of a talk", rules.ViewActivities, `{"type":"lecture","subtype":"article",` + by + `}`,
			`ann bob cid dee`, `ann dee`},
		{"editors of a publication", rules.ViewActivities,
			`{"type":"publication","subtype":"article","editors":[{"user":"bob"}]}`, `bob`, `bob`},
		{"supervisors of others", rules.ViewActivities, `{"type":"lecture","subtype":"article",` +
			`"editors":[{"user":"bob"}],"supervisors":[{"user":"cid"},{"user":"dee"}]}`, `bob cid dee`, `dee`},
		{"a member of a unit", rules.ViewPersons, `{"username":"ann","units":[{"unit":"LAB"}]}`, `in LAB`, `in LAB`},
		{"who has left", rules.ViewPersons, `{"username":"ann","is_active":false,"units":[{"unit":"LAB"}]}`, `in LAB`,
			`in nothing`},
		{"who has left, by a number", rules.ViewPersons, `{"username":"ann","is_active":0,"units":[{"unit":"LAB"}]}`,
			`in LAB`, `in nothing`},
		{"who is active", rules.ViewPersons, `{"username":"ann","is_active":"1","units":[{"unit":"LAB"}]}`, `in LAB`,
			`in LAB`},
	}
	o := options(t, `{}`)
	with := o
	with.Portal = &mark.Portal{Activities: filter.OneOf("subtype", "article")}
	for side, d := range map[string]*mark.Directory{"open": mark.NewDirectory(o, persons, nil, nil),
		"portal": mark.NewDirectory(with, persons, nil, nil)} {
		for _, tt := range tests {
			made, _, err := d.Make(tt.view, parse(t, tt.record))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"open": tt.open, "portal": tt.portal}[side]
			if got := summary(tt.view, made); got != want {
				t.Errorf("%s, %s: got %s, want %s", tt.name, side, got, want)
			}
		}
	}
	if o.Key() == with.Key() {
		t.Error("the options have the same key with and without a portal")
	}
	empty := with
	empty.Portal = &mark.Portal{}
	other := with
	other.Portal = &mark.Portal{Activities: filter.OneOf("subtype", "report")}
	if keys := map[string]bool{o.Key(): true, with.Key(): true, empty.Key(): true, other.Key(): true}; len(keys) !=
		4 {
		t.Errorf("%d different keys of 4 options", len(keys))
	}
	quiet := mark.NewDirectory(with, persons[:1], nil, nil).Digest()
	if loud := mark.NewDirectory(with,
		all(t, `{"_id":1,"username":"ann","last":"Ada","public_other_activities":false}`), nil,
		nil).Digest(); loud == quiet {
		t.Error("the switch of a person does not change the digest")
	}
}

// summary returns the persons of an activity's mark, or the units of a person's, or else the whole mark.
func summary(view string, made bson.Raw) string {
	list := func(path string) (text string) {
		for one := range mark.Entries(made, path) {
			if text != "" {
				text += " "
			}
			text += one.Lookup("id").StringValue()
		}
		return text
	}
	switch persons := list("persons"); {
	case view == rules.ViewPersons && list("units") == "":
		return "in nothing"
	case view == rules.ViewPersons:
		return "in " + list("units")
	case persons != "":
		return persons
	case made == nil:
		return ""
	}
	return string(ejson.AppendDocument(nil, made))
}

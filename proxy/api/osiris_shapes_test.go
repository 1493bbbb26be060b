package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/units"
)

// osirisShape is the shape of an answer of OSIRIS; see testdata/osiris_shapes.yaml.
type osirisShape struct {
	Ask            string
	Envelope, Rows map[string]string
	Differs        map[string]struct{ Here, Because string }
}

// TestShapesOfOSIRIS: answers have the members of OSIRIS's, with the same types, but for those that differ for a
// reason. Where neither OSIRIS nor the description has a member, there is none.
func TestShapesOfOSIRIS(t *testing.T) {
	var all []osirisShape
	file, err := os.Open("testdata/osiris_shapes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := yaml.NewDecoder(file)
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	s := proxytest.Open(t, shapedRecords(t), holdingsOptions(t))
	for _, tt := range all {
		t.Run(tt.Ask, func(t *testing.T) {
			path, query, _ := strings.Cut(tt.Ask, "?")
			query = strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22").Replace(query)
			if _, err := url.ParseQuery(query); err != nil {
				t.Fatal(err)
			}
			var got map[string]any // of formatted, the first of two documents
			body := s.Get(path + "?" + query).Body
			if err := json.NewDecoder(bytes.NewReader(body)).Decode(&got); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			used := map[string]bool{}
			row := got
			if tt.Envelope != nil {
				tt.compare(t, used, tt.Envelope, got)
				row = rowOf(got["data"])
			}
			if tt.Rows != nil {
				tt.compare(t, used, tt.Rows, row)
			}
			for member, how := range tt.Differs {
				if !used[member] || how.Because == "" {
					t.Errorf("%s is listed without a difference, or without a reason", member)
				}
			}
		})
	}
}

// compare compares the members of an object with those of OSIRIS's. used has the listed differences that it found.
func (s osirisShape) compare(t *testing.T, used map[string]bool, there map[string]string, object map[string]any) {
	t.Helper()
	here := typesOf(object)
	members := maps.Clone(here)
	maps.Copy(members, there)
	for member := range members {
		want := there[member]
		if how, ok := s.Differs[member]; ok && how.Here != want {
			used[member], want = true, how.Here
		}
		if here[member] != want {
			t.Errorf("%s is of type %q, want %q: %v", member, here[member], want, object)
		}
	}
}

// rowOf returns the first row, which has all that its record has, or the object in data.
func rowOf(data any) map[string]any {
	if rows, ok := data.([]any); ok && len(rows) > 0 {
		data = rows[0]
	}
	row, _ := data.(map[string]any)
	return row
}

// typesOf returns the types of an object's members.
func typesOf(object map[string]any) map[string]string {
	types := map[string]string{}
	for member, v := range object {
		switch v.(type) {
		case string:
			types[member] = "text"
		case float64:
			types[member] = "number"
		case bool:
			types[member] = "flag"
		case []any:
			types[member] = "list"
		case map[string]any:
			types[member] = "object"
		default:
			types[member] = "null"
		}
	}
	return types
}

// shapedRecords is a store with one record of each kind, which has all fields of answers.
func shapedRecords(t testing.TB) *proxytest.Store {
	t.Helper()
	s := wholeRecords(t)
	rendered := strings.Replace(wholeActivity, `"rendered":{`, `"rendered":{"title":"T","authors":"<b>Ahn</b>",`+
		`"editors":"Bee","supervisors":"Cee",`, 1)
	s.Publish(rules.ViewActivities, proxytest.Parse(t, rendered)...)
	s.Publish(rules.ViewDeadlines, proxytest.Parse(t,
		`{"_id":{"$oid":"64a0000000000000000000ab"},"title":"D","date":"2024-05-06","roles":["user"]}`)...)
	row, err := units.NewNames(proxytest.Parse(t, `{"_id":"b","id":"BIO","name":"Biology"}`)).
		Row(proxytest.Parse(t, wholePerson)[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(rules.ViewUserUnits, row)
	return s
}

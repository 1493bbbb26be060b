package api_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestDepartmentsOfHTML: /api/html names the units that are departments, in the order of the record, or all of its
// units if no departments are known.
func TestDepartmentsOfHTML(t *testing.T) {
	store := proxytest.NewStore()
	store.Publish(rules.ViewActivities, proxytest.Parse(t,
		`{"_id":"a","type":"publication","year":2020,"authors":[{"affiliated":true}],`+
			`"units":["BOT","BIO","INST","CHE"],"link":"https://a.example/","rendered":{"print":"A"}}`,
		`{"_id":"b","type":"publication","year":2020,"authors":[{"affiliated":true}],"units":"BIO"}`,
		`{"_id":"c","type":"publication","year":2020,"authors":[{"affiliated":true}],`+
			`"units":[null,7,{"a":1},"BOT"]}`)...)
	for _, tt := range []struct {
		departments []string
		want        string
	}{
		{nil, `["BOT","BIO","INST","CHE"] [] ["BOT"]`},
		{[]string{}, `[] [] []`},
		{[]string{"BIO", "CHE", "PHY"}, `["BIO","CHE"] [] []`},
	} {
		o := proxytest.Options(t)
		o.Departments = tt.departments
		var got []string
		body := string(proxytest.Open(t, store, o).Get("/api/html").Body)
		for row := range strings.SplitSeq(body, `{"id":`) {
			_, departments, ok := strings.Cut(row, `"departments":`)
			if departments, _, _ = strings.Cut(departments, `,"link":`); ok {
				got = append(got, departments)
			}
		}
		if shown := strings.Join(got, " "); shown != tt.want {
			t.Errorf("%q: got %s\nwant %s", tt.departments, shown, tt.want)
		}
		for _, row := range []string{
			`{"id":"a","html":"A","year":2020,"departments":%s,"link":"https://a.example/"}`,
			`{"id":"b","html":"","year":2020,"departments":%s,"link":null}`,
		} {
			departments := "[]"
			if strings.Contains(row, `"A"`) {
				departments = got[0]
			}
			if want := fmt.Sprintf(row, departments); !strings.Contains(body, want) {
				t.Errorf("%q: got %s\nwithout %s", tt.departments, body, want)
			}
		}
	}
}

package lists_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// withRoles serves records that name persons and units in other lists than that of the authors. All public ones name
// the person zfern and the unit ZYX.
func withRoles(t *testing.T) *proxytest.Site {
	t.Helper()
	const fern = `{"last":"Zfern","first":"Bo","aoi":true,"user":"zfern","units":["ZYX"]}`
	return withRecords(t, map[string][]string{
		"groups": {
			`{"id":"ZYX","name":"Zyx unit"}`, `{"id":"ZHID","name":"Zhidden unit","hide":true}`,
		},
		"persons": {
			`{"_id":"z1","username":"zfern","first":"Bo","last":"Zfern","orcid":"0000-0001-5109-3700"}`,
			`{"_id":"z2","username":"zhidden","first":"Hy","last":"Zhidden","hide":true,` +
				`"orcid":"0000-0002-1825-0097"}`,
		},
		"activities": {
			`{"_id":"edited","type":"publication","subtype":"chapter","title":"Qyx edited","year":1901,
				"book":"Handbook","authors":[{"last":"Zextern","first":"Eve","aoi":false}],"editors":[` + fern + `]}`,
			`{"_id":"supervised","type":"publication","subtype":"dissertation","title":"Qyx supervised","year":1902,
				"authors":[{"last":"Zstudent","first":"Sam"}],"supervisors":[` + fern + `],
				"rendered":{"web":"Zstudent, S. Qyx supervised. Supervised by Zfern, B."}}`,
			`{"_id":"alone","type":"teaching","subtype":"course","title":"Qyx alone","year":1903,
				"supervisors":` + fern + `}`,
			`{"_id":"twice","type":"publication","subtype":"book","title":"Qyx twice","year":1904,
				"authors":[` + fern + `],"editors":[` + fern + `],"persons":[` + fern + `]}`,
			`{"_id":"stored","type":"publication","subtype":"book","title":"Qyx stored","year":1905,"units":["ZYX"],
				"authors":[],"editors":[{"last":"Zfern","user":"zfern","units":["ZOTHER"]}]}`,
			`{"_id":"secret","type":"publication","subtype":"book","title":"Qyx secret","year":1906,
				"editors":[{"last":"Zhidden","first":"Hy","user":"zhidden","units":["ZHID","ZYX"]}],
				"supervisors":[` + fern + `]}`,
			`{"_id":"concealed","type":"publication","title":"Qyx concealed","hide":true,"supervisors":[` + fern +
				`]}`,
		},
		"projects": {
			`{"_id":"project","name":"ZPRO","title":"Qyx project","public":true,
				"persons":[{"user":"zfern","units":["ZYX"]}]}`,
			`{"_id":"contact","name":"ZCON","title":"Qyx contact","public":true,"contact":"zfern","units":["ZYX"],
				"scholar":"zhidden"}`,
		},
		"conferences": {
			`{"_id":"event","title":"Qyx event","start":"1907-01-01",
				"organizers":[` + fern + `],"participants":["zfern"]}`,
		},
	})
}

// TestRoles: records are in the lists of the persons and units of all their lists of persons, once each, and hidden
// persons and units have no list.
func TestRoles(t *testing.T) {
	s := withRoles(t)
	all := []string{"secret", "stored", "twice", "alone", "supervised", "edited"}
	for target, want := range map[string][]string{
		"/lists/person/zfern.json":                     all,
		"/lists/person/0000-0001-5109-3700.json":       all,
		"/lists/unit/ZYX.json":                         all,
		"/lists/activities.json?person=zfern&unit=ZYX": all,
		"/lists/activities.json?q=qyx+zfern":           all,
		"/lists/activities.json?q=qyx&not.unit=ZYX":    {},
		"/lists/activities.json?unit=ZOTHER":           {},
		"/lists/activities.json?person=zhidden":        {},
		"/lists/activities.json?unit=ZHID":             {},
		"/lists/activities.json?q=qyx&sort=author": {
			"edited", "stored", "twice", "alone", "secret", "supervised",
		},
		"/lists/projects.json?person=zfern&sort=title": {"contact", "project"},
		"/lists/projects.json?unit=ZYX&sort=title":     {"contact", "project"},
		"/lists/projects.json?person=zhidden":          {},
		"/lists/events.json?person=zfern":              {"event"},
		"/lists/events.json?unit=ZYX":                  {"event"},
	} {
		if got := idsOf(getList(s, target)); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", target, got, want)
		}
	}
	counts := func(facet []facetValue) (all []string) {
		for _, v := range facet {
			all = append(all, v.Value)
			if v.Count != 6 {
				t.Errorf("%s counts %d records", v.Value, v.Count)
			}
		}
		return all
	}
	list := getList(s, "/lists/activities.json?q=qyx&facets=unit,person&group=person")
	if units := counts(list.Facets["unit"]); !slices.Equal(units, []string{"ZYX"}) {
		t.Errorf("the facet of units has %q", units)
	}
	if persons := counts(list.Facets["person"]); !slices.Equal(persons, []string{"zfern"}) {
		t.Errorf("the facet of persons has %q", persons)
	}
	if len(list.Items) != 6 {
		t.Errorf("groups of persons have %d items", len(list.Items))
	}
	sitemap := string(s.Get("/sitemap.xml").Body)
	page := string(s.Get("/items/supervised", "Accept", "text/html").Body)
	for _, address := range []string{"/lists/person/zfern", "/lists/unit/ZYX"} {
		if !strings.Contains(sitemap, address+"<") || !strings.Contains(page, address+`"`) {
			t.Errorf("the sitemap or the page of an item lacks %s", address)
		}
	}
}

// TestRolesInFormats: formats name supervisors as far as they have a place for them, and the list of a supervisor
// marks the name.
func TestRolesInFormats(t *testing.T) {
	s := withRoles(t)
	read := csv.NewReader(strings.NewReader(string(s.Get("/lists/activities.csv?ids=secret").Body)))
	rows, err := read.ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for column, want := range map[string]string{
		"authors": "", "editors": "Zhidden, Hy", "supervisors": "Zfern, Bo", "units": "ZYX",
		"orcid": "0000-0001-5109-3700",
	} {
		if got := rows[1][slices.Index(rows[0], column)]; got != want {
			t.Errorf("%s are %q, want %q", column, got, want)
		}
	}
	for _, item := range getList(s, "/lists/person/zfern.json").Items {
		marked := strings.HasSuffix(item.HTML, `Supervised by <mark class="vl-mark">Zfern, B.</mark>`)
		if item.ID == "supervised" && !marked {
			t.Errorf("the citation is %s", item.HTML)
		}
	}
	const contributor = `"contributor":[{"@type":"Person","@id":"https://orcid.org/0000-0001-5109-3700",` +
		`"name":"Bo Zfern","givenName":"Bo","familyName":"Zfern","url":"https://data.example/lists/person/zfern"}]`
	if data := string(s.Get("/items/supervised.jsonld").Body); !strings.Contains(data, contributor) {
		t.Errorf("%s\nlacks %s", data, contributor)
	}
	for _, suffix := range []string{".bib", ".ris", ".csl.json"} {
		if data := string(s.Get("/items/supervised" + suffix).Body); strings.Contains(data, "Zfern") {
			t.Errorf("%s makes a supervisor an author: %s", suffix, data)
		}
	}
}

// TestRolesOnPage: the page of an item has the persons of each role with the links of authors, and folds many.
func TestRolesOnPage(t *testing.T) {
	s := withRoles(t)
	const fern = `<li><bdi><a href="https://data.example/lists/person/zfern">Zfern, Bo</a></bdi> <a class="vl-orcid"`
	const people, list = "<h2>People</h2>\n", `<ul class="vl-people">` + "\n"
	for target, want := range map[string]string{
		"edited": people + list + "<li><bdi>Zextern, Eve</bdi></li>\n</ul>\n<h3>Editors</h3>\n" + list + fern,
		"supervised?lang=de": "<h2>Personen</h2>\n" + list + "<li><bdi>Zstudent, Sam</bdi></li>\n</ul>\n" +
			"<h3>Betreuer</h3>\n" + list + fern,
		"alone": people + "<h3>Supervisors</h3>\n" + list + fern,
		"secret": people + "<h3>Editors</h3>\n" + list + "<li><bdi>Zhidden, Hy</bdi></li>\n</ul>\n" +
			"<h3>Supervisors</h3>\n" + list + fern,
		"project": people + list + fern,
	} {
		page := string(s.Get("/items/"+target, "Accept", "text/html").Body)
		if !strings.Contains(page, want) || strings.Count(page, "<h2>Pe") != 1 {
			t.Errorf("%s\nlacks %s", page, want)
		}
	}
	many := withRecords(t, map[string][]string{"activities": {
		`{"_id":"many","type":"publication","subtype":"book","title":"Many","year":1901,"editors":[` +
			strings.Repeat(`{"last":"Quill","first":"Ada"},`, 29) + `{"last":"Quill","first":"Ada"}]}`,
	}})
	page := string(many.Get("/items/many", "Accept", "text/html").Body)
	first, rest, _ := strings.Cut(page, "<details><summary>and 10 more people")
	if strings.Count(first, "<li><bdi>") != 20 || strings.Count(rest, "<li><bdi>") != 10 {
		t.Errorf("the page does not fold editors: %s", page)
	}
}

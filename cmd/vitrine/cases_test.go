package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
)

// storedWeb and storedPrint are citations as OSIRIS has stored them.
const (
	storedWeb   = "<a class='colorless' href='/activities/view/%s'>As <i>stored</i> (1999)</a>"
	storedPrint = "Printed as <b>stored</b> (1999) pp. 98-99"
)

// caseRecord makes a record of a case. With rendered it has the citations that OSIRIS has stored.
func caseRecord(t *testing.T, id, base, fields string, rendered bool) bson.D {
	t.Helper()
	var d, own bson.D
	for text, into := range map[string]*bson.D{base: &d, fields: &own} {
		doc, err := ejson.Parse([]byte("{"+text+"}"), ejson.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := bson.Unmarshal(doc, into); err != nil {
			t.Fatal(err)
		}
	}
	all := bson.D{{Key: "_id", Value: id}}
	for _, e := range d {
		replaced := false
		for _, o := range own {
			replaced = replaced || o.Key == e.Key
		}
		if !replaced {
			all = append(all, e)
		}
	}
	if all = append(all, own...); rendered {
		all = append(all, bson.E{Key: "rendered", Value: bson.D{
			{Key: "web", Value: fmt.Sprintf(storedWeb, id)}, {Key: "print", Value: storedPrint},
		}})
	}
	return all
}

// TestCases: records as they really are say the same, and what they mean, in every format, on every page and in every
// search, whether OSIRIS has stored a citation or not, with the preset osiris and without, and in zones east and west
// of UTC. Stored citations stay as they are.
func TestCases(t *testing.T) {
	for zone, name := range []string{"UTC", "Europe/Berlin", "America/New_York"} {
		for _, preset := range []string{"", "osiris"} {
			t.Run(strings.Trim(name+" "+preset, " "), func(t *testing.T) {
				t.Parallel()
				stored := map[string]string{}
				cases := make(map[string]recordCase)
				var all []bson.D
				add := func(id, base string, c recordCase) {
					for _, rendered := range []bool{false, true} {
						if rendered {
							id += "-stored"
							stored[id] = wordsOf(storedWeb)
						}
						cases[id] = c
						all = append(all, caseRecord(t, id, base, c.fields, rendered))
					}
				}
				if name == "Europe/Berlin" { // the others do not depend on the zone
					for i, c := range recordCases {
						add(fmt.Sprintf("case%03d", i), ordinary, c)
					}
				}
				for i, c := range datedCases {
					want := statement{"title": "Dated", "date": c.want[zone], "year": yearOf(c.want[zone]),
						"pages": ""}
					undated := `"type": "publication", "subtype": "article", "title": "Dated",
						"authors": [{"last": "Quill", "first": "Ada", "user": "aquill"}], "units": ["OWL"],
						"created": "2024-05-01"`
					add(fmt.Sprintf("dated%03d", i), undated, recordCase{fields: c.fields, want: want})
				}
				records := map[string][]bson.D{
					"activities": all, "projects": {projectOfCases}, "conferences": {eventOfCases},
				}
				a := newAgreeing(t, serveRecords(t, preset, name, records), "/lists/activities", all)
				a.stored = stored
				a.check()
				a.facets()
				for id, c := range cases {
					a.means(id, c)
				}
				a.keeps()
				for path, want := range periodCases {
					a.period(path, want[zone])
				}
			})
		}
	}
}

// means compares what a list says of a record with what it must say.
func (a *agreeing) means(id string, c recordCase) {
	it := a.items[id]
	want := statement{"title": "Ordinary title", "year": "2021", "authors": "Quill, Ada", "pages": "1-9", "doi": ""}
	maps.Copy(want, c.want)
	got := statement{
		"title": it.Title, "authors": strings.Join(it.persons, " / "), "pages": hyphens(it.Pages), "doi": it.DOI,
	}
	if it.Year != nil {
		got["year"] = fmt.Sprint(*it.Year)
	}
	if want["date"] != "" {
		got["date"] = it.Date
	}
	for member, value := range want {
		if got[member] != value {
			a.fault(id, "JSON", member, got[member], value)
		}
	}
	for suffix, parts := range c.has {
		if suffix == ".html" && a.stored[id] != "" {
			continue
		}
		body := a.get("/items/" + id + suffix)
		if suffix == ".html" { // a fragment of lists
			body = it.HTML
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				a.fault(id, suffix, "part", body, part)
			}
		}
	}
	for _, q := range c.finds {
		if items, _ := a.list("and.ids=" + id + "&q=" + url.QueryEscape(q)); items[id] == nil {
			a.fault(id, "?q="+q, "record", "not found", "")
		}
	}
}

// keeps checks that the API's citations are as OSIRIS has stored them.
func (a *agreeing) keeps() {
	a.t.Helper()
	status, body := fetch(a.t, http.MethodGet, a.base+"/api/activities?full=1")
	var answer struct {
		Data []struct {
			ID       string `json:"id"`
			OID      any    `json:"_id"`
			Rendered json.RawMessage
		}
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(body))).Decode(&answer); err != nil || status != http.StatusOK {
		a.t.Fatalf("%d %v in %.300s", status, err, body)
	}
	kept := 0
	for _, row := range answer.Data {
		id := fmt.Sprint(row.OID)
		if a.stored[id] == "" {
			continue
		}
		var rendered struct{ Web, Print string }
		parse(a.t, string(row.Rendered), &rendered)
		if web := fmt.Sprintf(storedWeb, id); rendered.Web != web || rendered.Print != storedPrint {
			a.t.Errorf("of %s the API has %q and %q", id, rendered.Web, rendered.Print)
		}
		kept++
	}
	if kept != len(a.stored) {
		a.t.Errorf("the API has %d of %d records with stored citations", kept, len(a.stored))
	}
}

// period checks the days of a project or an event, whose dates are moments, in all formats that have them, and the
// unit whose name has character references.
func (a *agreeing) period(path string, want [2]string) {
	a.t.Helper()
	var list struct {
		Items []struct {
			Date string
			Year int
		}
	}
	parse(a.t, a.get(path+".json?q=Light&year="+yearOf(want[0])), &list)
	if len(list.Items) != 1 || list.Items[0].Date != want[0] || fmt.Sprint(list.Items[0].Year) != yearOf(want[0]) {
		a.t.Errorf("%s.json of %s has %+v", path, want[0], list.Items)
	}
	for suffix, part := range map[string]string{
		".csv": "," + yearOf(want[0]) + "," + want[0] + "," + want[1] + ",", ".bib": "year = {" + yearOf(want[0]) +
			"}",
		".ris":    "PY  - " + yearOf(want[0]) + "\r\nDA  - " + strings.ReplaceAll(want[0], "-", "/") + "/",
		".jsonld": want[1],
	} {
		if body := a.get(path + suffix + "?q=Light"); !strings.Contains(body, part) {
			a.t.Errorf("%s%s lacks %q: %s", path, suffix, part, body)
		}
	}
	if page := a.get(path + "?facets=unit"); !strings.Contains(page, "Owls &amp; Light") {
		a.t.Errorf("%s lacks the unit's name: %s", path, page)
	}
}

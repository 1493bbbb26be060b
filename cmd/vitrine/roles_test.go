package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
)

// TestRolesServed: editors and supervisors count like authors in lists and in rendered.users, with and without the
// settings of an OSIRIS database, whether records have a rendered document and units of their own or not.
func TestRolesServed(t *testing.T) {
	t.Parallel()
	for preset, environ := range map[string][]string{
		"none":                 nil,
		"osiris":               {"VITRINE_PRESET=osiris"},
		"osiris, no portal":    {"VITRINE_PRESET=osiris", "VITRINE_LISTS_PORTAL=false"},
		"osiris, hidden field": {"VITRINE_PRESET=osiris", "VITRINE_ACCESS_HIDDEN_FIELDS=supervisors"},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			cfg, err := configs.Load(configs.Sources{Environ: environ})
			if err != nil {
				t.Fatal(err)
			}
			r := runConfigured(t, cfg, func(r *running) { r.fill(recordsOfRoles(t)) })
			r.checked()
			want := []string{"edited", "edited-stored", "supervised", "supervised-stored", "talk"}
			switch preset {
			case "osiris": // the person shows only publications
				want = want[:4]
			case "osiris, hidden field":
				want = want[:2]
			}
			if got := r.listed("/lists/person/bfern.json"); !slices.Equal(got, want) {
				t.Errorf("the list of the person has %q, want %q", got, want)
			}
			// Units of records and names in a citation are of other fields.
			want = []string{"edited", "edited-stored", "supervised", "supervised-stored", "talk"}
			if preset == "osiris, hidden field" {
				want = []string{"edited", "edited-stored", "supervised-stored"}
			}
			if got := r.listed("/lists/unit/MOTH.json"); !slices.Equal(got, want) {
				t.Errorf("the list of the unit has %q, want %q", got, want)
			}
			_, body := fetch(t, "GET", r.base+"/api/activities?full=1")
			for _, record := range decode(t, body).Data {
				want := "[bfern]"
				if title := record["title"]; preset == "osiris, hidden field" && (title == "C" || title == "E") {
					want = "[]"
				}
				rendered, _ := record["rendered"].(map[string]any)
				if users := fmt.Sprint(rendered["users"]); users != want {
					t.Errorf("rendered.users of %v are %s", record["title"], users)
				}
			}
		})
	}
}

// listed returns the sorted ids of the records in a list.
func (r *running) listed(path string) (ids []string) {
	r.t.Helper()
	_, body := fetch(r.t, "GET", r.base+path)
	var list struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		r.t.Fatal(err)
	}
	for _, item := range list.Items {
		ids = append(ids, item.ID)
	}
	slices.Sort(ids)
	return ids
}

func recordsOfRoles(t *testing.T) map[string][]bson.Raw {
	const (
		fern    = `[{"last":"Fern","first":"Bo","aoi":true,"user":"bfern","units":["MOTH"]}]`
		others  = `"authors":[{"last":"Extern","first":"Eve","aoi":false}]`
		stored  = `"units":["MOTH","INST"],"rendered":{"print":"P","users":["bfern"]}`
		subtype = `"portfolio":true,"parent":"publication"`
	)
	return map[string][]bson.Raw{
		"groups": proxytest.Parse(t, `{"_id":1,"id":"INST","name":"Institute"}`,
			`{"_id":2,"id":"MOTH","name":"Moths","parent":"INST"}`),
		"persons": proxytest.Parse(t, `{"_id":1,"username":"bfern","first":"Bo","last":"Fern","is_active":true,`+
			`"public_other_activities":false}`),
		"adminTypes": proxytest.Parse(t, `{"_id":1,"id":"chapter",`+subtype+`}`,
			`{"_id":2,"id":"dissertation",`+subtype+`}`, `{"_id":3,"id":"talk",`+subtype+`}`),
		"activities": proxytest.Parse(t,
			`{"_id":"edited","type":"publication","subtype":"chapter","title":"A",`+others+`,"editors":`+fern+`}`,
			`{"_id":"edited-stored","type":"publication","subtype":"chapter","title":"B",`+others+`,
				"editors":`+fern+`,`+stored+`}`,
			`{"_id":"supervised","type":"publication","subtype":"dissertation","title":"C",`+others+`,
				"supervisors":`+fern+`}`,
			`{"_id":"supervised-stored","type":"publication","subtype":"dissertation","title":"D",
				"supervisors":`+fern+`,`+stored+`}`,
			`{"_id":"talk","type":"lecture","subtype":"talk","title":"E",`+others+`,"supervisors":`+fern+`}`),
	}
}

package api_test

import (
	"net/http"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/label"
)

// TestActivityLabelsInAnotherLanguage requests German from every endpoint that names an activity's
// type: known labels are translated, citations are not, and neither are answers without the
// parameter.
func TestActivityLabelsInAnotherLanguage(t *testing.T) {
	row := func(text string) []byte { return []byte(text) }
	s := proxytest.NewStore()
	for _, text := range [][]byte{
		row(`{"_id":"a","type":"lecture","subtype":"talk","year":2024,"spectrum":[{"display_name":"Moths","score":0.5}],
			"rendered":{"web":"<b>A</b>","print":"A.","icon":"<i></i>","type":"Lectures","subtype":"Talk"}}`),
		row(`{"_id":"b","type":"novelty","year":2023,"rendered":{"web":"B","type":"Novelties"}}`),
	} {
		doc, err := ejson.Parse(text, ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Publish(rules.ViewActivities, doc)
	}
	o := proxytest.Options(t)
	o.Labels = label.Sets{
		label.ActivityType:    {"lecture": {EN: "Lectures", DE: "Vorträge"}},
		label.ActivitySubtype: {"lecture/talk": {EN: "Talk", DE: "Vortrag"}},
	}
	site := proxytest.Open(t, s, o)
	tests := []struct{ target, want string }{
		{"/api/activities?limit=1",
			`{"status":200,"count":2,"data":[{"id":"a","activity":"<b>A</b>","icon":"<i></i>","type":"Lectures",` +
				`"subtype":"Talk","year":2024}],"limit":1,"offset":0}`},
		{"/api/activities?limit=1&lang=de",
			`{"status":200,"count":2,"data":[{"id":"a","activity":"<b>A</b>","icon":"<i></i>","type":"Vorträge",` +
				`"subtype":"Vortrag","year":2024}],"limit":1,"offset":0}`},
		{"/api/activities?limit=1&lang=en",
			`{"status":200,"count":2,"data":[{"id":"a","activity":"<b>A</b>","icon":"<i></i>","type":"Lectures",` +
				`"subtype":"Talk","year":2024}],"limit":1,"offset":0}`},
		{"/api/activities?offset=1&limit=1&lang=de",
			`{"status":200,"count":2,"data":[{"id":"b","activity":"B","type":"Novelties","year":2023}],"limit":1,` +
				`"offset":1}`},
		{"/api/activities?columns=type,subtype&limit=1&lang=de",
			`{"status":200,"count":2,"data":[{"id":"a","type":"Vorträge","subtype":"Vortrag"}],"limit":1,"offset":0}`},
		{"/api/spectrum-activities?spectrum=Moths&lang=de",
			`{"status":200,"count":0,"data":[{"score":0.5,"icon":"<i></i>","activity":"<b>A</b>","type":"Vorträge",` +
				`"id":"a"}]}`},
	}
	for _, tt := range tests {
		if got := string(site.Get(tt.target).Body); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.target, got, tt.want)
		}
	}
	german := site.Get("/api/all-activities?lang=de&type=lecture").Envelope(t).Rows(t)[0]
	plain := site.Get("/api/all-activities?type=lecture").Envelope(t).Rows(t)[0]
	if german["type"] != "Vorträge" || german["subtype"] != "Vortrag" || plain["type"] != "Lectures" {
		t.Errorf("all-activities: German %v, plain %v", german, plain)
	}
	german["type"], german["subtype"] = plain["type"], plain["subtype"]
	if len(german) != len(plain) || german["activity"] != plain["activity"] || german["raw_type"] != "lecture" {
		t.Errorf("all-activities differs not only in labels: German %v, plain %v", german, plain)
	}
	if res := site.Get("/api/activities?lang=xx"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown language: %s", res.Body)
	}
}

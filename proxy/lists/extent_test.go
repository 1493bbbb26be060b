package lists_test

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/proxytest"
	"vitrine/rules/ejson"
)

// TestExtent: citations for the web have volume, issue and pages once, whatever their template.
func TestExtent(t *testing.T) {
	tests := []struct{ fields, web, want string }{
		{`"volume": 12, "issue": 3, "pages": "45-67"`, "Plugh <i>Lamps & Co</i> (2021)",
			"Plugh <i>Lamps & Co</i> 12(3), 45–67 (2021)"},
		{`"volume": 12, "pages": "e45"`, "Plugh <i>Lamps & Co</i> (2021)</small>",
			"Plugh <i>Lamps & Co</i> 12, e45 (2021)</small>"},
		{`"issue": "<3>"`, "Plugh <i>Lamps & Co</i>", "Plugh <i>Lamps & Co, (&lt;3&gt;)</i>"},
		{`"pages": "1-2"`, "<p>Plugh, Lamps &amp; Co.</p>", "<p>Plugh, Lamps &amp; Co., 1–2</p>"},
		{`"volume": 12, "issue": 3, "pages": "45-67"`, "Plugh. Lamps & Co 12 (3): 45-67", ""},
		{`"volume": 12, "issue": 3, "pages": "45-67"`, "Plugh. Lamps & Co, vol. 12 (2021)",
			"Plugh. Lamps & Co, vol. 12 45–67 (2021)"},
		{`"volume": 2021, "title": "Plugh 12"`, "Plugh 12, Lamps & Co (2021)", ""},
		{`"volume": 12, "title": "12 Plughs"`, "12 Plughs, Lamps & Co (2021)", "12 Plughs, Lamps & Co 12 (2021)"},
		{`"volume": 12, "title": "Plugh"`, "Nowak (2021) Plugh. Lamps & Co", "Nowak (2021) Plugh. Lamps & Co, 12"},
		{`"volume": 12`, `Plugh. <a title="(2021)">Lamps & Co</a>`, `Plugh. <a title="(2021)">Lamps & Co, 12</a>`},
		{`"volume": 12, "journal": ""`, "Plugh (2021)", ""},
	}
	var records []bson.D
	for i, tt := range tests {
		d := bson.M{"type": "publication", "subtype": "article", "title": "Plugh", "journal": "Lamps & Co",
			"year": 2021, "rendered": bson.M{"web": tt.web}}
		if err := json.Unmarshal([]byte("{"+tt.fields+"}"), &d); err != nil {
			t.Fatal(err)
		}
		d["_id"] = i
		var ordered bson.D
		for name, value := range d {
			ordered = append(ordered, bson.E{Key: name, Value: value})
		}
		records = append(records, ordered)
	}
	s := proxytest.OpenLists(t, withActivities(t, records...))
	for i, tt := range tests {
		if got := getList(s, "/lists/activities.json?ids="+strconv.Itoa(i)).Items[0].HTML; got !=
			cmp.Or(tt.want, tt.web) {
			t.Errorf("%s of %s: %s", tt.fields, tt.web, got)
		}
	}
}

// TestPeriods: lists and items of projects and events have their dates in the language of the answer.
func TestPeriods(t *testing.T) {
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		record := map[string]string{
			"projects": `{"_id":"p","name":"P","title":"Moths","public":true,"start_date":"2026-10-01",` +
				`"end_date":"2027-03-31"}`,
			"conferences": `{"_id":"c","title":"Owls","start":"2026-05-14","end":"2026-05-16"}`,
		}[collection]
		if record == "" {
			return docs
		}
		doc, err := ejson.Parse([]byte(record), ejson.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return []bson.Raw{doc}
	})
	for target, want := range map[string]string{
		"/lists/projects.html":         ">Moths</a>, 1 Oct 2026 – 31 Mar 2027",
		"/lists/projects.html?lang=de": ">Moths</a>, 1. Okt. 2026 – 31. März 2027",
		"/lists/events.html?lang=de":   ">Owls</a>, 14.–16. Mai 2026",
		"/items/p?lang=de":             "1. Okt. 2026 – 31. März 2027",
	} {
		if body := string(s.Get(target).Body); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q:\n%s", target, want, body)
		}
	}
}

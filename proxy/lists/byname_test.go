package lists_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// namedRecords have units, persons, projects and topics, some of which share a name.
var namedRecords = map[string][]string{
	"activities": {
		`{"_id":"one","type":"publication","title":"Xyzzy one","year":2021,"units":["R/D"],"projects":["DFG 123/4-1"],
			"authors":[{"last":"Łąka","first":"Zoë Ann","user":"zlaka"}],
			"catalog":{"topics":[{"id":"T1","name":"Dim Light"}]}}`,
		`{"_id":"two","type":"publication","title":"Xyzzy two","year":2022,
			"units":["TWIN1","TWIN2","web.bib","web","A-B","OWL"],
			"authors":[{"last":"Doe","first":"Jo","user":"jdoe"},{"last":"Doe","first":"Jo","user":"jdoe2"}]}`,
	},
	"persons": {
		`{"_id":"p1","username":"zlaka","first":"Zoë Ann","last":"Łąka","is_active":true}`,
		`{"_id":"p2","username":"jdoe","first":"Jo","last":"Doe","is_active":true}`,
		`{"_id":"p3","username":"jdoe2","first":"Jo","last":"Doe","is_active":true}`,
	},
	"projects": {`{"_id":"j1","name":"DFG 123/4-1","title":"Lamps <i>and</i> Moths","status":"approved",` +
		`"public":true}`},
	"groups": {
		`{"_id":"g1","id":"R/D","name":"Research & Development","name_de":"Forschung und Entwicklung"}`,
		`{"_id":"g2","id":"TWIN1","name":"Twins"}`, `{"_id":"g3","id":"TWIN2","name":"twins"}`,
		`{"_id":"g4","id":"EMPTY","name":"Without Records"}`, `{"_id":"g5","id":"web.bib","name":"Web Pages.bib"}`,
		`{"_id":"g6","id":"A-B","name":"Letters"}`, `{"_id":"g8","id":"web","name":"Web Team"}`,
		`{"_id":"g7","id":"OWL","name":"A B"}`,
	},
}

// TestListsByName: the path with the name of a subject in place of its id, or with the id in another case, leads to
// the list of the id, in the same format and with the same parameters, unless several have the name or no public
// record is about the subject.
func TestListsByName(t *testing.T) { inBoth(t, testListsByName) }

func testListsByName(t *testing.T) {
	s := withRecords(t, namedRecords)
	for target, want := range map[string]string{ // a kind, a name, and what follows it
		"unit|Moths & Evening Flowers|":                "/lists/unit/MOTH",
		"unit|nachtfalter & abendbluten|.bib?year=2..": "/lists/unit/MOTH.bib?year=2..",
		"unit|moth|.csl.json":                          "/lists/unit/MOTH.csl.json",
		"unit|a b|.json":                               "/lists/unit/A-B.json", // and not OWL, whose name it is
		"unit|Research & Development|/?deep=1":         "/lists/unit/R%2FD?deep=1",
		"unit|FORSCHUNG und Entwicklung|.html?h=3":     "/lists/unit/R%2FD.html?h=3",
		"unit|Web Pages.bib|":                          "/lists/unit/web.bib",
		"unit|Web Pages.bib|.ris":                      "/lists/unit/web.bib.ris",
		"unit|Web Team|.ris":                           "/lists/unit/web.ris",
		"unit|Web Team|.bib":                           "/lists/unit/web", // and not the list of web.bib
		"person|Łąka, Zoë Ann|":                        "/lists/person/zlaka",
		"person|zoe ann laka|.json?lang=de":            "/lists/person/zlaka.json?lang=de",
		"person|ZLaka|.csv":                            "/lists/person/zlaka.csv",
		"project|lamps and moths|.atom":                "/lists/project/DFG%20123%2F4-1.atom",
		"project|dfg 123/4-1|":                         "/lists/project/DFG%20123%2F4-1",
		"topic|dim light|.bib":                         "/lists/topic/T1.bib",

		"unit|Twins|":            "Several have the name Twins: TWIN1, TWIN2.",
		"unit|twins|.bib":        "Several have the name twins: TWIN1, TWIN2.",
		"person|Jo Doe|":         "Several have the name Jo%20Doe: jdoe, jdoe2.",
		"unit|Without Records|":  "No public record knows Without%20Records.",
		"unit|EMPTY|":            "No public record knows EMPTY.",
		"unit|???|":              "No public record knows %3F%3F%3F.",
		"unit|Lamps and Moths|":  "No public record knows Lamps%20and%20Moths.",
		"unit|MTOH|.json?year=1": "No public record knows MTOH, did you mean MOTH?",
		"unit|Reserch & Developement|.bib": "No public record knows Reserch%20&%20Developement, " +
			"did you mean Research & Development?",
		"person|Zoe Laka|": "No public record knows Zoe%20Laka.",
	} {
		parts := strings.Split(target, "|")
		sent := "/lists/" + parts[0] + "/" + url.PathEscape(parts[1]) + parts[2]
		for range 2 {
			res := s.Get(sent)
			if !strings.HasPrefix(want, "/") {
				if msg := res.Envelope(t).Msg; res.StatusCode != http.StatusNotFound || msg != want {
					t.Errorf("%s: %s %q, want %q", target, res.Status, msg, want)
				}
				continue
			}
			got := res.Header.Get("Location")
			if res.StatusCode != http.StatusFound || got != "https://data.example"+want {
				t.Errorf("%s: %s to %s, want %s", target, res.Status, got, want)
				continue
			}
			control := res.Header.Get("Cache-Control")
			if control != "no-store" || len(res.Body) > 0 || res.Header.Get("ETag") != "" {
				t.Errorf("%s: the redirect has Cache-Control %q and %d bytes", target, control, len(res.Body))
			}
		}
		if strings.HasPrefix(want, "/") {
			if res := s.Get(want); res.StatusCode != http.StatusOK {
				t.Errorf("%s leads to %s: %s", target, want, res.Status)
			}
		}
	}
	res := s.Get("/lists/unit/Twins", "Accept", "text/html")
	if res.StatusCode != http.StatusNotFound || !strings.Contains(string(res.Body), "<html") {
		t.Errorf("a browser gets %s %.200s", res.Status, res.Body)
	}
}

package lists_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"
)

// openCommas serves the demo with values whose labels have commas, and with others that are a part of such a label.
func openCommas(t *testing.T) *proxytest.Site {
	t.Helper()
	return withRecords(t, map[string][]string{
		"groups": {
			`{"_id":"u1","id":"A, B","name":"Zyx Night, Sound, and Light"}`,
			`{"_id":"u2","id":"ZNS","name":"Zyx Night, Sound"}`, `{"_id":"u3","id":"Sound","name":"Zyx Sounds"}`,
		},
		"persons": {
			`{"_id":"p1","username":"jm","first":"Jörg","last":"Zyxmüller, Jr.","is_active":true}`,
			`{"_id":"p2","username":"am","first":"Anna","last":"Zyxmüller","is_active":true}`,
			`{"_id":"p3","username":"az","first":"Anna Z.","last":"Zyx","is_active":true}`,
		},
		"projects": {
			`{"_id":"r1","name":"ZGH","title":"Global Zyx, Politics, and Ideology: Infrastructure","public":true}`,
			`{"_id":"r2","name":"Politics","title":"Zyx politics","public":true}`,
		},
		"activities": {
			`{"_id":"c1","type":"poster","title":"Zyx one","year":1931,"units":["A, B"],"projects":["ZGH"],
				"keywords":["zyx, Bubo & co","Zyx C++, C#, and Java","zyxin","Zyxlit, Nyx"],
				"authors":[{"first":"Jörg","last":"Zyxmüller, Jr.","user":"jm"}],
				"catalog":{"topics":[{"id":"Z1","name":"Zyxation, perception, and language"}]}}`,
			`{"_id":"c2","type":"poster","title":"Zyx two","year":1932,"units":["ZNS"],"projects":["Politics"],
				"keywords":["Zyx, bubo & Co","zyxin vitro","Zyxlit Nyx"],
				"authors":[{"first":"Anna","last":"Zyxmüller","user":"am"}],
				"catalog":{"topics":[{"id":"Z2","name":"Perception"}]}}`,
			`{"_id":"c3","type":"poster","title":"Zyx three","year":1933,"units":["Sound"],"keywords":["Bubo & co"],
				"authors":[{"first":"Anna Z.","last":"Zyx","user":"az"}]}`,
		},
	})
}

// TestLabelsWithCommas: texts that are a label together stand for its value, if one of them is unknown alone, in any
// order, because values are sorted. Labels of more texts win, and other values stay.
func TestLabelsWithCommas(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openCommas(t)
		for _, c := range []struct{ by, want string }{
			{"topic=Zyxation, perception, and language", "topic=Z1"},
			{"topic=Zyxation, perception, and language, Z2", "topic=Z1,Z2"},
			{"topic=Perception", "topic=Z2"},
			{`topic=Zyxation\, perception, and language`, "topic=Z1"},
			{"project=Global Zyx, Politics, and Ideology: Infrastructure", "project=ZGH"},
			{"project=politics", "project=Politics"},
			{"unit=Zyx Night, Sound, and Light", `unit=A%5C, B`},
			{"unit=Zyx Night, Sound", "unit=ZNS"},
			{"unit=a, b", `unit=A%5C, B`},
			{"unit=Sound, ZNS", "unit=Sound,ZNS"},
			{"not.unit=Zyx Night, Sound&q=zyx", "q=zyx&not.unit=ZNS"},
			{"person=Zyxmüller, Jr., Jörg", "person=jm"},
			{"person=Zyxmüller, Jörg, Jr.", "person=jm"},
			{"person=Zyxmüller, Anna", "person=am"},
			{"person=Zyxmüller, Anna, Zyxmüller, Jr., Jörg", "person=am,jm"},
			{"keyword=zyx, Bubo %26 co", "keyword=zyx bubo co"},
			{"keyword=zyxlit, nyx", "keyword=zyxlit nyx"},
			{"keyword=Zyx C%2B%2B, C%23, and Java", "keyword=zyx c c and java"},
			{"keyword=zyxin, vitro", "keyword=vitro,zyxin"}, // no comma, and zyxin may be meant by itself
		} {
			l := getList(s, "/lists/activities.json?"+escapeSpaces(c.by))
			if want := escapeSpaces(c.want); !strings.HasSuffix(l.Self, ".json?"+want) || l.Count == 0 {
				t.Errorf("%s: %d records at %s, want %s", c.by, l.Count, l.Self, want)
			}
			by := s.Get("/lists/activities.json?" + escapeSpaces(c.by))
			want := s.Get("/lists/activities.json?" + escapeSpaces(c.want))
			if by.Header.Get("Vitrine-Ignored") != want.Header.Get("Vitrine-Ignored") {
				t.Errorf("%s ignores %s", c.by, by.Header.Get("Vitrine-Ignored"))
			}
		}
	})
}

// TestFacetLabelsSelect: for each value of each facet, its label selects at least what the value selects, with and
// without escapes, and no value is unknown.
func TestFacetLabelsSelect(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openCommas(t)
		for _, where := range []string{"q=zyx", ""} {
			page := getList(s, "/lists/activities.json?limit=1&"+where+"&facets="+strings.Join(params.Filters(), ","))
			for name, values := range page.Facets {
				for _, v := range values {
					for _, label := range []string{v.Label, escapeComma(v.Label)} {
						target := "/lists/activities.json?" + where + "&" + name + "=" + url.QueryEscape(label)
						res := s.Get(target)
						if res.StatusCode != http.StatusOK || res.Header.Get("Vitrine-Ignored") != "" {
							t.Errorf("%s: %s, ignored %s", target, res.Status, res.Header.Get("Vitrine-Ignored"))
						} else if got := getList(s, target); got.Count < v.Count {
							t.Errorf("%s: %d records, want %d", target, got.Count, v.Count)
						}
					}
				}
			}
		}
	})
}

// TestManyTexts: labels are also found among many texts.
func TestManyTexts(t *testing.T) {
	s := openCommas(t)
	var texts []string
	for i := range 60 {
		texts = append(texts, "z"+strings.Repeat("y", i))
	}
	res := s.Get("/lists/activities.json?unit=Zyx+Night,Sound," + strings.Join(texts, ","))
	if got := res.Header.Get("Vitrine-Ignored"); strings.Contains(got, "Night") || !strings.Contains(got, "unit=z ") {
		t.Errorf("%s: ignored %s", res.Status, got)
	}
}

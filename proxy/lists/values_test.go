package lists_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"
	"vitrine/rules/label"
)

// typeLabels are labels of the demo's types. Two subtypes share one.
var typeLabels = label.Sets{
	label.ActivityType: {
		"publication": {EN: "Publications", DE: "Publikationen"}, "lecture": {EN: "Lectures", DE: "Vorträge"},
		"poster": {EN: "Posters", DE: "Poster"}, "nix": {EN: "Nothing has this type", DE: "Nichts"},
	},
	label.ActivitySubtype: {
		"publication/article": {EN: "Journal article", DE: "Zeitschriftenartikel"},
		"publication/book":    {EN: "Work", DE: "Werk"}, "publication/chapter": {EN: "Work", DE: "Buchkapitel"},
	},
}

// openLabelled serves the demo with labels, a unit and a person whose names have commas, two persons of one name, and
// named lists that say by labels what they select.
func openLabelled(t *testing.T) *proxytest.Site {
	t.Helper()
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		return append(docs, proxytest.Parse(t, map[string][]string{
			"groups": {
				`{"_id":"u1","id":"L-S","name":"Light, Sound","name_de":"Licht, Ton","parent":"ECO"}`,
				`{"_id":"u2","id":"lectures","name":"Nowhere"}`,
				`{"_id":"u3","id":"OWL","name":"L S"}`,
			},
			"persons": {
				`{"_id":"p1","username":"amoe","first":"Anna","last":"Moe","orcid":"0000-0002-1825-0097",
					"is_active":true}`,
				`{"_id":"p2","username":"amoe2","first":"Anna","last":"Möe","is_active":true}`,
				`{"_id":"p3","username":"hidden","first":"Hugo","last":"Hidden","hide":true}`,
			},
			"activities": {
				`{"_id":"v1","type":"publication","subtype":"book","title":"One","year":2024,"units":["L-S"],
					"keywords":["Owls of Prey"],
					"authors":[{"first":"Anna","last":"Moe","user":"amoe"}]}`,
				`{"_id":"v2","type":"lecture","subtype":"lecture","title":"Two","year":2024,"units":["OWL"],
					"authors":[{"first":"Anna","last":"Möe","user":"amoe2"}]}`,
				`{"_id":"v4","type":"publication","subtype":"book","title":"Four","open_access":true}`,
				`{"_id":"v3","type":"publication","subtype":"chapter","title":"Three","year":2023,
					"units":["MOTH","Secret"],"hide":true,
					"authors":[{"first":"Hugo","last":"Hidden","user":"hidden"}]}`,
			},
		}[collection]...)...)
	})
	o := proxytest.ListOptions(t)
	o.Labels = typeLabels
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{
		"talks": {View: "activities", Select: "type=Vorträge&unit=Licht%5C%2C+Ton,owl&not.person=nix"},
		"works": {View: "activities", Select: "subtype=work", Facets: []string{params.Subtype}},
		"none":  {View: "activities", Select: "unit=NOPE"},
	})
	return proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
}

// someFormats returns all formats for the first of several cases, and two for each other.
func someFormats(i int) []string {
	all := []string{".json", ".html", "", ".bib", ".ris", ".csl.json", ".csv", ".jsonld", ".atom", ".rss",
		".feed.json"}
	if i == 0 {
		return all
	}
	return []string{all[0], all[1+i%10]}
}

// inBoth runs a test with views in memory and with views in the store.
func inBoth(t *testing.T, test func(*testing.T)) {
	t.Run("memory", test)
	proxytest.InStore(t, map[string]func(*testing.T){"store": test})
}

// TestValuesByLabel: a list asked for by labels is the one asked for by values, in every format, and its addresses
// have the values.
func TestValuesByLabel(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		for i, c := range []struct{ by, want string }{
			{"type=Lectures", "type=lecture"},
			{"type=VORTRÄGE&lang=en", "type=lecture"},
			{"type=vortrage,Posters", "type=lecture,poster"},
			{"type=Lecture", "type=lecture"},
			{"not.type=Publications", "not.type=publication"},
			{"and.type=Vortr%C3%A4ge&year=2020..", "year=2020..&and.type=lecture"},
			{"and.not.type=Lectures", "and.not.type=lecture"},
			{"subtype=Work", "subtype=book,chapter"},
			{"subtype=werk", "subtype=book"},
			{"subtype=zeitschriftenartikel", "subtype=article"},
			{"unit=Moths %26 Evening Flowers", "unit=MOTH"},
			{"unit=nachtfalter %26 abendbluten&deep=1", "unit=MOTH&deep=1"},
			{"unit=Night Ecology&deep=1", "unit=ECO&deep=1"},
			{"unit=moth", "unit=MOTH"},
			{`unit=Light\, Sound`, "unit=L-S"},
			{"unit=Licht, Ton", "unit=L-S"},
			{"unit=Ton,licht,MOTH", "unit=L-S,MOTH"},
			{"unit=L S", "unit=L-S"}, // and not OWL, whose name it is
			{`person=Moe\, Anna`, "person=amoe,amoe2"},
			{"person=Möe, Anna", "person=amoe,amoe2"},
			{"person=anna moe", "person=amoe,amoe2"},
			{"person=https://orcid.org/0000-0002-1825-0097", "person=0000-0002-1825-0097"},
			{"not.person=Anna Moe&year=2024", "year=2024&not.person=amoe,amoe2"},
			{"keyword=OWLS of Prey", "keyword=owls of prey"},
			{"oa=open access&and.oa=1", "oa=1"},
			{"not.oa=Kein Open Access", "not.oa=0"},
			{"year=ohne jahr,2024", "year=2024,missing"},
		} {
			by, want := escapeSpaces(c.by), escapeSpaces(c.want)
			for _, f := range someFormats(i) {
				a := s.Get("/lists/activities"+f+"?"+by, "Accept", "text/html")
				b := s.Get("/lists/activities"+f+"?"+want, "Accept", "text/html")
				if a.StatusCode != http.StatusOK || string(a.Body) != string(b.Body) ||
					a.Header.Get("Link") != b.Header.Get("Link") || a.Header.Get("Vitrine-Ignored") != "" {
					t.Errorf("%s?%s is not %s: %s, ignored %q", f, by, want, a.Status,
						a.Header.Get("Vitrine-Ignored"))
				}
			}
			l := getList(s, "/lists/activities.json?"+by)
			if !strings.HasSuffix(l.Self, ".json?"+want) || l.Count == 0 {
				t.Errorf("%s: %d records at %s, want %s", by, l.Count, l.Self, want)
			}
		}
	})
}

// escapeSpaces writes a query as a request has it.
func escapeSpaces(query string) string { return strings.ReplaceAll(query, " ", "+") }

// TestValuesInConfiguration: named lists may say by labels what they select. What no record has is no client's
// mistake.
func TestValuesInConfiguration(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		if got := idsOf(getList(s, "/lists/talks.json")); !slices.Equal(got, []string{"v2"}) {
			t.Errorf("talks: %v", got)
		}
		works, want := getList(s, "/lists/works.json"), getList(s, "/lists/activities.json?subtype=book,chapter")
		if works.Count == 0 || works.Count != want.Count {
			t.Errorf("%d works, want %d", works.Count, want.Count)
		}
		res := s.Get("/lists/none.json", "Prefer", "handling=strict")
		ignored := res.Header.Get("Vitrine-Ignored")
		if res.StatusCode != http.StatusOK || ignored != "" || getList(s, "/lists/none.json").Count != 0 {
			t.Errorf("none: %s, ignored %q", res.Status, ignored)
		}
	})
}

// TestUnknownValues: an answer names the values that no public record has, with the nearest that one has; the other
// values select. In strict handling they are 400.
func TestUnknownValues(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		for i, c := range []struct{ query, ignored, same string }{
			{"unit=MOHT", "unit=MOHT (no record has it; did you mean MOTH?)", "unit=MOHT"},
			{"unit=MOHT,MOTH", "unit=MOHT (no record has it; did you mean MOTH?)", "unit=MOTH"},
			{"not.unit=Quuxquux", "not.unit=Quuxquux (no record has it)", ""},
			{"and.unit=Quuxquux", "and.unit=Quuxquux (no record has it)", "and.unit=Quuxquux"},
			{"unit=Secret", "unit=Secret (no record has it)", "unit=Secret"},
			{"person=hidden", "person=hidden (no record has it)", "person=hidden"},
			{"person=Hugo Hidden", "person=Hugo+Hidden (no record has it)", "person=Hugo Hidden"},
			{
				"type=nix&subtype=boook",
				"type=nix (no record has it), subtype=boook (no record has it; did you mean book?)", "type=nix",
			},
			{"type=Lecturs", "type=Lecturs (no record has it; did you mean lecture?)", "type=nix"},
			{"topic=T1", "topic=T1 (no record has it)", "topic=T1"},
			{"keyword=zzzzzz", "keyword=zzzzzz (no record has it)", "keyword=zzzzzz"},
			{"type=lecture&year=1901", "", "type=lecture&year=1901"},
			{"unit=ECO", "", "unit=ECO"},
			{"exclude=nix&ids=nix&oa=1&year=1700", "", "year=1700"},
		} {
			query, same := escapeSpaces(c.query), escapeSpaces(c.same)
			for _, f := range someFormats(i) {
				target, want := "/lists/activities"+f+"?"+query, c.ignored
				if f != ".json" && f != ".html" && f != "" { // without choices of readers, the frame has their values
					want = strings.TrimPrefix(want, "and.")
				}
				for range 2 { // made, then kept
					res := s.Get(target, "Accept", "text/html")
					if got := res.Header.Get("Vitrine-Ignored"); res.StatusCode != http.StatusOK || got != want {
						t.Errorf("%s: %s, ignored %q, want %q", target, res.Status, got, want)
					}
				}
				strict, status := s.Get(target, "Prefer", "handling=strict"), http.StatusOK
				if want != "" {
					status = http.StatusBadRequest
				}
				if strict.StatusCode != status || want != "" && !strings.Contains(strict.Envelope(t).Msg, want) {
					t.Errorf("%s: strict: %s %.300s", target, strict.Status, strict.Body)
				}
			}
			got := getList(s, "/lists/activities.json?"+query).Count
			if want := getList(s, "/lists/activities.json?"+same).Count; got != want {
				t.Errorf("%s has %d records, want the %d of %s", c.query, got, want, c.same)
			}
		}
	})
}

// TestUnknownValuesOnPages: pages and fragments say in their language what no record has.
func TestUnknownValuesOnPages(t *testing.T) {
	s := openLabelled(t)
	for target, want := range map[string]string{
		"?unit=MOHT":                    "unit=MOHT: no record has it; did you mean MOTH?",
		".html?unit=MOHT&lang=de":       "unit=MOHT: kein Eintrag hat das; ist MOTH gemeint?",
		".html?unit=%3Cb%3Exxxxxxxxxxx": "unit=&lt;b&gt;xxxxxxxxxxx: no record has it.",
		"?not.type=Lecturs":             "not.type=Lecturs: no record has it; did you mean lecture?",
	} {
		res := s.Get("/lists/activities"+target, "Accept", "text/html")
		if !strings.Contains(string(res.Body), ">"+want+"</p>") {
			t.Errorf("%s does not say %s", target, want)
		}
	}
	many := "?type=" + strings.Repeat("x", 100)
	for i := range 20 {
		many += ",zzzzzzz" + strings.Repeat("z", i)
	}
	res := s.Get("/lists/activities"+many, "Accept", "text/html")
	body := string(res.Body)
	if n := strings.Count(body, `class="vl-note"`); n != 9 || !strings.Contains(body, "and 13 more") {
		t.Errorf("21 unknown values have %d notes", n)
	}
	if got := res.Header.Get("Vitrine-Ignored"); !strings.HasSuffix(got, "and 13 more") {
		t.Errorf("ignored %s", got)
	}
	if strings.Contains(string(s.Get("/lists/activities?unit=MOTH", "Accept", "text/html").Body), "vl-note") {
		t.Error("a page without unknown values has a note")
	}
}

// TestValuesOfFacets: for each value that a facet shows, its label selects what the value selects, in both languages.
func TestValuesOfFacets(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		names := []string{
			params.Type, params.Subtype, params.Unit, params.Person, params.Project, params.Topic, params.Keyword,
			params.Year, params.OA,
		}
		shared := []string{"Work", "Moe, Anna", "Möe, Anna", "L S"}
		for _, lang := range label.Languages() {
			page := getList(s, "/lists/activities.json?limit=1&lang="+lang+"&facets="+strings.Join(names, ","))
			for _, name := range names {
				values := page.Facets[name]
				if len(values) == 0 {
					t.Errorf("%s has no values", name)
				}
				for _, v := range values[:min(len(values), 12)] {
					if slices.Contains(shared, v.Label) {
						continue // TestValuesByLabel has these
					}
					by := getList(s, "/lists/activities.json?"+name+"="+url.QueryEscape(escapeComma(v.Label)))
					want := "?" + params.Query{}.With(name, v.Value).String()
					if by.Count != v.Count || !strings.HasSuffix(by.Self, want) {
						t.Errorf("%s %s: %d records at %s, want %d at %s",
							name, v.Label, by.Count, by.Self, v.Count, want)
					}
				}
			}
		}
	})
}

// escapeComma writes a label in one value.
func escapeComma(s string) string { return strings.NewReplacer(",", `\,`, "..", `\.\.`).Replace(s) }

// TestValuesOfGenerations: labels are those of the rows that a list is made of.
func TestValuesOfGenerations(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		const target = "/lists/activities.json?keyword=moonlight"
		if got := s.Get(target).Header.Get("Vitrine-Ignored"); got != "keyword=moonlight (no record has it)" {
			t.Errorf("ignored %q", got)
		}
		record := proxytest.Parse(t, `{"_id":"v9","type":"poster","keywords":["Moonlight"]}`)
		s.Store.PublishMarked(t, "activities", record...)
		s.Await("activities")
		if got := s.Get(target).Header.Get("Vitrine-Ignored"); got != "" {
			t.Errorf("ignored %q after a record has it", got)
		}
		if got := getList(s, "/lists/activities.json?type=Posters,nix&keyword=MOONLIGHT"); got.Count != 1 {
			t.Errorf("%d records after a record has it", got.Count)
		}
	})
}

// TestValuesExplained: the explanation of an answer has the values that it compares, and the unknown ones.
func TestValuesExplained(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		s := openLabelled(t)
		for target, want := range map[string][]string{
			`/lists/activities.json?unit=licht\, ton`: {`"in_answer":true`, `L-S`},
			"/lists/activities.json?unit=MOHT": {`"in_answer":false`,
				`unit=MOHT (no record has it; did you mean MOTH?)`},
		} {
			asked := url.QueryEscape(strings.ReplaceAll(target, " ", "+"))
			res := s.Admin(http.MethodGet, "/admin/explain?id=v1&url="+asked)
			for _, part := range want {
				if res.StatusCode != http.StatusOK || !strings.Contains(string(res.Body), part) {
					t.Errorf("%s: %s without %s: %s", target, res.Status, part, res.Body)
				}
			}
		}
	})
}

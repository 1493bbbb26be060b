package lists_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/view"
	"vitrine/proxy/proxytest"
)

// plughs begins a publication of the first person of staff.
const plughs = `{"type":"publication","title":"Plughs","authors":[{"user":"open"}],`

// staff are persons of a unit of their own and of one below it: one who releases everything, one who releases
// nothing, one who has left, one who is hidden, and one whose values are hostile.
var staff = map[string][]string{
	"groups": {`{"id":"TOP","name":"Tops","name_de":"Gipfel"}`, `{"id":"LOW","name":"Lows","parent":"TOP"}`},
	"persons": {
		`{"_id":"p1","username":"open","first":"Ada","last":"Open","displayname":"Ada Open","academic_title":"Dr.",` +
			`"position":"Plughkeeper","position_de":"Plughleitung","orcid":"0000-0002-1825-0097",` +
			`"mail":"ada@top.example","public_email":true,"telephone":"+49 5555 10-1","public_phone":true,` +
			`"room":"B 1","public_room":true,"photo":"https://top.example/ada.jpg?a=1&b=2","public_image":true,` +
			`"webpage":"https://top.example/ada","socials":{"github":"ada"},"units":[{"unit":"TOP"}]}`,
		`{"_id":"p2","username":"shut","first":"Bo","last":"Shut","displayname":"Bo Shut","mail":"bo@top.example",` +
			`"telephone":"+49 5555 10-2","room":"Attic","photo":"https://top.example/bo.jpg","public_email":false,` +
			`"position":"Plughguide","units":[{"unit":"LOW"}]}`,
		`{"_id":"p3","username":"past","first":"Cy","last":"Past","is_active":false,"units":[{"unit":"TOP"}]}`,
		`{"_id":"p4","username":"hid","first":"Di","last":"Hid","hide":true,"units":[{"unit":"TOP"}]}`,
		`{"_id":"p5","username":"evil","first":"Eve","last":"<script>alert(1)</script>Evil","displayname":"Eve",` +
			`"position":"<img src=x onerror=alert(1)>\"guide\"","photo":"javascript:alert(1)","public_image":true,` +
			`"mail":"a@b.example\"><script>alert(1)</script>","public_email":true,` +
			`"telephone":{"a":[1]},"public_phone":true,"room":["<b>1</b>"],"public_room":true,` +
			`"webpage":"javascript:alert(1)","socials":{"github":"x\" onclick=\"y"},` +
			`"academic_title":"=HYPERLINK(1)","units":[{"unit":"LOW"}]}`,
	},
	"activities": {
		plughs + `"_id":"a1","year":2018,"open_access":true}`,
		plughs + `"_id":"a2","year":2021,"open_access":false}`,
		plughs + `"_id":"a3","year":2021,"open_access":true}`,
		plughs + `"_id":"a4","year":1500}`,
	},
}

// personItem is a person in JSON.
type personItem struct {
	ID, Title, Photo, Position string
	AcademicTitle              string `json:"academic_title"`
	Contact                    struct{ Mail, Phone, Room string }
	Profiles                   []struct{ Name, URL string }
	Units                      []struct{ ID, Name string }
	Links                      map[string]string
}

func personsAt(s *proxytest.Site, target string) (all []personItem) {
	s.T.Helper()
	var l struct{ Items []personItem }
	if res := s.Get(target); res.StatusCode != http.StatusOK || json.Unmarshal(res.Body, &l) != nil {
		s.T.Fatalf("%s: %s %s", target, res.Status, res.Body)
	}
	return l.Items
}

// TestPersons runs the tests of lists of persons on views in memory and in the store.
func TestPersons(t *testing.T) {
	for name, mode := range map[string]view.Mode{"memory": view.Memory, "store": view.Store} {
		t.Run(name, func(t *testing.T) {
			proxytest.ViewsAre = mode
			defer func() { proxytest.ViewsAre = view.Memory }()
			s := withRecords(t, staff)
			t.Run("selected", func(t *testing.T) { personsSelected(t, s) })
			t.Run("shown", func(t *testing.T) { personsShown(t, s) })
			t.Run("page", func(t *testing.T) { personsPage(t, s) })
		})
	}
}

// personsSelected: a list of persons has those of a unit, with deep those of the units below, in the order of their
// names, and no one who has left or is hidden.
func personsSelected(t *testing.T, s *proxytest.Site) {
	s.T = t
	for query, want := range map[string][]string{
		"unit=TOP":                         {"p1"},
		"unit=Gipfel":                      {"p1"},
		"unit=TOP&deep=1":                  {"p5", "p1", "p2"},
		"unit=TOP&deep=1&sort=-author":     {"p2", "p1", "p5"},
		"unit=TOP&deep=1&not.unit=LOW":     {"p1"},
		"q=plughkeeper":                    {"p1"},
		"q=plughleitung":                   {"p1"},
		"q=ada open":                       {"p1"},
		"q=0000-0002-1825-0097":            {"p1"},
		"ids=p2,p1,p3,p4":                  {"p2", "p1"},
		"unit=TOP&deep=1&limit=1&page=2":   {"p1"},
		"unit=TOP&deep=1&and.q=plughguide": {"p2"},
		"unit=TOP&deep=1&group=unit":       {"p5", "p2", "p1"},
	} {
		var got []string
		for _, p := range personsAt(s, "/lists/persons.json?"+strings.ReplaceAll(query, " ", "%20")) {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", query, got, want)
		}
	}
	if got := getList(s, "/lists/persons.json?unit=TOP&deep=1&facets=unit").Facets["unit"]; len(got) != 2 {
		t.Errorf("the facet of units is %v", got)
	}
	if got := getList(s, "/lists/unit/TOP.json").Links["people"]; got != "https://data.example/lists/persons?unit=TOP" {
		t.Errorf("the people of TOP are at %s", got)
	}
	page := string(s.Get("/lists/unit/TOP?lang=de&deep=1", "Accept", "text/html").Body)
	want := `<a href="https://data.example/lists/persons?unit=TOP&amp;deep=1&amp;lang=de">Personen</a>`
	if !strings.Contains(page, want) {
		t.Errorf("the page of the unit lacks %s", want)
	}
}

// personsShown: each face has what a person's record releases, and nothing else.
func personsShown(t *testing.T, s *proxytest.Site) {
	s.T = t
	all := personsAt(s, "/lists/persons.json?ids=p1,p2")
	one, other := all[0], all[1]
	text, _ := json.Marshal(one)
	if want := `{"ID":"p1","Title":"Ada Open","Photo":"https://top.example/ada.jpg?a=1\u0026b=2",` +
		`"Position":"Plughkeeper","academic_title":"Dr.","Contact":{"Mail":"ada@top.example","Phone":"+49 5555 10-1",` +
		`"Room":"B 1"},"Profiles":[{"Name":"ORCID","URL":"https://orcid.org/0000-0002-1825-0097"},{"Name":"Homepage",` +
		`"URL":"https://top.example/ada"},{"Name":"GitHub","URL":"https://github.com/ada"}],"Units":[{"ID":"TOP",` +
		`"Name":"Tops"}],"Links":{"page":"https://data.example/lists/person/open"}}`; string(text) != want {
		t.Errorf("one is %s\nwant %s", text, want)
	}
	if other.Photo+other.Contact.Mail+other.Contact.Phone+other.Contact.Room != "" || other.Position != "Plughguide" {
		t.Errorf("other is %v", other)
	}
	card := string(s.Get("/lists/persons.html?ids=p1&lang=de").Body)
	parts := map[string]string{
		"photo": `<img class="vl-photo" src="https://top.example/ada.jpg?a=1&amp;b=2" ` +
			`alt="Foto von Ada Open" width="96" height="96" loading="lazy" decoding="async" ` +
			`referrerpolicy="no-referrer">`,
		"position": `<p class="vl-position" dir="auto">Plughleitung</p>`,
		"units":    `<span>Einheiten:</span> <a href="https://data.example/lists/unit/TOP">Gipfel</a>`,
		"contact": `<li><span>E-Mail:</span> <a href="mailto:ada@top.example">ada@top.example</a></li>` +
			`<li><span>Telefon:</span> <a href="tel:+495555101">+49 5555 10-1</a></li>` +
			`<li><span>Raum:</span> <bdi>B 1</bdi></li>`,
		"profiles": `<a href="https://orcid.org/0000-0002-1825-0097">ORCID</a> ` +
			`<a href="https://top.example/ada">Webseite</a> <a href="https://github.com/ada">GitHub</a>`,
	}
	name := `<a href="https://data.example/lists/person/open">Ada Open</a>`
	for part, want := range parts {
		if !strings.Contains(card, want) {
			t.Errorf("%s\nlacks %s", card, want)
		}
		for asked := range parts {
			body := string(s.Get("/lists/persons.html?ids=p1&lang=de&show=" + asked).Body)
			if strings.Contains(body, want) != (part == asked) || !strings.Contains(body, name) {
				t.Errorf("show=%s: has %s: %v", asked, part, part != asked)
			}
		}
		if body := string(s.Get("/lists/persons.html?ids=p1&lang=de&show=none").Body); strings.Contains(body, want) {
			t.Errorf("show=none: has %s", part)
		}
	}
	if strings.Contains(card, "Z3988") || strings.Contains(card, "data-key") {
		t.Errorf("a person has a citation: %s", card)
	}
	for suffix, want := range map[string]string{
		".csv": "open,Ada Open,Dr.,Plughkeeper,TOP,ada@top.example,'+49 5555 10-1,B 1,0000-0002-1825-0097," +
			"https://top.example/ada; https://github.com/ada,https://top.example/ada.jpg?a=1&b=2," +
			"https://data.example/lists/person/open\r\n",
		".jsonld": `"honorificPrefix":"Dr.","jobTitle":"Plughkeeper","image":"https://top.example/ada.jpg?a=1&b=2",` +
			`"email":"ada@top.example","telephone":"+49 5555 10-1","workLocation":{"@type":"Place","name":"B 1"},` +
			`"affiliation":[{"@type":"Organization","name":"Tops","identifier":"TOP"}],"sameAs":[` +
			`"https://orcid.org/0000-0002-1825-0097","https://top.example/ada","https://github.com/ada"]}`,
	} {
		if body := string(s.Get("/lists/persons" + suffix + "?ids=p1").Body); !strings.Contains(body, want) {
			t.Errorf("%s is %s\nwant %s", suffix, body, want)
		}
	}
	unreleased := regexp.MustCompile(`bo@top|5555 10-2|Attic|bo\.jpg`)
	hostile := regexp.MustCompile(`<script>alert|<img src=x|javascript:|href="x|onclick="|[\n,]=HYPER`)
	for _, suffix := range []string{"", ".html", ".json", ".jsonld", ".bib", ".ris", ".csl.json", ".csv", ".atom",
		".rss", ".feed.json"} {
		for _, list := range []string{"/lists/persons", "/lists/person/shut", "/lists/person/evil"} {
			res := s.Get(list+suffix+"?limit=200", "Accept", "text/html")
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s%s: %s", list, suffix, res.Status)
			}
			if found := unreleased.Find(res.Body); found != nil {
				t.Errorf("%s%s shows %s", list, suffix, found)
			}
			if found := hostile.Find(res.Body); found != nil && suffix != ".csl.json" && suffix != ".bib" {
				t.Errorf("%s%s has %s", list, suffix, found)
			}
		}
	}
}

// personsPage: above the list of a person are the card and the figures, in which empty years have a place and a year
// far away does no harm.
func personsPage(t *testing.T, s *proxytest.Site) {
	s.T = t
	res := s.Get("/lists/person/open", "Accept", "text/html")
	page := string(res.Body)
	for _, want := range []string{
		`<div class="vl-person vl-card"><img class="vl-photo"`, `<a href="mailto:ada@top.example">`,
		`<title>2018: 1</title>`, `<rect class="vl-open"`, "2018–2021</title>", "Open access: 2 of 4 (50%)",
		`<tr><th scope="row">1500</th><td>1</td><td>0 (0%)</td></tr>`,
		"<tr><th scope=\"row\">2018</th><td>1</td><td>1 (100%)</td></tr>\n" +
			"<tr><th scope=\"row\">2019</th><td>0</td><td></td></tr>\n" +
			"<tr><th scope=\"row\">2020</th><td>0</td><td></td></tr>\n" +
			"<tr><th scope=\"row\">2021</th><td>2</td><td>1 (50%)</td></tr>\n</tbody>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, "img-src 'self' data: https: http:;") {
		t.Errorf("photos are refused: %s", got)
	}
	for _, target := range []string{"/lists/person/open?embed=1", "/lists/person/open.html",
		"/lists/person/open?chart=0"} {
		body := string(s.Get(target, "Accept", "text/html").Body)
		if strings.Contains(body, "<svg") || strings.Contains(body, "vl-card") != strings.Contains(target, "chart=0") {
			t.Errorf("%s has the card or the figures, or lacks it", target)
		}
	}
	var l struct {
		Chart  []struct{ Year, Count, Open_Access int }
		Person *struct {
			personItem
			Name string
		}
	}
	if err := json.Unmarshal(s.Get("/lists/person/0000-0002-1825-0097.json?chart=oa&lang=de").Body, &l); err != nil ||
		len(l.Chart) != 5 || l.Chart[4].Open_Access != 1 || l.Chart[2].Count != 0 {
		t.Errorf("the chart is %v, %v", l.Chart, err)
	}
	if p := l.Person; p == nil || p.ID != "open" || p.Name != "Ada Open" || p.Contact.Room != "B 1" ||
		p.Position != "Plughleitung" {
		t.Errorf("the person is %v", l.Person)
	}
	if body := string(s.Get("/lists/unit/TOP.json").Body); strings.Contains(body, `"person":{`) {
		t.Error("the list of a unit has a person")
	}
}

// TestPersonsHideHiddenFields: no face shows a field that the settings hide, whatever the person's flags say.
func TestPersonsHideHiddenFields(t *testing.T) {
	s := withRecords(t, staff, "mail", "telephone", "room", "photo", "position", "position_de", "orcid", "webpage",
		"socials", "academic_title")
	shown := regexp.MustCompile(`ada@top|5555 10-1[^0-9]|B 1[^0-9.]|ada\.jpg|Plugh(keeper|leitung)|` +
		`0000-0002-1825|top\.example|github|Dr\.`)
	for _, suffix := range []string{"", ".html", ".json", ".jsonld", ".csv", ".atom"} {
		for _, list := range []string{"/lists/persons", "/lists/person/open"} {
			res := s.Get(list+suffix+"?limit=200&lang=en", "Accept", "text/html")
			if found := shown.Find(res.Body); found != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s%s: %s, shows %s", list, suffix, res.Status, found)
			}
		}
	}
	if got := personsAt(s, "/lists/persons.json?q=plughkeeper"); len(got) > 0 {
		t.Errorf("a search finds the hidden position: %v", got)
	}
}

// TestPhotoTemplate: photos of persons who allow it, but whose record has no address, are at that of the setting.
func TestPhotoTemplate(t *testing.T) {
	store := proxytest.ListStore(t, nil)
	o := proxytest.ListOptions(t)
	o.Lists.PhotoURL = "/img/{id}.jpg"
	s := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	with := 0
	for _, p := range personsAt(s, "/lists/persons.json?limit=200") {
		if p.Photo == "" {
			continue
		}
		with++
		user := strings.TrimPrefix(p.Links["page"], "https://data.example/lists/person/")
		if p.Photo != "https://data.example/img/"+user+".jpg" {
			t.Errorf("%s has the photo %s", user, p.Photo)
		}
	}
	if with == 0 || with == 42 {
		t.Errorf("%d persons have a photo", with)
	}
}

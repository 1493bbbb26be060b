package osiris_test

import (
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
	"vitrine/rules/label"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// documents parses Extended JSON, one document a line, by collection.
func documents(t testing.TB, collections map[string]string) map[string][]bson.Raw {
	t.Helper()
	docs := map[string][]bson.Raw{}
	for name, lines := range collections {
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			var doc bson.D
			if err := bson.UnmarshalExtJSON([]byte(line), false, &doc); err != nil {
				t.Fatalf("%s: %s: %v", name, line, err)
			}
			raw, err := bson.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			docs[name] = append(docs[name], raw)
		}
	}
	return docs
}

func warnings(s osiris.Settings) []string {
	var all []string
	for _, w := range s.Warnings {
		all = append(all, w.String())
	}
	return all
}

func TestSettings(t *testing.T) {
	s := osiris.From(documents(t, map[string]string{
		osiris.General: `{"_id": 1, "key": "startyear", "value": "1998"}
			{"_id": 2, "key": "apikey", "value": " k3y"}
			{"_id": 3, "key": "portfolio_apikey", "value": 12345}
			{"_id": 4, "key": "render_language", "value": "de"}
			{"_id": 5, "key": "affiliation", "value": {"id": "X"}}`,
		osiris.Features: `{"_id": 1, "feature": "coins", "enabled": true}
			{"_id": 2, "feature": "portfolio-spectrum", "enabled": "0"}`,
		osiris.Rights: `{"_id": 1, "role": "admin", "right": "projects.view", "value": true}
			{"_id": 2, "role": "admin", "right": "proposals.view", "value": 1}
			{"_id": 3, "role": "admin", "right": "admin.see", "value": true}
			{"_id": 4, "role": "scientist", "right": "projects.view", "value": false}
			{"_id": 5, "role": "leader", "right": "projects.view", "value": "1"}
			{"_id": 6, "role": "leader", "right": "projects.view", "value": true}`,
		osiris.Categories: `{"_id": 1, "id": "publication", "name": "Publications", "name_de": "Publikationen", "icon": "book", "order": 4.0, "color": "#123"}
			{"_id": 2, "id": "review", "name": "Reviews", "visible_role": "editor"}
			{"_id": 3, "id": "award", "visible_role": ["editor", " admin "]}
			{"_id": 4, "id": "poster", "visible_role": null}
			{"_id": 5, "id": "lecture", "visible_role": ""}`,
		osiris.Types: `{"_id": {"$oid": "507f1f77bcf86cd799439011"}, "id": "article", "parent": "publication", "name": "Article", "icon": "file", "modules": ["title*", "journal"], "template": {"print": "{authors} {title}", "title": "{title}", "subtitle": "{authors}"}}
			{"_id": {"$oid": "507f1f77bcf86cd799439012"}, "id": "editorial", "parent": "review", "order": "2", "modules": ["date-range-ongoing*"]}`,
		osiris.Fields: `{"_id": 1, "id": "impact-note", "name": "Impact", "name_de": "Wirkung", "format": "list", "values": [["High", "Hoch"], "Low", {"en": "None", "de": "Keine"}], "default": "Low"}
			{"_id": 2, "id": "seen", "name": "Seen", "format": "bool"}
			{"_id": 3, "id": "on", "format": "date", "default": "2020"}`,
		osiris.Projects: `{"_id": 1, "id": "third-party", "name": "Third-party", "name_de": "Drittmittel"}`,
		osiris.Topics:   `{"_id": 1, "id": "ice", "name": "Ice", "name_de": "Eis"}`,
		osiris.Vocabularies: `{"_id": 1, "id": "funder", "values": [{"id": "DFG", "en": "DFG (en)", "de": "DFG (de)"}]}
			{"_id": 2, "id": "project-institute-role", "values": [{"id": "lead", "en": "Lead"}]}
			{"_id": 3, "id": "project-status", "values": [{"id": "on", "de": "Laufend"}]}
			{"_id": 4, "id": "thesis", "values": [{"id": "phd", "en": "PhD", "de": "Promotion"}]}
			{"_id": 5, "id": "something-else", "values": "not looked at"}`,
		osiris.Journals: `{"_id": "j1", "journal": "Journal of Ice", "abbr": "J. Ice", "issn": ["1"]}
			{"_id": "j2", "journal": {"odd": 1}}`,
		osiris.Persons: `{"_id": {"$oid": "507f1f77bcf86cd799439013"}, "username": "ada"}
			{"_id": 2, "username": "ben", "hide": true}
			{"_id": 3, "username": null}`,
	}))
	if got := warnings(s); got != nil {
		t.Errorf("warnings %q", got)
	}
	off := false
	want := osiris.Settings{
		StartYear: 1998, APIKey: osiris.APIKey{Text: " k3y"}, PortfolioKey: osiris.APIKey{Text: "12345"},
		Language: "de", Portfolio: &off,
		Portal: osiris.Portal{Known: 2},
		Roles: map[string][]access.Permission{
			"admin": {access.ProjectsView, access.ProposalsView}, "scientist": nil, "leader": {access.ProjectsView},
		},
		Visible: map[string][]string{"review": {"editor"}, "award": {"editor", "admin"}},
		Labels:  s.Labels,
		Render: render.Osiris{
			Categories: []render.OsirisCategory{
				{From: "adminCategories 1", ID: "publication",
					Name: label.Name{EN: "Publications", DE: "Publikationen"}, Icon: "book", Order: 4},
				{From: "adminCategories 2", ID: "review", Name: label.Name{EN: "Reviews"}},
				{From: "adminCategories 3", ID: "award"}, {From: "adminCategories 4", ID: "poster"},
				{From: "adminCategories 5", ID: "lecture"},
			},
			Types: []render.OsirisType{
				{From: "adminTypes 507f1f77bcf86cd799439011", ID: "article", Parent: "publication",
					Name: label.Name{EN: "Article"}, Icon: "file",
					Print: "{authors} {title}", Title: "{title}", Subtitle: "{authors}"},
				{From: "adminTypes 507f1f77bcf86cd799439012", ID: "editorial", Parent: "review", Order: 2,
					Ongoing: true},
			},
			Fields: []render.OsirisField{
				{From: "adminFields 1", ID: "impact-note", Name: label.Name{EN: "Impact", DE: "Wirkung"},
					Kind: render.OsirisText, Default: "Low",
					Values: map[string]label.Name{
						"High": {EN: "High", DE: "Hoch"}, "Hoch": {EN: "High", DE: "Hoch"}, "Low": {EN: "Low"},
						"None": {EN: "None", DE: "Keine"}, "Keine": {EN: "None", DE: "Keine"},
					}},
				{From: "adminFields 2", ID: "seen", Name: label.Name{EN: "Seen"}, Kind: render.OsirisFlag},
				{From: "adminFields 3", ID: "on", Kind: render.OsirisDate},
			},
			Vocabularies: map[string]map[string]label.Name{"thesis": {"phd": {EN: "PhD", DE: "Promotion"}}},
			Journals:     map[string]render.OsirisJournal{"j1": {Name: "Journal of Ice", Abbr: "J. Ice"}},
			Persons:      map[string]string{"ada": "507f1f77bcf86cd799439013"},
		},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	for _, tt := range []struct{ set, code, en, de string }{
		{label.ProjectType, "third-party", "Third-party", "Drittmittel"},
		{label.Funder, "DFG", "DFG (en)", "DFG (de)"},
		{label.ProjectRole, "lead", "Lead", "Lead"},
		{label.ProjectStatus, "on", "Laufend", "Laufend"},
		{label.Topic, "ice", "Ice", "Eis"},
	} {
		if en, de := s.Labels.Label(tt.set, tt.code, "en"), s.Labels.Label(tt.set, tt.code, "de"); en != tt.en &&
			tt.en != "Laufend" || de != tt.de && tt.de != "Lead" {
			t.Errorf("%s %s: got %q, %q, want %q, %q", tt.set, tt.code, en, de, tt.en, tt.de)
		}
	}
}

// TestMalformed: a malformed record, or its malformed part, is ignored with a warning; the other
// records and parts count.
func TestMalformed(t *testing.T) {
	none := func(osiris.Settings) bool { return true }
	for _, tt := range []struct {
		name, collection, docs string
		ok                     func(osiris.Settings) bool
		want                   []string
	}{
		{"start year in words", osiris.General, `{"_id": 1, "key": "startyear", "value": "soon"}`,
			func(s osiris.Settings) bool { return s.StartYear == 0 },
			[]string{"adminGeneral 1: startyear is not a year"}},
		{"start year as a list", osiris.General, `{"_id": 1, "key": "startyear", "value": [2020]}`,
			func(s osiris.Settings) bool { return s.StartYear == 0 },
			[]string{"adminGeneral 1: startyear is not a year"}},
		{"start year as double", osiris.General, `{"_id": 1, "key": "startyear", "value": 2020.0}`,
			func(s osiris.Settings) bool { return s.StartYear == 2020 }, nil},
		{"start year in parts of a year", osiris.General, `{"_id": 1, "key": "startyear", "value": 2020.5}`,
			func(s osiris.Settings) bool { return s.StartYear == 0 },
			[]string{"adminGeneral 1: startyear is not a year"}},
		{"start year empty", osiris.General, `{"_id": 1, "key": "startyear", "value": ""}`,
			func(s osiris.Settings) bool { return s.StartYear == 0 }, nil},
		{"key without a value", osiris.General, `{"_id": 1, "key": "apikey"}`,
			func(s osiris.Settings) bool { return s.APIKey == osiris.APIKey{} }, nil},
		{"a key that is not text is refused", osiris.General, `{"_id": 1, "key": "apikey", "value": {"a": 1}}`,
			func(s osiris.Settings) bool { return s.APIKey == osiris.APIKey{Sealed: true} },
			[]string{"adminGeneral 1: apikey is not text: calls are refused until it is"}},
		{"key that is a flag stays closed", osiris.General, `{"_id": 1, "key": "portfolio_apikey", "value": true}`,
			func(s osiris.Settings) bool { return s.PortfolioKey == osiris.APIKey{Sealed: true} },
			[]string{"adminGeneral 1: portfolio_apikey is not text: calls are refused until it is"}},
		{"setting stored twice", osiris.General,
			"{\"_id\": 2, \"key\": \"apikey\", \"value\": \"b\"}\n{\"_id\": 1, \"key\": \"apikey\", \"value\": \"a\"}",
			func(s osiris.Settings) bool { return s.APIKey.Text == "a" },
			[]string{"adminGeneral 2: apikey is given twice"}},
		{"setting without a name", osiris.General, "{\"_id\": 1, \"value\": 1}\n{\"_id\": 2, \"key\": [\"apikey\"]}",
			none, []string{"adminGeneral 1: key is missing", "adminGeneral 2: key is not text",
				"adminGeneral 2: key is missing"}},
		{"language", osiris.General, `{"_id": 1, "key": "render_language", "value": "fr"}`,
			func(s osiris.Settings) bool { return s.Language == "" },
			[]string{`adminGeneral 1: render_language is "fr", want en or de`}},
		{"feature", osiris.Features, `{"_id": 1, "feature": "portfolio-spectrum", "enabled": "perhaps"}`,
			func(s osiris.Settings) bool { return s.Portfolio == nil },
			[]string{"adminFeatures 1: enabled is neither true nor false"}},
		{"right without a role", osiris.Rights, `{"_id": 1, "right": "projects.view", "value": true}`,
			func(s osiris.Settings) bool { return len(s.Roles) == 0 },
			[]string{"adminRights 1: role or right is missing"}},
		{"right with an odd value", osiris.Rights,
			`{"_id": 1, "role": "admin", "right": "projects.view", "value": {"yes": 1}}`,
			func(s osiris.Settings) bool { _, ok := s.Roles["admin"]; return ok && s.Roles["admin"] == nil },
			[]string{"adminRights 1: value is neither true nor false"}},
		{"category with a malformed list of viewers", osiris.Categories,
			`{"_id": "c", "id": "review", "visible_role": 7}`,
			func(s osiris.Settings) bool { roles, ok := s.Visible["review"]; return ok && roles == nil },
			[]string{"adminCategories c: visible_role is not a role: the category is hidden"}},
		{"category with an odd role among others", osiris.Categories,
			`{"_id": "c", "id": "review", "visible_role": ["admin", 7]}`,
			func(s osiris.Settings) bool { return reflect.DeepEqual(s.Visible["review"], []string{"admin"}) },
			[]string{"adminCategories c: visible_role holds what is not a role"}},
		{"category defined twice is visible to those who see both", osiris.Categories,
			"{\"_id\": 1, \"id\": \"review\", \"visible_role\": [\"a\", \"b\"]}\n{\"_id\": 2, \"id\": \"review\", " +
				"\"visible_role\": [\"b\", \"c\"]}",
			func(s osiris.Settings) bool { return reflect.DeepEqual(s.Visible["review"], []string{"b"}) }, nil},
		{"category with odd names", osiris.Categories,
			`{"_id": 1, "id": "review", "name": {"en": "x"}, "name_de": "Gutachten", "icon": []}`,
			func(s osiris.Settings) bool { return s.Render.Categories[0].Name == label.Name{DE: "Gutachten"} },
			[]string{"adminCategories 1: name is not text", "adminCategories 1: icon is not text"}},
		{"template that is not a document", osiris.Types,
			`{"_id": 1, "id": "a", "parent": "b", "template": "{title}", "modules": "title"}`,
			func(s osiris.Settings) bool { return s.Render.Types[0].ID == "a" },
			[]string{"adminTypes 1: modules is not a list", "adminTypes 1: template is not a document"}},
		{"templates, one of them not text", osiris.Types,
			`{"_id": 1, "id": "a", "parent": "b", "template": {"print": ["{title}"], "title": "{title}"}}`,
			func(s osiris.Settings) bool { return s.Render.Types[0].Title == "{title}" },
			[]string{"adminTypes 1: template.print is not text"}},
		{"values of a field", osiris.Fields,
			`{"_id": 1, "id": "a", "values": [["x", {"y": 1}], 7, null, [], ["ok"]]}`,
			func(s osiris.Settings) bool { return len(s.Render.Fields[0].Values) == 2 },
			[]string{"adminFields 1: values holds what is neither text nor a pair of texts",
				"adminFields 1: values holds what is neither text nor a pair of texts",
				"adminFields 1: values holds what is neither text nor a pair of texts"}},
		{"project types", osiris.Projects,
			"{\"_id\": 1, \"name\": \"X\"}\n{\"_id\": 2, \"id\": \"a\", \"name\": \"A\"}\n{\"_id\": 3, \"id\": " +
				"\"a\", \"name\": \"B\"}",
			func(s osiris.Settings) bool { return s.Labels.Label(label.ProjectType, "a", "en") == "A" },
			[]string{"adminProjects 1: id is missing", `adminProjects 3: id "a" is given twice`}},
		{"vocabulary", osiris.Vocabularies,
			`{"_id": 1, "id": "funder", "values": ["DFG", {"id": "EU", "en": "EU"}, {"en": "unnamed"}, {"id": "EU"},` +
				` {"id": "X", "en": 1.5}]}`,
			func(s osiris.Settings) bool {
				return s.Labels.Label(label.Funder, "EU", "en") == "EU" &&
					s.Labels.Label(label.Funder, "X", "en") == "X"
			},
			[]string{"adminVocabularies 1: values holds what is not a document",
				`adminVocabularies 1: values.id "" is empty or given twice`,
				`adminVocabularies 1: values.id "EU" is empty or given twice`,
				"adminVocabularies 1: values.en is not text"}},
		{"vocabulary without values", osiris.Vocabularies,
			"{\"_id\": 1, \"id\": \"funder\", \"values\": {\"a\": 1}}\n{\"_id\": 2, \"values\": []}",
			none, []string{"adminVocabularies 1: values is not a list", "adminVocabularies 2: id is missing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := osiris.From(documents(t, map[string]string{tt.collection: tt.docs}))
			if got := warnings(s); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("warnings\ngot  %q\nwant %q", got, tt.want)
			}
			if !tt.ok(s) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestBrokenDocument(t *testing.T) {
	broken := bson.Raw{12, 0, 0, 0, 0x10, 'a', 0, 1, 0, 0, 0, 0}
	broken[4] = 0x99
	s := osiris.From(map[string][]bson.Raw{osiris.General: {broken}})
	if got, want := warnings(s), []string{"adminGeneral: is not a document that can be read"}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptyDatabase(t *testing.T) {
	s := osiris.From(nil)
	if s.Warnings != nil || s.StartYear != 0 || len(s.Roles)+len(s.Visible) != 0 ||
		s.Labels.Label(label.Funder, "x", "en") != "x" {
		t.Errorf("got %+v", s)
	}
}

func TestFaults(t *testing.T) {
	s := osiris.From(documents(t, map[string]string{
		osiris.Categories: `{"_id": "c1", "name": "Nameless"}`,
		osiris.Types: `{"_id": {"$oid": "507f1f77bcf86cd799439011"}, "id": "a", "parent": "b", "template": ` +
			`{"print": "{titel}"}}`,
	}))
	rules, err := render.Parse("r.yaml",
		[]byte(
			`templates: {print: "{year}", web: "{year}", portfolio: "{year}", title: "{year}", authors: "{authors}`+
				`", editors: "{editors}"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, faults := rules.WithOsiris(s.Render)
	var got []string
	for _, w := range faults {
		got = append(got, w.String())
	}
	want := []string{
		"adminCategories c1: id is missing",
		`adminTypes 507f1f77bcf86cd799439011: parent "b" is no category`,
		`adminTypes 507f1f77bcf86cd799439011: template.print: unknown field "titel", taken for what activities ` +
			`store under that name`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func FuzzFrom(f *testing.F) {
	f.Add(
		`{"_id": 1, "key": "startyear", "value": {"$numberLong": "9"}, "id": "a", "name": [], "template": ` +
			`{"print": 1}, "values": [[[]]], "visible_role": {}}`)
	collections := append(osiris.ForAnswers(), osiris.ForRendering()...)
	f.Fuzz(func(t *testing.T, json string) {
		var doc bson.D
		if bson.UnmarshalExtJSON([]byte(json), false, &doc) != nil {
			return
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			return
		}
		docs := map[string][]bson.Raw{}
		for _, name := range collections {
			docs[name] = []bson.Raw{raw, raw}
		}
		osiris.From(docs)
	})
}

// TestFirstRecordCounts: records are read in the order of their _id, whatever the order of the
// store, and the first of two with one id counts.
func TestFirstRecordCounts(t *testing.T) {
	const a, b = `{"_id": 1, "id": "x", "name": "first"}`, `{"_id": 2, "id": "x", "name": "second"}`
	for _, lines := range []string{a + "\n" + b, b + "\n" + a} {
		s := osiris.From(
			documents(t, map[string]string{osiris.Topics: lines, osiris.Projects: lines, osiris.Categories: lines}))
		for _, set := range []string{label.Topic, label.ProjectType} {
			if got := s.Labels.Label(set, "x", "en"); got != "first" {
				t.Errorf("%s is named %q, want the first", set, got)
			}
		}
		if got := s.Render.Categories[0].Name.EN; got != "first" {
			t.Errorf("the first category is %q", got)
		}
		want := []string{`adminProjects 2: id "x" is given twice`, `topics 2: id "x" is given twice`}
		if got := warnings(s); !reflect.DeepEqual(got, want) {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
}

// TestText: which values count as text, wherever a record has one.
func TestText(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"text", `"Ice"`, "Ice"},
		{"blanks around it", `" Ice "`, "Ice"},
		{"a number", `7`, "7"},
		{"a long number", `{"$numberLong": "9007199254740991"}`, "9007199254740991"},
		{"a whole double", `7.0`, "7"},
		{"null", `null`, ""},
	} {
		s := osiris.From(documents(t, map[string]string{osiris.Categories: `{"_id": 1, "id": ` + tt.value + `}`}))
		if got := s.Render.Categories[0].ID; got != tt.want || s.Warnings != nil {
			t.Errorf("%s: got %q, warnings %q, want %q", tt.name, got, warnings(s), tt.want)
		}
	}
	for _, tt := range []struct{ name, value string }{
		{"a fraction", `1.5`}, {"a flag", `true`}, {"a list", `["Ice"]`}, {"a document", `{"en": "Ice"}`},
		{"a date", `{"$date": "2020-01-01T00:00:00Z"}`},
	} {
		s := osiris.From(documents(t, map[string]string{osiris.Categories: `{"_id": 1, "id": ` + tt.value + `}`}))
		want := []string{"adminCategories 1: id is not text"}
		if got := warnings(s); s.Render.Categories[0].ID != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, warnings %q, want %q", tt.name, s.Render.Categories[0].ID, got, want)
		}
	}
}

// TestFlags: the ways in which forms store true and false.
func TestFlags(t *testing.T) {
	on, off := true, false
	for _, tt := range []struct {
		value string
		want  *bool
	}{
		{`true`, &on}, {`1`, &on}, {`"1"`, &on}, {`"true"`, &on}, {`1.0`, &on},
		{`false`, &off}, {`0`, &off}, {`"0"`, &off}, {`"false"`, &off}, {`""`, &off},
		{`null`, nil}, {`2`, nil}, {`"yes"`, nil}, {`[]`, nil},
	} {
		s := osiris.From(
			documents(t,
				map[string]string{osiris.Features: `{"_id": 1, "feature": "portfolio-spectrum", "enabled": ` +
					tt.value + `}`}))
		if !reflect.DeepEqual(s.Portfolio, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.value, s.Portfolio, tt.want)
		}
		if warned := s.Warnings != nil; warned != (tt.want == nil && tt.value != "null") {
			t.Errorf("%s: warnings %q", tt.value, warnings(s))
		}
	}
}

// TestLargeCollections: malformed journals and persons cause no warnings, because operators do not
// maintain them here.
func TestLargeCollections(t *testing.T) {
	s := osiris.From(documents(t, map[string]string{
		osiris.Journals: `{"_id": 1, "journal": "Ice", "abbr": "I."}
			{"_id": {"$oid": "507f1f77bcf86cd799439013"}, "abbr": "J."}
			{"_id": 3}
			{"_id": 4, "journal": {"a": 1}, "abbr": ["b"]}
			{"_id": "five", "journal": 5}`,
		osiris.Persons: `{"_id": 1, "username": "ada", "hide": false}
			{"_id": 2, "username": "ben", "hide": true}
			{"_id": 3, "username": ""}
			{"_id": 4, "username": 4}
			{"_id": 5, "username": "cid", "hide": 1}
			{"_id": 6, "username": "dee", "hide": "true"}
			{"_id": "e", "username": "eve", "hide": "yes"}`,
	}))
	journals := map[string]render.OsirisJournal{"1": {Name: "Ice", Abbr: "I."},
		"507f1f77bcf86cd799439013": {Abbr: "J."}, "five": {Name: "5"}}
	if !reflect.DeepEqual(s.Render.Journals, journals) {
		t.Errorf("journals %+v, want %+v", s.Render.Journals, journals)
	}
	persons := map[string]string{"ada": "1"} // the others are hidden
	if !reflect.DeepEqual(s.Render.Persons, persons) {
		t.Errorf("persons %+v, want %+v", s.Render.Persons, persons)
	}
	if s.Warnings != nil {
		t.Errorf("warnings %q", warnings(s))
	}
}

// TestCollections: every collection that From reads is in one of the lists of collections.
func TestCollections(t *testing.T) {
	listed := map[string]bool{}
	for _, name := range append(osiris.ForAnswers(), osiris.ForRendering()...) {
		listed[name] = true
	}
	for _, name := range []string{
		osiris.General, osiris.Rights, osiris.Features, osiris.Categories, osiris.Types, osiris.Projects,
		osiris.Vocabularies, osiris.Fields, osiris.Topics, osiris.Journals, osiris.Persons,
	} {
		if !listed[name] {
			t.Errorf("From reads %s, which no list contains", name)
		}
	}
}

package mark_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// public is the default of lists.public.
const public = `{"hide": {"$in": [null, false, 0, "", "0", "false"]}, "workflow.status": {"$nin": ["rejected", "in-review"]}}`

// views are those whose rows have marks.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewPersons, rules.ViewEvents}

func parse(t testing.TB, json string) bson.Raw {
	t.Helper()
	doc, err := ejson.Parse([]byte(json), ejson.Options{})
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return doc
}

func all(t testing.TB, docs ...string) (list []bson.Raw) {
	t.Helper()
	for _, doc := range docs {
		list = append(list, parse(t, doc))
	}
	return list
}

// options are the options of a server with default settings, on a day in 2026.
func options(t testing.TB, public string) mark.Options {
	t.Helper()
	f, err := filter.Parse([]byte(public), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cited := func(view string, record, _ bson.Raw) (c mark.Citation) {
		if c.DOI, _ = record.Lookup("cited").StringValueOK(); c.DOI != "" {
			c.OA = view
		}
		c.Keywords = display.Texts(raw.Get(record, "keywords"))
		stored, _ := record.Lookup("year").Int32OK()
		c.Year = int(stored)
		return c
	}
	return mark.Options{Public: f, Now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Cited: cited}
}

// directory is the directory of a small institute.
func directory(t testing.TB) *mark.Directory {
	t.Helper()
	return mark.NewDirectory(options(t, public),
		all(t,
			`{"_id":1,"username":"ann","first":"Ann","last":"Ada","orcid":"https://orcid.org/0000-0002-1825-009x"}`,
			`{"_id":2,"username":"bob","last":"Bobson","orcid":"see my page"}`,
			`{"_id":3,"username":"eve","first":"Eve","last":"Hid","hide":true}`,
			`{"_id":4,"username":"una","first":"Una","last":"Hid","hide":"1"}`,
			`{"_id":5,"username":"joe","last":"Draft","workflow":{"status":"in-review"}}`,
			`{"_id":6,"username":"two","last":"First"}`, `{"_id":7,"username":"two","last":"Second","hide":1}`,
			`{"_id":8,"username":null,"last":"Guest"}`,
		),
		all(t,
			`{"id":"INST","name":"Institute","name_de":"Institut","parent":null}`,
			`{"id":"BIO","name":"Biology","name_de":null,"parent":"INST"}`,
			`{"id":"LAB","name":"Lab","parent":["BIO","CHEM"]}`,
			`{"id":"CHEM","parent":"SECRET"}`,
			`{"id":"SECRET","name":"Secret","parent":"INST","hide":true}`,
			`{"id":"X","parent":"Y"}`, `{"id":"Y","parent":"X"}`, `{"id":"SELF","parent":"SELF"}`,
			`{"parent":"INST"}`,
		),
		all(t,
			`{"_id":{"$oid":"245d6cb04265c77322a34969"},"name":"MOTH","title":"Moths","public":true}`,
			`{"_id":"p2","name":"LAMP","public":true}`,
			`{"_id":"p3","name":"DARK","title":"Dark","public":false}`,
			`{"_id":"p4","name":"SOON","title":"Soon","public":true,"workflow":{"status":"rejected"}}`,
			`{"_id":"p5","name":"TWIN","public":true}`, `{"_id":"p6","name":"TWIN"}`,
		))
}

func TestMake(t *testing.T) {
	const moths = `{"id":"MOTH","title":"Moths"}`
	tests := []struct{ name, view, record, want string }{
		{"nothing known", rules.ViewActivities, `{}`, `{}`},
		{"codes and year", rules.ViewActivities, `{"type":"publication","subtype":"article","year":2021}`,
			`{"year":2021,"type":"publication","subtype":"article"}`},
		{"other types", rules.ViewActivities, `{"type":["a"],"subtype":7}`, `{"subtype":"7"}`},
		{"no year", rules.ViewActivities, `{"start_date":"2019-03-01"}`, `{}`},

		{"texts to sort by", rules.ViewActivities,
			`{"title":"<i>Ärzte</i> \u0001&amp; Straße","authors":[{"last":"Łoś"},{"last":"A"}]}`,
			`{"by_title":"arzte strasse","by_author":"los"}`},
		{"markup in a text to sort by", rules.ViewActivities,
			`{"title":"<mml:mi>Ca</mml:mi><p>&amp;lt;b</p>","authors":[{"last":"O&#39;Brien"}]}`,
			`{"by_title":"ca lt b","by_author":"o brien"}`},
		{"texts of other types", rules.ViewActivities, `{"title":["Zoo","Ape"],"authors":{"last":7}}`,
			`{"by_title":"ape","by_author":"7"}`},
		{"one text of several authors", rules.ViewActivities, `{"authors":"Quill, Ada; Fern, Bo"}`,
			`{"by_author":"quill"}`},
		{"an author with a suffix", rules.ViewActivities,
			`{"authors":["et al.",{"last":"Dr. Costa, Jr.","first":"P. T."}]}`, `{"by_author":"costa"}`},
		{"a person with a suffix", rules.ViewPersons,
			`{"username":"costa","last":"Costa","first":"Prof. P. T.","suffix":"Jr."}`,
			`{"persons":[{"id":"costa","name":"Costa, P. T., Jr."}],"by_title":"costa p t jr","by_author":"costa p t ` +
				`jr"}`},

		{"what citations show", rules.ViewEvents, `{"cited":"10.1000/ABC"}`, `{"oa":"events","doi":"10.1000/abc"}`},

		{"keywords", rules.ViewProjects,
			`{"public":true,"keywords":["Light Pollution","owls","Owls","light-pollution","C++","` +
				strings.Repeat("a b ", 60) + `"]}`,
			`{"keywords":[{"id":"light pollution","name":"Light Pollution"},{"id":"owls"},{"id":"c++","name":"C++"}]}`},

		{"hidden", rules.ViewActivities, `{"hide":true}`, ``},
		{"hidden by a number", rules.ViewEvents, `{"hide":1}`, ``},
		{"hidden by a double", rules.ViewActivities, `{"hide":1.0}`, ``},
		{"hidden by a long", rules.ViewActivities, `{"hide":{"$numberLong":"1"}}`, ``},
		{"hidden by a digit", rules.ViewProjects, `{"public":true,"hide":"1"}`, ``},
		{"hidden by a text", rules.ViewActivities, `{"hide":"true"}`, ``},
		{"hidden by capitals", rules.ViewActivities, `{"hide":"TRUE"}`, ``},
		{"hidden by what is unclear", rules.ViewActivities, `{"hide":" yes "}`, ``},
		{"hidden by a list", rules.ViewActivities, `{"hide":[]}`, ``},
		{"not hidden by a number", rules.ViewActivities, `{"hide":0.0}`, `{}`},
		{"not hidden by a text", rules.ViewActivities, `{"hide":"false"}`, `{}`},
		{"not hidden by nothing", rules.ViewActivities, `{"hide":""}`, `{}`},
		{"in review", rules.ViewActivities, `{"workflow":{"status":"in-review"}}`, ``},
		{"verified", rules.ViewActivities, `{"hide":false,"workflow":{"status":"verified"}}`, `{}`},

		{"units with ancestors", rules.ViewActivities, `{"units":["LAB","BIO","LAB"]}`,
			`{"units":[{"id":"LAB","name":"Lab"},{"id":"BIO","name":"Biology"}],"in":["LAB","BIO","CHEM","INST"],` +
				`"above":[{"id":"CHEM"},{"id":"INST","name":"Institute","name_de":"Institut"}]}`},
		{"unit as text", rules.ViewActivities, `{"units":"INST"}`,
			`{"units":[{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["INST"]}`},
		{"unknown and hidden units", rules.ViewActivities,
			`{"units":["GONE","SECRET",null,7,{"unit":"GONE"},["BIO"],""]}`,
			`{"units":[{"id":"GONE"},{"id":"7"}],"in":["GONE","7"]}`},
		{"units in circles", rules.ViewActivities, `{"units":["X","SELF"]}`,
			`{"units":[{"id":"X"},{"id":"SELF"}],"in":["X","Y","SELF"],"above":[{"id":"Y"}]}`},
		{"units of authors", rules.ViewActivities,
			`{"units":null,"authors":[{"units":["BIO"]},{"units":"BIO"},"x",{"units":7}]}`,
			`{"units":[{"id":"BIO","name":"Biology"},{"id":"7"}],"in":["BIO","INST","7"],"above":[{"id":"INST",` +
				`"name":"Institute","name_de":"Institut"}],"by_author":"x"}`},

		{"persons", rules.ViewActivities,
			`{"authors":[{"user":"ann"},{"user":null},{"last":"ann"},{"user":"bob"},{"user":"ann"}],` +
				`"editors":{"user":"ann"}}`,
			`{"persons":[{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"},{"id":"bob","name":"Bobson"}],` +
				`"by_author":"ann"}`},
		{"hidden persons", rules.ViewActivities,
			`{"authors":[{"user":"eve"},{"user":"una"},{"user":"joe"},{"user":"two"},{"user":"who"},{"user":""}]}`,
			`{}`},
		{"persons of all lists", rules.ViewActivities,
			`{"authors":[{"last":"Ext","units":[]}],"editors":[{"user":"ann","units":["BIO"]},` +
				`{"user":"eve","units":["SECRET"]}],` +
				`"supervisors":{"user":"bob","units":"GONE"},"persons":[{"user":"ann","units":["INST"]}]}`,
			`{"units":[{"id":"BIO","name":"Biology"},{"id":"GONE"},` +
				`{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["BIO","INST","GONE"],` +
				`"persons":[{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"},` +
				`{"id":"bob","name":"Bobson"}],"by_author":"ext"}`},
		{"units stored beside those of persons", rules.ViewActivities,
			`{"units":["INST"],"editors":[{"user":"bob","units":["BIO"]}]}`,
			`{"units":[{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["INST"],` +
				`"persons":[{"id":"bob","name":"Bobson"}]}`},
		{"editors without authors", rules.ViewActivities,
			`{"authors":["et al."],"editors":[{"user":"bob"},{"last":"Owl"}],"supervisors":[{"last":"Ape"}]}`,
			`{"persons":[{"id":"bob","name":"Bobson"}],"by_author":"owl"}`},
		{"supervisors alone", rules.ViewActivities, `{"supervisors":[{"last":"Bobson","user":"bob"}]}`,
			`{"persons":[{"id":"bob","name":"Bobson"}],"by_author":"bobson"}`},
		{"authors of other types", rules.ViewActivities, `{"authors":"bob","editors":7}`,
			`{"persons":[{"id":"bob","name":"Bobson"}],"by_author":"bob"}`},

		{"project by name", rules.ViewActivities, `{"projects":"MOTH"}`, `{"projects":[` + moths + `]}`},
		{"projects by id", rules.ViewActivities, `{"projects":[{"$oid":"245d6cb04265c77322a34969"},"MOTH","p2"]}`,
			`{"projects":[` + moths + `,{"id":"LAMP","title":"LAMP"}]}`},
		{"projects not public", rules.ViewActivities, `{"projects":["DARK","p4","TWIN","NONE",{"name":"MOTH"}]}`,
			`{}`},

		{"topics", rules.ViewActivities,
			`{"catalog":{"topics":[{"id":"T1","name":"Moths","score":1},{"id":"T1"},{"name":"x"},"T2",{"id":"T3",` +
				`"display_name":"Lamps"}]}}`,
			`{"topics":[{"id":"T1","name":"Moths"},{"id":"T2"},{"id":"T3","name":"Lamps"}]}`},
		{"topics of another type", rules.ViewActivities, `{"catalog":[{"topics":7}],"topics":["speech"]}`,
			`{"topics":[{"id":"7"}]}`},

		{"a person", rules.ViewPersons,
			`{"username":"ann","last":"Ada","units":[{"unit":"BIO","end":"2020-01-01"},{"unit":"LAB","end":null},` +
				`{"unit":"INST","end":"2026-11-22"}]}`,
			`{"units":[{"id":"LAB","name":"Lab"},{"id":"INST","name":"Institute","name_de":"Institut"}],` +
				`"in":["LAB","BIO","CHEM","INST"],"above":[{"id":"BIO","name":"Biology"},{"id":"CHEM"}],` +
				`"persons":[{"id":"ann","name":"Ada"}],"by_title":"ada","by_author":"ada"}`},
		{"a person without a name", rules.ViewPersons, `{"username":"ann","first":null}`,
			`{"persons":[{"id":"ann","name":"ann"}],"by_title":"ann","by_author":"ann"}`},
		{"a guest", rules.ViewPersons, `{"username":null,"first":"Zoe","last":"Łoś"}`,
			`{"by_title":"los zo","by_author":"los zo"}`},
		{"a hidden person", rules.ViewPersons, `{"username":"ann","hide":1}`, ``},
		{"a project", rules.ViewProjects,
			`{"public":true,"name":"MOTH","title":"Moths","persons":[{"user":"ann"},{"user":"eve"}],"year":2022}`,
			`{"year":2022,"persons":[{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"}],"projects":[` +
				moths + `],"by_title":"moths","by_author":"ada ann"}`},
		{"a project of older versions", rules.ViewProjects,
			`{"public":true,"name":"MOTH","title":"Moths","contact":"bob","supervisor":["eve","ann"],` +
				`"scholar":{"user":"bob","units":["INST"]}}`,
			`{"units":[{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["INST"],"persons":[{"id":"bob",` +
				`"name":"Bobson"},{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"}],` +
				`"projects":[` + moths + `],"by_title":"moths","by_author":"bobson"}`},
		{"units of a project's persons", rules.ViewProjects,
			`{"public":true,"name":"MOTH","title":"Moths","persons":[{"user":"eve","units":["INST","SECRET"]}]}`,
			`{"units":[{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["INST"],` +
				`"projects":[` + moths + `],"by_title":"moths"}`},
		{"a project by chance", rules.ViewProjects, `{"public":"true","name":"MOTH"}`, ``},
		{"an event", rules.ViewEvents, `{"type":"conference","participants":["ann","eve"]}`,
			`{"type":"conference","persons":[{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"}]}`},
		{"organizers with a unit", rules.ViewEvents,
			`{"organizers":[{"user":"bob","units":["INST"]}],"participants":["bob","ann"]}`,
			`{"units":[{"id":"INST","name":"Institute","name_de":"Institut"}],"in":["INST"],"persons":[{"id":"bob",` +
				`"name":"Bobson"},{"id":"ann","name":"Ada, Ann","orcid":"0000-0002-1825-009X"}]}`},
	}
	d := directory(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if tt.want != "" {
				tt.want = strings.Replace(`{"public":true,`+tt.want[1:], ",}", "}", 1)
			}
			made, _, err := d.Make(tt.view, parse(t, tt.record))
			if err != nil {
				t.Fatal(err)
			}
			if made != nil {
				if err := raw.Check(made); err != nil {
					t.Fatal(err)
				}
				got = string(ejson.AppendDocument(nil, made))
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestDigest: the digest changes if any mark can change, and stays if a change affects no mark.
func TestDigest(t *testing.T) {
	type given struct{ person, group, project, public, topics string }
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	digest := func(change func(*given), now time.Time) uint64 {
		g := given{person: `{"username":"ann","last":"Ada"}`, group: `{"id":"LAB","name":"Lab","parent":"BIO"}`,
			project: `{"name":"MOTH","public":true}`, public: public}
		change(&g)
		o := options(t, g.public)
		o.Topics, o.Now = g.topics, now
		return mark.NewDirectory(o, all(t, g.person), all(t, g.group, `{"id":"BIO"}`), all(t, g.project)).Digest()
	}
	before := digest(func(*given) {}, now)
	tests := []struct {
		name   string
		change func(*given)
		now    time.Time
		same   bool
	}{
		{name: "nothing", same: true},
		{name: "later that day", now: now.Add(12*time.Hour - 1), same: true},
		{name: "fields that marks do not depend on",
			change: func(g *given) { g.person = `{"mail":"a","username":"ann","last":"Ada"}` }, same: true},
		{name: "another spelling of the filter", change: func(g *given) { g.public = " " + public }, same: true},
		{name: "the default written out", change: func(g *given) { g.topics = "catalog.topics" }, same: true},
		{name: "the next day", now: now.Add(12 * time.Hour)},
		{name: "another zone", now: now.In(time.FixedZone("", 3600))},
		{name: "another filter", change: func(g *given) { g.public = `{"hide":{"$ne":true}}` }},
		{name: "other topics", change: func(g *given) { g.topics = "topics" }},
		{name: "a hidden person", change: func(g *given) {
			g.person = `{"username":"ann","last":"Ada","hide":true}`
		}},
		{name: "a renamed person", change: func(g *given) { g.person = `{"username":"ann","last":"Abe"}` }},
		{name: "another user", change: func(g *given) { g.person = `{"username":"anna","last":"Ada"}` }},
		{name: "an unpublished project", change: func(g *given) { g.project = `{"name":"MOTH"}` }},
		{name: "a project's title", change: func(g *given) {
			g.project = `{"name":"MOTH","title":"Moths","public":true}`
		}},
		{name: "a project's id", change: func(g *given) { g.project = `{"_id":1,"name":"MOTH","public":true}` }},
		{name: "a hidden unit", change: func(g *given) {
			g.group = `{"id":"LAB","name":"Lab","parent":"BIO","hide":true}`
		}},
		{name: "a renamed unit", change: func(g *given) { g.group = `{"id":"LAB","name_de":"Lab","parent":"BIO"}` }},
		{name: "a unit that moved", change: func(g *given) { g.group = `{"id":"LAB","name":"Lab"}` }},
	}
	for _, tt := range tests {
		if tt.change == nil {
			tt.change = func(*given) {}
		}
		if tt.now.IsZero() {
			tt.now = now
		}
		if same := digest(tt.change, tt.now) == before; same != tt.same {
			t.Errorf("%s: the same digest: %t, want %t", tt.name, same, tt.same)
		}
	}
}

// TestUndecided: a record on which the filter fails is not public.
func TestUndecided(t *testing.T) {
	d := mark.NewDirectory(options(t, `{"$expr":{"$gt":[{"$add":["$level",0]},1]}}`),
		all(t, `{"username":"ann","level":"high"}`, `{"username":"bob","level":2}`), nil, nil)
	made, _, err := d.Make(rules.ViewEvents, parse(t, `{"level":"high"}`))
	if made != nil || err == nil {
		t.Errorf("got %s, %v", made, err)
	}
	made, _, err = d.Make(rules.ViewEvents, parse(t, `{"level":3,"participants":["ann","bob"]}`))
	if got := string(ejson.AppendDocument(nil, made)); err != nil ||
		got != `{"public":true,"persons":[{"id":"bob","name":"bob"}]}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestSmall: a mark is small for any record.
func TestSmall(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	var units strings.Builder
	for i := range 3000 {
		units.WriteString(`"` + strings.Repeat("u", i%1500) + `",`)
	}
	record := parse(t, `{"type":"`+long+`","units":[`+units.String()+`"z"],"catalog":{"topics":[{"id":"T1","name":"`+
		long+`"}]}}`)
	made, _, err := directory(t).Make(rules.ViewActivities, record)
	if err != nil || raw.Check(made) != nil {
		t.Fatal(err)
	}
	list, _ := made.Lookup("units").Array().Values()
	if name := made.Lookup("topics", "0", "name").StringValue(); made.Lookup("type").Type != 0 || len(name) != 1000 ||
		len(list) != 1000 {
		t.Errorf("type %s, a name of %d bytes, %d units", made.Lookup("type"), len(name), len(list))
	}
}

func TestSet(t *testing.T) {
	tests := []struct{ row, made, want string }{
		{`{"_id":1}`, `{"year":1}`, `{"_id":1,"_list":{"year":1}}`},
		{`{"_id":1,"_list":{"public":true}}`, ``, `{"_id":1}`},
		{`{"_list":7,"_id":1}`, `{"year":1}`, `{"_list":{"year":1},"_id":1}`},
		{`{"_id":1}`, ``, `{"_id":1}`},
	}
	for _, tt := range tests {
		var made bson.Raw
		if tt.made != "" {
			made = parse(t, tt.made)
		}
		got, err := mark.Set(parse(t, tt.row), made)
		if s := string(ejson.AppendDocument(nil, got)); s != tt.want || err != nil {
			t.Errorf("%s with %s: got %s, %v", tt.row, tt.made, s, err)
		}
	}
}

func TestOf(t *testing.T) {
	if m := mark.Of(parse(t, `{"_id":1,"_list":{"year":2021}}`)); m.Lookup("year").Int32() != 2021 {
		t.Errorf("got %s", m)
	}
	for _, row := range []string{`{"_id":1}`, `{"_list":true}`, `{"a":{"_list":{}}}`} {
		if m := mark.Of(parse(t, row)); m != nil {
			t.Errorf("%s has the mark %s", row, m)
		}
	}
}

// FuzzMake: every record has a valid mark or none, in every view and as any part of the directory,
// and the same one each time. A malformed record does no harm.
func FuzzMake(f *testing.F) {
	f.Add(
		[]byte(
			parse(f,
				`{"username":"ann","units":[{"unit":"A"}],"authors":[{"user":"ann","units":"A"}],"projects":[1],`+
					`"id":"A","parent":"A","public":true,"name":"P","year":"2020"}`)))
	f.Add(
		[]byte(
			parse(f,
				`{"catalog":{"topics":[[{"id":"T"}]]},"start":{"$date":{"$numberLong":"-99999999999999999"}},`+
					`"editors":{"a":1}}`)))
	o := options(f, public)
	f.Fuzz(func(t *testing.T, record []byte) {
		docs := []bson.Raw{record, record}
		malformed := raw.Check(record) != nil
		d := mark.NewDirectory(o, docs, docs, docs)
		for _, view := range views {
			made, _, err := d.Make(view, record)
			if malformed {
				continue
			}
			if made != nil && raw.Check(made) != nil {
				t.Errorf("%s: %x gives %x", view, record, []byte(made))
			}
			if again, _, _ := d.Make(view, record); string(again) != string(made) || err != nil {
				t.Errorf("%s: %s and then %s (%v)", view, made, again, err)
			}
		}
	})
}

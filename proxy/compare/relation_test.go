package compare

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/rules/access"
)

// TestRelations: each relation holds of the values that it names, and not of a mistake that looks like them.
func TestRelations(t *testing.T) {
	asked := func(target, old, new string) *answers {
		return &answers{exchange: exchange{request: Request{"GET", target},
			old: Answer{Status: 200, Body: []byte(old)},
			new: Answer{Status: 200, Type: "application/json", Body: []byte(new)}}}
	}
	restrictedAnswer := asked("/api/projects", `{"count":1,"data":[{}]}`, `{"count":0,"data":[]}`)
	restrictedAnswer.new.Restricted = true
	partly := asked("/api/projects", `{"count":2,"data":[{},{}]}`, `{"count":1,"data":[{}]}`)
	partly.new.Restricted = true
	bothRestricted := asked("/api/projects?limit=2", `{"limit":2,"count":0,"data":[]}`, `{"count":0,"data":[]}`)
	bothRestricted.old.Restricted, bothRestricted.new.Restricted = true, true
	hides := asked("/api/users/1?columns[]=mail", "", "")
	hides.new.Body = []byte(`{"status":400,"count":0,"error":"WrongCall","msg":"columns[]: mail is not public"}`)
	fields, err := access.NewFields([]string{"mail", "a.b", "private_*"})
	if err != nil {
		t.Fatal(err)
	}
	hides.more = &evidence{hidden: fields.Hides}
	read := asked("/lists/x", "", "")
	read.old.Received, read.new.Received = time.Unix(1e9, 0), time.Unix(1e9, 0)
	read.old.Modified, read.new.Modified = time.Unix(1e9-1, 0), time.Unix(1e9-5, 0)
	read.times = [2]string{"2026-03-05T14:30:00Z", "2026-04-06T14:30:00+02:00"}
	item, elsewhere := *read, *read
	item.request.Target, elsewhere.request.Target = "/items/64a0.json", "/itemsets"
	rss := func(published, built string) string {
		const day = "Sun, 09 Sep 2001 "
		return "    <pubDate>" + day + published + "</pubDate>     <lastBuildDate>" + day + built + "</lastBuildDate>"
	}
	none := asked("/api/activities?aggregate=year", "", "")
	days := asked("/api/html", "", "")
	days.more = &evidence{records: &records{partials: map[string][]partial{"1": {{2023, 4}, {2022, 0}}}}}
	const file = `<a class="file-link" data-title="File: a.pdf" href="/osiris/uploads/64a0.pdf"> ` +
		`<i class="ph ph-file ph-file-pdf"> </i> </a>`
	words := func(old, new string) Difference {
		return Difference{Kind: Words, Old: old, New: new, record: "1", about: days}
	}
	values := func(was, is string) Difference {
		return Difference{Kind: FieldChanged, was: value(was), is: value(is), Old: show(value(was)),
			New: show(value(is))}
	}
	ofElement := func(was, is, body string) Difference {
		d := values(was, is)
		d.Path, d.Row, d.about = "$.data[0].a[1].last", keyOf(value(`"1"`)), asked("/api/x", "", body)
		return d
	}
	in := func(a *answers, kind Kind, path, old, new string) Difference {
		return Difference{Kind: kind, Path: path, Old: old, New: new, about: a}
	}
	for _, tt := range []struct {
		relation string
		d        Difference
		holds    bool
	}{
		{"number as text", values(`17`, `"17"`), true},
		{"number as text", values(`"2023"`, `2023`), true},
		{"number as text", values(`17`, `"017"`), true},
		{"number as text", values(`17.5`, `" 17.50"`), true},
		{"number as text", values(`17`, `"18"`), false},
		{"number as text", values(`17`, `"17a"`), false},
		{"number as text", values(`0`, `"-0"`), true},
		{"number as text", values(`9007199254740993`, `"9007199254740992"`), false},
		{"number as text", values(`1.2345678901234567e+19`, `"12345678901234567890"`), true},
		{"number as text", values(`true`, `"1"`), false},
		{"number as text", values(`"a"`, `"b"`), false},
		{"zero for false", values(`false`, `0`), true},
		{"zero for false", values(`false`, `1`), false},
		{"null for empty", values(`null`, `[]`), true},
		{"null for empty", values(`null`, `["a"]`), false},
		{"no web address", values(`"javascript:alert(1)"`, `null`), true},
		{"no web address", values(`"https://doi.org/10.1/x"`, `null`), false},
		{"unknown unit", values(`"Unknown Unit"`, `"Unit not found"`), true},
		{"unknown unit", values(`"Botany"`, `"Unit not found"`), false},
		{"same id", values(`"/activities/view/64a0"`, `"/activity/64a0"`), true},
		{"same id", values(`"/osiris/profile/ada"`, `"/osiris/person/ada"`), true},
		{"same id", values(`"/activities/view/64a0"`, `"/activity/64a1"`), false},
		{"same id", values(`"/activities/view/64a0"`, `"/person/64a0"`), false},
		{"same id", values(`"/activities/view/64a0"`, `"https://other.example/activity/64a0"`), false},
		{"same id", values(`"/activities/view/64a0"`, `"/activities/view/0000"`), false},
		{"same identifier", values(`"https://dx.doi.org/10.1/a"`, `"https://doi.org/10.1/a"`), true},
		{"same identifier", values(`"https://dx.doi.org/10.1/a"`, `"https://doi.org/10.1/b"`), false},
		{"same identifier", values(`"https://dx.doi.org/10.1/a"`, `"https://doi.example/10.1/a"`), false},
		{"same identifier", values(`"https://www.ncbi.nlm.nih.gov/pubmed/12"`,
			`"https://pubmed.ncbi.nlm.nih.gov/12/"`), true},
		{"same identifier", values(`"https://www.ncbi.nlm.nih.gov/pubmed/12"`,
			`"https://pubmed.ncbi.nlm.nih.gov/13/"`), false},
		{"same url", values(`"https://x.example/a b"`, `"https://x.example/a%20b"`), true},
		{"same url", values(`"https://x.example/a b"`, `"https://x.example/a%2520b"`), false},
		{"same url", values(`"https://x.example/a/b"`, `"https://x.example/a%2Fb"`), false},
		{"same url", values(`"5 %20 b"`, `"5   b"`), false},
		{"style", Difference{Kind: Attribute, Path: "$.a b@style", Old: "color: red"}, true},
		{"style", Difference{Kind: Attribute, Path: "$.a b@style", Old: "color: red", New: "color: blue"}, false},
		{"style", Difference{Kind: Attribute, Path: "$.a b@class", Old: "color"}, false},
		{"link of the row", Difference{Kind: Tag, New: `<a href="/activity/1">`, record: "1"}, true},
		{"link of the row", Difference{Kind: Tag, New: `<a href="/activity/2">`, record: "1"}, false},
		{"link of the row", Difference{Kind: Tag, New: `<a href="/activity/1"> <b>`, record: "1"}, false},
		{"link of a person", Difference{Kind: Tag, Old: `<a href="/person/1">`}, true},
		{"link of a person", Difference{Kind: Tag, Old: `<a href="/activity/1">`}, false},
		{"link of a person", Difference{Kind: Tag, Old: `<a href="/person/1">`, New: "<b>"}, false},
		{"link of a person", Difference{Kind: Words, Old: `<a href="/person/1"> Doe`}, false},
		{"file icon", Difference{Kind: Tag, Old: file}, true},
		{"file icon", Difference{Kind: Tag, Old: file + " " + file}, true},
		{"file icon", Difference{Kind: Tag, Old: file, Path: "$.data[0].icon span>a"}, false},
		{"file icon", Difference{Kind: Tag, Old: file, New: file + " " + file}, false},
		{"file icon", Difference{Kind: Tag, Old: strings.Replace(file, "/uploads/", "/activity/", 1)}, false},
		{"file icon", Difference{Kind: Tag, Old: `<i class="ph ph-file ph-file-pdf"> </i>`}, false},
		{"file icon", Difference{Kind: Words, Old: strings.Replace(file, "</i>", "a </i>", 1)}, false},
		{"badge", Difference{Kind: Tag, Old: `<span class="badge no-wrap" style="color: red">`}, true},
		{"badge", Difference{Kind: Tag, Old: `</span>`}, true},
		{"badge", Difference{Kind: Tag, Old: `<span class="badge" onclick="x()">`}, false},
		{"badge", Difference{Kind: Tag, Old: `<a class="badge">`}, false},
		{"bare id", Difference{Kind: Words, Old: "64b000000000000000000001,"}, true},
		{"bare id", Difference{Kind: Words, Old: "(64b000000000000000000001).", New: "()."}, true},
		{"bare id", Difference{Kind: Words, Old: "64b000000000000000000001,", New: "Bonn,"}, false},
		{"bare id", Difference{Kind: Words, Old: "Bonn,"}, false},
		{"region", words("Germany.", "DE."), true},
		{"region", words("(Deutschland)", "(DE)"), true},
		{"region", words("France.", "DE."), false},
		{"region", words("Bonn", "DE"), false},
		{"day unknown", words("(01.04.2023)", "(04.2023)"), true},
		{"day unknown", words("01.01.2022.", "2022."), true},
		{"day unknown", words("(01.05.2023)", "(05.2023)"), false},
		{"day unknown", words("(02.04.2023)", "(04.2023)"), false},
		{"day unknown", words("(01.04.2023)", "(05.2023)"), false},
		{"day unknown", words("01.04.2023 Doe", "04.2023 Roe"), false},
		{"day unknown", words("01.01.2023", "2023"), false},
		{"status of the envelope", in(asked("/", `{"status":404}`, `{"status":404}`), Status, "HTTP", "200", "404"),
			false},
		{"no filter", in(none, Status, "", "500", "200"), false}, // no side can be asked
		{"no filter", in(none, Status, "", "200", "500"), false},
		{"no filter", in(asked("/api/x?aggregate=a&json={}", "", ""), Status, "", "500", "200"), false},
		{"restricted", in(restrictedAnswer, RowMissing, "$.data[0]", "{}", ""), true},
		{"restricted", in(restrictedAnswer, Count, "$.count", "1", "0"), true},
		{"restricted", in(restrictedAnswer, FieldMissing, "$.msg", "1", ""), false},
		{"restricted", in(bothRestricted, FieldMissing, "$.limit", "2", ""), false},
		{"restricted", in(partly, RowMissing, "$.data[1]", "{}", ""), false},
		{"hidden field", in(hides, FieldMissing, "$.data[3].mail", "x", ""), true},
		{"hidden field", in(hides, FieldMissing, "$.data.a.b", "x", ""), true},
		{"hidden field", in(hides, FieldMissing, "$.data.a", "x", ""), false},
		{"hidden field", in(hides, FieldMissing, "$.data[3].authors[0].Mail", "x", ""), true},
		{"hidden field", in(hides, FieldMissing, "$.data.private_phone", "x", ""), true},
		{"hidden field", in(hides, FieldMissing, "$.data.mailbox", "x", ""), false},
		{"hidden field", in(hides, FieldMissing, "$.count", "x", ""), false},
		{"hidden field", in(hides, FieldChanged, "$.data.mail", "x", "y"), false},
		{"hidden field", in(hides, Status, "", "200", "400"), true},
		{"hidden field", in(hides, Status, "", "200", "404"), false},
		{"hidden field", in(asked("/api/users/1?columns[]=mail", "", "{}"), Status, "", "200", "400"), false},
		{"wrong parameter", in(hides, Status, "", "200", "400"), true},
		{"wrong parameter", in(asked("/api/users/1?json=1", "", `{"status":400,"count":0,"error":"WrongCall",
			"msg":"limit: want a number"}`), Status, "", "200", "400"), false},
		{"wrong parameter", in(asked("/api/users/1?json=1", "", `{"status":400,"count":0,"error":"X",
			"msg":"json: want JSON"}`), Status, "", "200", "400"), false},
		{"element", ofElement(`["A","B"]`, `"B"`, `{"data":[{"id":"1","a":[{"last":"A"},{},{"last":"B"}]}]}`), true},
		{"element", ofElement(`["A","B"]`, `"B"`, `{"data":[{"id":"1","a":[{"last":"B"},{"last":"A"}]}]}`), false},
		{"element", ofElement(`["A","B"]`, `"X"`, `{"data":[{"id":"1","a":[{"last":"A"},{"last":"X"}]}]}`), false},
		{"error message", in(asked("/", `{"status":404,"error":"A","msg":"x"}`,
			`{"status":404,"error":"A","msg":"y"}`), FieldChanged, "$.msg", "x", "y"), true},
		{"error message", in(asked("/", `{"status":404,"error":"A","msg":"x"}`,
			`{"status":404,"error":"B","msg":"y"}`), FieldChanged, "$.msg", "x", "y"), false},
		{"error message", in(asked("/", `{"msg":"x"}`, `{"msg":"y"}`), FieldChanged, "$.msg", "x", "y"), false},
		{"as asked", in(asked("/api/x?limit=5", "", ""), FieldAdded, "$.limit", "", "5"), true},
		{"as asked", in(asked("/api/x?limit=5", "", ""), FieldAdded, "$.limit", "", "6"), false},
		{"instant", in(read, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "2001-09-09T01:46:35.9Z"), true},
		{"instant", in(read, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "2001-09-09T01:46:36Z"), false},
		{"instant", in(read, FieldChanged, "$.as_of", "2031-09-09T01:46:39Z", "2001-09-09T01:46:35Z"), false},
		{"instant", in(read, Text, "", "<updated>2001-09-09T01:46:39Z</updated>",
			"<updated>2001-09-09T01:46:35Z</updated>"),
			true},
		{"instant", in(read, Text, "", "<updated>2001-09-09T01:46:39Z</updated>",
			"<updated>2001-09-09T01:46:20Z</updated>"), // of another view than the newest one
			true},
		{"instant", in(read, Text, "", "<updated>2001-09-09T01:46:39Z</updated>",
			"<updated>2001-09-09T01:46:36Z</updated>"),
			false},
		{"instant", in(read, Text, "", "<updated>2001-09-09T01:46:39Z</updated>",
			"<updated>2001-08-09T01:46:35Z</updated>"),
			false},
		{"instant", in(read, Text, "", rss("01:46:39 +0000", "01:46:39 +0000"),
			rss("01:46:35 +0000", "01:46:35 +0000")),
			true},
		{"instant", in(read, Text, "", rss("01:46:39 +0000", "03:46:39 +0200"),
			rss("03:46:35 +0200", "01:46:35 +0000")),
			true},
		{"instant", in(read, Text, "", rss("01:46:39 +0000", "01:46:39 +0000"),
			rss("01:46:35 +0000", "01:46:36 +0000")),
			false},
		{"instant", in(read, Text, "", rss("01:46:39 +0000", "01:46:39 +0000"),
			rss("01:46:35 +0000", "01:46:35 +0000")+
				" <title>a</title>"), false},
		{"instant", in(read, Text, "", rss("01:46:39 +0000", "01:46:39 +0000"), ""), false},
		{"instant", in(read, FieldChanged, "$.items[3].date_published", "2001-09-09T01:46:39Z", "2001-09-09T01:46:35Z"),
			true},
		{"instant", in(read, FieldChanged, "$.items[3].date_published", "2001-09-09T01:46:39Z", "2001-09-09T01:46:36Z"),
			false},
		{"instant", in(&item, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "2001-09-09T01:46:35Z"), true},
		{"instant", in(&elsewhere, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "2001-09-09T01:46:35Z"), false},
		{"instant", in(read, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "2001-09-03T01:46:35Z"), true},
		{"instant", in(read, FieldChanged, "$.as_of", "2001-09-09T01:46:39Z", "1990-01-01T00:00:00Z"), false},
		{"instant", in(read, FieldChanged, "$.as_of", "1990-01-01T00:00:00Z", "2001-09-09T01:46:35Z"), true},
		{"instant", in(read, FieldChanged, "$.as_of", "1990-01-01T00:00:00Z", "1989-12-29T01:46:35Z"), true},
		{"instant", in(read, Attribute, "html>body>footer>p>time@datetime", "2001-09-09T01:46:39Z",
			"1990-01-01T00:00:00Z"), false},
		{"instant", in(read, FieldChanged, "$.at", "2001-09-09T01:46:39Z", "2001-09-09T01:46:35Z"), false},
		{"instant", in(read, Words, "html>body>footer>p>time", "5 March", "6 April"), true},
		{"instant", in(read, Words, "html>body>footer>p>time", "5. März", "6. April"), true},
		{"instant", in(read, Words, "html>body>footer>p>time", "5 March", "7 April"), false},
	} {
		if got := relationNamed(tt.relation).holds(tt.d); got != tt.holds {
			t.Errorf("%s of %q and %q (%s): %v", tt.relation, tt.d.Old, tt.d.New, tt.d.Path, got)
		}
	}
	envelopes := asked("/", `{"status":404}`, `{"status":404}`)
	if envelopes.new.Status = http.StatusNotFound; !ofEnvelope(in(envelopes, Status, "HTTP", "200", "404")) {
		t.Error("the status of the envelope")
	}
	names := map[string]bool{}
	for _, r := range relations() {
		if names[r.name] || r.says == "" || relationNamed(r.name) == nil {
			t.Errorf("relation %q", r.name)
		}
		names[r.name] = true
	}
}

// FuzzRelations: no relation panics, or holds of equal values, whatever they are.
func FuzzRelations(f *testing.F) {
	for _, text := range []string{"", `"`, "null", "-", `"1"`, "<a href", "01.01.2023", "https://doi.org/10.1/%",
		"\xff", "DE", strings.Repeat("9", 400), "$.data[9999999999999999999].a", `{"$oid":1}`} {
		f.Add(text, text+"x", text)
	}
	f.Fuzz(func(t *testing.T, old, new, path string) {
		a := &answers{exchange: exchange{request: Request{"GET", "/api/activities?limit=1&offset=" + path},
			old: Answer{Status: 200, Body: []byte(old)},
			new: Answer{Status: 200, Body: []byte(new), Restricted: true}}}
		a.work.ended = t.Context().Err
		a.emit = func(Difference) {}
		for _, kind := range kinds {
			d := Difference{Kind: kind, Path: path, Old: old, New: new, about: a, record: old}
			if old := documents([]byte(old)); len(old) > 0 {
				d.was = old[0]
			}
			if new := documents([]byte(new)); len(new) > 0 {
				d.is = new[0]
			}
			for _, r := range relations() {
				r.holds(d)
			}
			d.about = nil
			for _, r := range relations() {
				r.holds(d)
			}
		}
	})
}

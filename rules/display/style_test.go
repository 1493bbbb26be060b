package display_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/label"
	"vitrine/rules/markup"
)

// parse reads a document written as Extended JSON.
func parse(t testing.TB, json string) bson.Raw {
	t.Helper()
	doc, err := ejson.Parse([]byte(json), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func style(t testing.TB, lang string) display.Style {
	t.Helper()
	sets, err := label.Parse("labels.yaml", []byte(`
project-type: {third-party: {en: Third-party, de: Drittmittel}}
funder: {eu: {en: European <Union>, de: Europäische Union}}
topic: {lowres: {en: Low & slow, de: Langsam}}
text: {today: {en: today, de: heute}}
`))
	if err != nil {
		t.Fatal(err)
	}
	return display.Style{Labels: sets, Lang: lang}
}

func TestAppend(t *testing.T) {
	const resolved = `,"_resolved":{"organizations":[{"ref":"245d6cb04265c77322a34969","id":"245d6cb04265c77322a34969","name":"Moon & Sons"}],
		"persons":[{"user":"ann","name":"Ann Ada"}]}`
	tests := []struct{ name, field, value, lang, want string }{
		{"null", "acronym", `null`, "en", `"-"`},
		{"empty string", "title", `""`, "en", `"-"`},
		{"empty array", "tags", `[]`, "en", `"-"`},
		{"empty document", "timeline", `{}`, "en", `"-"`},
		{"array of empties", "units", `["",null]`, "en", `"-"`},
		{"zero is a value", "budget", `0`, "en", `0`},
		{"false is a value", "subproject", `false`, "en", `false`},
		{"number", "year", `2020`, "en", `2020`},
		{"text", "name", `"A & B's \"C\""`, "en", `"A & B's \"C\""`},
		{"title with markup", "title", `"<i>In situ</i> & <script>x</script>"`, "en",
			`"<i>In situ</i> &amp; &lt;script&gt;x&lt;/script&gt;"`},
		{"unclosed markup", "title", `"<b onclick='x'>bold"`, "en", `"<b>bold</b>"`},
		{"start", "start_date", `"2020-02-30"`, "de", `"2020-02-30"`},
		{"start as a date", "start_date", `{"$date":"2020-02-01T00:00:00Z"}`, "de",
			`{"$date":"2020-02-01T00:00:00Z"}`},
		{"no start", "start_date", `null`, "de", `"-"`},
		{"another date", "created", `{"$date":"2020-02-01T10:00:00Z"}`, "de", `"2020-02-01T10:00:00Z"`},
		{"id", "proposal_id", `{"$oid":"245d6cb04265c77322a34969"}`, "en", `"245d6cb04265c77322a34969"`},
		{"decimal", "budget", `{"$numberDecimal":"1.50"}`, "en", `"1.50"`},
		{"type", "type", `"third-party"`, "en", `"Third-party"`},
		{"type in German", "type", `"third-party"`, "de", `"Drittmittel"`},
		{"unknown type", "type", `"fourth"`, "de", `"fourth"`},
		{"several funders", "funder", `["eu","dfg"]`, "de", `"Europäische Union, dfg"`},
		{"label with a bracket", "funder", `"eu"`, "en", `"European &lt;Union&gt;"`},
		{"type as a number", "type", `7`, "en", `"7"`},
		{"persons", "persons",
			`[{"user":"bob","name":"Bob B."},{"user":"ann"},{"user":"eve"},{"first":"F","last":"L"},{}]`, "en",
			`"Bob B., Ann Ada, eve, F L"`},
		{"persons as usernames", "persons", `["ann","bob"]`, "en", `"Ann Ada, bob"`},
		{"persons by one field", "persons", `[{"role":"PI"},{"role":"worker"}]`, "en", `"PI, worker"`},
		{"one unwound person", "persons", `{"user":"bob","name":"Bob B."}`, "en", `"Bob B."`},
		{"persons without names", "persons", `[{}]`, "en", `"-"`},
		{"contact", "contact", `"ann"`, "en", `"Ann Ada"`},
		{"contact without a record", "contact", `"eve"`, "en", `"eve"`},
		{"supervisors", "supervisor", `["ann",{"user":"bob","name":"Bob <i>B.</i>"}]`, "en",
			`"Ann Ada, Bob &lt;i&gt;B.&lt;/i&gt;"`},
		{"start in parts", "start", `{"year":2022,"month":7,"day":1}`, "de", `"01.07.2022"`},
		{"end as a month", "end", `{"year":2022,"month":11,"day":null}`, "en", `"11.2022"`},
		{"end as a date", "end", `{"$date":"2022-07-01T00:00:00Z"}`, "en", `"01.07.2022"`},
		{"start as text", "start", `"2022-07-01"`, "en", `"01.07.2022"`},
		{"start in words", "start", `"<b>soon</b>"`, "en", `"<b>soon</b>"`},
		{"start of a missing date", "start", `{"hour":1}`, "en", `"-"`},
		{"funding numbers", "funding_number", `["A 1","<b>",7]`, "en", `"A 1, &lt;b&gt;, 7"`},
		{"one funding number", "funding_number", `7`, "en", `7`},
		{"units", "units", `["MOTH","LAMP"]`, "de", `"MOTH, LAMP"`},
		{"one unit", "units", `"MOTH"`, "de", `"MOTH"`},
		{"units as objects", "units", `[{"unit":"MOTH"},{"id":"LAMP"},{"scientific":true}]`, "de",
			`"MOTH, LAMP, true"`},
		{"topics", "topics", `["lowres","speech"]`, "en",
			`"<span class='badge'>Low &amp; slow</span> <span class='badge'>speech</span>"`},
		{"tags", "tags", `["<b>EU</b>"]`, "en", `"<span class='badge'>&lt;b&gt;EU&lt;/b&gt;</span>"`},
		{"topic as an object", "topics", `[{"id":"a","name":"A"}]`, "en", `"<span class='badge'>A</span>"`},
		{"organisation", "funding_organization", `{"$oid":"245d6cb04265c77322a34969"}`, "en",
			`"<a href='/organizations/view/245d6cb04265c77322a34969'>Moon &amp; Sons</a>"`},
		{"unknown organisation", "scholarship", `{"$oid":"345d6cb04265c77322a34969"}`, "en",
			`"345d6cb04265c77322a34969"`},
		{"organisation in words", "scholarship", `"A & <B>"`, "en", `"A &amp; &lt;B&gt;"`},
		{"array", "timeline", `[{"event":"<b>\"kick\"</b>","n":1}]`, "en",
			`"[{\"event\":\"\\u003cb\\u003e\\\"kick\\\"\\u003c/b\\u003e\",\"n\":1}]"`},
		{"document", "workflow", `{"status":"x"}`, "en", `"{\"status\":\"x\"}"`},
		{"not a number", "budget", `{"$numberDouble":"NaN"}`, "en", `"{\"$numberDouble\":\"NaN\"}"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := parse(t, `{"value":`+tt.value+resolved+`}`)
			got := string(style(t, tt.lang).Append(nil, tt.field, row.Lookup("value"), row))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestDayInZone: a point in time has its day in the zone of the style.
func TestDayInZone(t *testing.T) {
	s := style(t, "en")
	s.Zone = time.FixedZone("east", 3600)
	row := parse(t, `{"start_date":{"$date":"2020-01-01T23:00:00Z"},"start":{"$date":"2020-01-01T23:00:00Z"}}`)
	if got := s.DateRange(row); got != "2020-01-02" {
		t.Errorf("the range is %q", got)
	}
	if got := string(s.Append(nil, "start", row.Lookup("start"), row)); got != `"02.01.2020"` {
		t.Errorf("the start is %s", got)
	}
}

func TestDateRange(t *testing.T) {
	tests := []struct{ name, doc, lang, want string }{
		{"both", `{"start_date":"2020-01-01","end_date":"2021-12-31"}`, "en", "2020-01-01 - 2021-12-31"},
		{"one day", `{"start_date":"2020-01-01","end_date":"2020-01-01"}`, "en", "2020-01-01"},
		{"running", `{"start_date":"2020-01-01","end_date":null}`, "en", "2020-01-01 - today"},
		{"running in German", `{"start_date":"2020-01-01","end_date":null}`, "de", "2020-01-01 - heute"},
		{"no end", `{"start_date":"2020-01-01"}`, "en", "2020-01-01"},
		{"no start", `{"end_date":"2020-01-01"}`, "en", "2020-01-01"},
		{"neither", `{"end_date":null}`, "en", "-"},
		{"dates", `{"start_date":{"$date":"2020-01-01T23:00:00Z"},"end_date":"2021-02"}`, "en",
			"2020-01-01 - 2021-02"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := style(t, tt.lang).DateRange(parse(t, tt.doc)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPeople(t *testing.T) {
	const names = `,"_resolved":{"persons":[{"user":"ann","name":"Ann Ada"}]}}`
	tests := []struct{ name, doc, want string }{
		{"applicant in words", `{"applicant":"Ann","contact":""` + names, "Ann"},
		{"contact", `{"applicant":"Bo","contact":"ann","supervisor":"bob"` + names, "Ann Ada"},
		{"supervisor before the stored applicant", `{"applicant":"Bo","supervisor":"ann"` + names, "Ann Ada"},
		{"unknown contact", `{"contact":"bob"` + names, "bob"},
		{"supervisor", `{"supervisor":{"user":"ann"}` + names, "Ann Ada"},
		{"supervisors", `{"supervisor":["ann","bob"]` + names, "Ann Ada, bob"},
		{"no person", `{"contact":null` + names, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := display.Applicant(parse(t, tt.doc)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := display.Texts(parse(t, `{"n":["A,B",7,"",null,{}]}`).Lookup("n")); strings.Join(got, ";") != "A,B;7" {
		t.Errorf("Texts = %q", got)
	}
	got := display.Persons(parse(t, `{"persons":[{"user":"ann"},{"user":"bob","name":"Bob, Jr."}]`+names))
	if strings.Join(got, ";") != "Ann Ada;Bob, Jr." {
		t.Errorf("Persons = %q", got)
	}
}

// For any stored value the output is valid JSON, and the allow-list would remove nothing from the
// HTML fields.
func TestAppendIsSafe(t *testing.T) {
	s := style(t, "en")
	hostile := rapid.StringOf(rapid.RuneFrom([]rune(`<>&'"/=ab; \`)))
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom([]string{"topics", "tags", "scholarship", "funding_organization"}).Draw(t, "field")
		ref := hostile.Draw(t, "ref")
		org, err := bson.Marshal(bson.D{{Key: "_id", Value: ref}, {Key: "name", Value: hostile.Draw(t, "name")}})
		if err != nil {
			t.Fatal(err)
		}
		record, err := bson.Marshal(
			bson.D{{Key: field, Value: bson.A{ref, hostile.Draw(t, "other"), time.Unix(0, 0)}}})
		if err != nil {
			t.Fatal(err)
		}
		row := record
		if resolved := display.NewDirectory([]bson.Raw{org}, nil).Resolve(record); resolved != nil {
			row, err = bson.Marshal(bson.D{{Key: field, Value: bson.Raw(record).Lookup(field)},
				{Key: display.Reserved, Value: resolved}})
			if err != nil {
				t.Fatal(err)
			}
		}
		var html string
		if err := json.Unmarshal(s.Append(nil, field, bson.Raw(row).Lookup(field), row), &html); err != nil {
			t.Fatal(err)
		}
		if markup.Clean(html) != html {
			t.Errorf("%q would be cleaned to %q", html, markup.Clean(html))
		}
	})
}

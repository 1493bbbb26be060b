package render_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
	"vitrine/rules/render"
)

// fresh renders an activity as if it had no rendered document.
func fresh(r *render.Rules, doc bson.Raw, o render.Options) (bson.Raw, error) {
	var b raw.Builder
	if err := b.Copy(doc, func(name string) bool { return name != "rendered" }); err != nil {
		return r.Complete(doc, o)
	}
	return r.Complete(b.Document(), o)
}

func TestQuarter(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"one day", `{"start_date": "2023-02-01", "end_date": "2023-02-01"}`, "2023Q1"},
		{"no end", `{"start_date": "2023-02-01"}`, "2023Q1"},
		{"same quarter", `{"start_date": "2023-01-01", "end_date": "2023-03-31"}`, "2023Q1"},
		{"same year", `{"start_date": "2023-02-01", "end_date": "2023-07-01"}`, "2023Q1 - Q3"},
		{"two years", `{"start_date": "2023-12-30", "end_date": "2024-01-02"}`, "2023Q4 - 2024Q1"},
		{"same quarter of another year", `{"start_date": "2023-01-30", "end_date": "2024-01-02"}`, "2023Q1 - 2024Q1"},
		{"running", `{"start_date": "2023-02-01", "end_date": null}`, "2023Q1 - today"},
		{"running by year and month", `{"year": 2023, "month": 2, "end_date": null}`, "2023Q1 - today"},
		{"empty end", `{"start_date": "2023-02-01", "end_date": ""}`, "2023Q1"},
		{"end before start", `{"start_date": "2023-02-01", "end_date": "2022-02-01"}`, "2023Q1"},
		{"month only", `{"start_date": "2023-11"}`, "2023Q4"},
		{"year only", `{"start_date": "2023"}`, ""},
		{"year of the start, month of the record", `{"start_date": "2023", "year": 2023, "month": 5}`, "2023Q2"},
		{"year and month", `{"year": 2023, "month": 9}`, "2023Q3"},
		{"year and month as text", `{"year": "2023", "month": "9"}`, "2023Q3"},
		{"year as double", `{"year": 2023.0, "month": 9.0}`, "2023Q3"},
		{"BSON date", `{"start_date": {"$date": "2023-04-01T00:00:00Z"}}`, "2023Q2"},
		{"parts", `{"start_date": {"year": 2023, "month": 4, "day": 1}, "end_date": {"year": "2023", "month": "12"}}`,
			"2023Q2 - Q4"},
		{"with time", `{"start_date": "2023-04-01T10:00:00+02:00"}`, "2023Q2"},
		{"impossible month", `{"start_date": "2023-13-01"}`, ""},
		{"impossible day", `{"start_date": "2023-02-31"}`, "2023Q1"},
		{"words", `{"start_date": "in spring", "end_date": "2023-01-01"}`, ""},
		{"nothing", `{}`, ""},
		{"only running", `{"end_date": null}`, ""},
		{"year out of range", `{"year": 123456, "month": 1}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, "{quarter}", tt.doc, "en"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDateRange(t *testing.T) {
	for _, tt := range []struct{ name, doc, en, de string }{
		{"a day", `{"start_date": "2022-05-14"}`, "14 May 2022", "14. Mai 2022"},
		{"days of a month", `{"start_date": "2022-05-14", "end_date": "2022-05-16"}`, "14–16 May 2022",
			"14.–16. Mai 2022"},
		{"days of a year", `{"start_date": "2022-04-28", "end_date": "2022-05-02"}`, "28 Apr – 2 May 2022",
			"28. Apr. – 2. Mai 2022"},
		{"days of two years", `{"start_date": "2022-12-30", "end_date": "2023-01-02"}`, "30 Dec 2022 – 2 Jan 2023",
			"30. Dez. 2022 – 2. Jan. 2023"},
		{"a month", `{"start_date": "2022-03"}`, "Mar 2022", "März 2022"},
		{"months", `{"start_date": "2022-03", "end_date": "2022-06"}`, "Mar – Jun 2022", "März – Juni 2022"},
		{"months of two years", `{"start_date": "2022-11", "end_date": "2023-02"}`, "Nov 2022 – Feb 2023",
			"Nov. 2022 – Feb. 2023"},
		{"years", `{"start_date": "2021", "end_date": "2023"}`, "2021–2023", "2021–2023"},
		{"mixed", `{"start_date": "2022-03-04", "end_date": "2022-06"}`, "4 Mar 2022 – Jun 2022",
			"4. März 2022 – Juni 2022"},
		{"running", `{"start_date": "2022-03-04", "end_date": null}`, "4 Mar 2022 – today", "4. März 2022 – heute"},
		{"unknown", `{"start_date": "soon"}`, "", ""},
		{"other fields",
			`{"start_date": "soon", "start": {"year": 2022, "month": 5, "day": 14}, "end": "16.05.2022"}`,
			"14–16 May 2022", "14.–16. Mai 2022"},
		{"parts", `{"year": "2022a", "month": "May", "day": "14."}`, "14 May 2022", "14. Mai 2022"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, "{date-range}", tt.doc, "en"); got != tt.en {
				t.Errorf("en: got %q, want %q", got, tt.en)
			}
			if got := printed(t, "{date-range}", tt.doc, "de"); got != tt.de {
				t.Errorf("de: got %q, want %q", got, tt.de)
			}
		})
	}
}

func TestYear(t *testing.T) {
	for stored, want := range map[string]string{
		`"2021a"`: "2021", `"[2021]"`: "2021", `2021.0`: "2021", `"c2021"`: "2021", `"2019-2020"`: "2019",
		`"in press"`: "2022", `null`: "2022", `21`: "2022",
	} {
		if got := printed(t, "{year}", `{"year": `+stored+`, "start_date": "2022-05-14"}`, "en"); got != want {
			t.Errorf("%s: got %q, want %q", stored, got, want)
		}
	}
}

func TestZone(t *testing.T) {
	r := defaultRules(t)
	doc := activity(t, `{"start_date": {"$date": "2022-12-31T23:00:00Z"}}`)
	for _, tt := range []struct {
		zone *time.Location
		want string
	}{{nil, "2022Q4"}, {time.FixedZone("CET", 3600), "2023Q1"}} {
		got, err := fresh(r, doc, render.Options{Zone: tt.zone})
		if err != nil || got.Lookup("quarter").StringValue() != tt.want {
			t.Errorf("in zone %v: %v, %v, want quarter %s", tt.zone, got, err, tt.want)
		}
	}
}

func TestPersons(t *testing.T) {
	for _, tt := range []struct{ name, authors, want string }{
		{"initials", `[{"first": "Amara Ann", "last": "Szymczak"}]`, "Szymczak,&nbsp;A. A."},
		{"initials given", `[{"first": "A.B. C", "last": "X"}]`, "X,&nbsp;A. B. C."},
		{"hyphen", `[{"first": "J.-P.", "last": "X"}, {"first": "Ji-woo", "last": "Y"}]`,
			"X,&nbsp;J. P., Y,&nbsp;J."},
		{"combining mark", "[{\"first\": \"E\u0301mile\", \"last\": \"X\"}]", "X,&nbsp;E\u0301."},
		{"particle", `[{"first": "Ivo van den", "last": "Akker"}]`, "Akker,&nbsp;I. v. d."},
		{"no first name", `[{"last": "Plato"}]`, "Plato"},
		{"no last name", `[{"first": "Plato"}]`, "Plato"},
		{"name only", `[{"name": "The Consortium"}]`, "The Consortium"},
		{"no name", `[{"user": "x"}, {"first": "", "last": null}, {"last": "Y"}]`, "Y"},
		{"markup", `[{"first": "<b>Se&aacute;n</b>", "last": "O&#39;Neil <script>x</script><and>"}]`,
			"O&#x27;Neil &lt;and&gt;,&nbsp;S."},
		{"suffix",
			`[{"last": "Costa, Jr.", "first": "P. T."}, "Costa, Paul T., III", {"last": "Costa", "suffix": "Jr."}]`,
			"Costa,&nbsp;P. T., Jr., Costa,&nbsp;P. T., III, Costa Jr."},
		{"others",
			`[{"last": "Quill", "first": "Ada"}, {"last": "Fern", "first": "Bo"}, {"last": "et al.", "first": ""}]`,
			"Quill,&nbsp;A., Fern,&nbsp;B. et al."},
		{"only others", `["et al."]`, ""},
		{"one text", `"Quill, Ada; Fern, Bo"`, "Quill,&nbsp;A., Fern,&nbsp;B."},
		{"East Asian",
			`[{"last": "王", "first": "小明"}, {"last": "Wang", "first": "Xiaoming (小明)"}, {"last": "Wang", ` +
				`"first": "小明"}]`, "王&nbsp;小明, Wang,&nbsp;X., Wang,&nbsp;小明"},
		{"titles and notes", `[{"last": "Quill*", "first": "Prof. Dr. Ada (Addie) B."}]`, "Quill,&nbsp;A. B."},
		{"affiliated", `[{"last": "A", "affiliated": true}, {"last": "B", "aoi": 1}, {"last": "C", "aoi": "1"}]`,
			"<b>A</b>, <b>B</b>, <b>C</b>"},
		{"not affiliated",
			`[{"last": "A", "affiliated": false}, {"last": "B", "aoi": 0}, {"last": "C", "aoi": "yes"}, {"last": ` +
				`"D", "aoi": {"x": 1}}]`, "A, B, C, D"},
		{"one document", `{"last": "A"}`, "A"},
		{"text", `"Doe, J. & <Co>"`, "Doe, J. &amp; &lt;Co&gt;"},
		{"mixed", `["Doe", 7, null, [{"last": "nested"}], {"last": 42}]`, "Doe, 42"},
		{"number", `17`, ""},
		{"null", `null`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, "{authors}", `{"authors": `+tt.authors+`}`, "en"); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestUsersAndOptions(t *testing.T) {
	r := defaultRules(t)
	doc := activity(t, `{"authors": [{"last": "A", "user": "a", "ours": true}, {"last": "B", "user": null}, {"last": "A", "user": "a"}, {"user": "x"}, {"last": "D", "user": ""}],
		"editors": [{"last": "C", "user": "c"}, {"last": "A", "user": "a"}, {"last": "E", "user": 5},
			{"last": "F", "user": ".."}],
		"supervisors": {"last": "G", "user": "g"}, "persons": [{"user": "x"}, {"user": "p"}],
		"organizers": [{"user": "o"}],
		"units": "ONE"}`)
	got, err := fresh(r, doc, render.Options{Affiliated: []string{"ours"}})
	if err != nil {
		t.Fatal(err)
	}
	if users := got.Lookup("users").String(); users != `["a","x","c","..","g","p"]` {
		t.Errorf("users = %s", users)
	}
	if authors := got.Lookup("authors").StringValue(); authors != "<b>A</b>, B, A, D" {
		t.Errorf("authors = %q", authors)
	}
	if units := got.Lookup("departments").String(); units != `["ONE"]` {
		t.Errorf("departments = %s", units)
	}
}

func TestComplete(t *testing.T) {
	r := defaultRules(t)
	doc := activity(t, `{"_id": "1", "type": "publication", "subtype": "article", "title": "New title", "year": 2020, "units": ["U"],
		"authors": [{"last": "A", "user": "a"}], "rendered": {"print": "Old <b onclick='x'>print</b> &amp; more", "web": "", "title": null, "type": "Software & Data",
		"users": ["stored", 5], "editors": "  ", "quarter": 7, "depts": ["x<script>y</script>"], "affiliated": true, "nested": {"html": "<img src=x>z", "n": 1}}}`)
	got, err := r.Complete(doc, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `print       Old <b>print</b> &amp; more
web         <a class='colorless' href='/activities/view/1'>New title</a><br><small class='text-muted d-block'><a href='/profile/a'>A</a> (2020)</small>
portfolio   A (2020) New title.
plain       Old print & more
title       New title
authors     A
editors     
icon        <span data-toggle='tooltip' data-title='Journal article'><i class='ph text-publication ph-newspaper'></i></span>
type        Software & Data
subtype     Journal article
quarter     
users       ["stored"]
departments ["U"]
depts       ["x"]
affiliated  true
nested      {"html": "z","n": {"$numberInt":"1"}}
`
	if list := listing(t, got); list != want {
		t.Errorf("got\n%s\nwant\n%s", list, want)
	}
	withRendered, err := bson.Marshal(bson.D{{Key: "rendered", Value: got}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Complete(withRendered, render.Options{})
	if err != nil || string(again) != string(got) {
		t.Errorf("completing twice changes the document: %v\ngot  %v\nwant %v", err, again, got)
	}
	for _, rendered := range []string{`null`, `"text"`, `[]`, `{}`, `5`} {
		doc := activity(t, `{"_id": "1", "title": "T", "rendered": `+rendered+`}`)
		got, err := r.Complete(doc, render.Options{})
		if err != nil || !strings.Contains(got.Lookup("web").StringValue(), "T") {
			t.Errorf("rendered %s: got %v, %v", rendered, got, err)
		}
	}
}

// hostileValues are values that may occur where another type is expected.
func hostileValues() []any {
	deep := any("x")
	for range 200 {
		deep = bson.D{{Key: "x", Value: bson.A{deep}}}
	}
	return []any{
		nil, true, 0, -1, int64(math.MaxInt64), math.NaN(), math.Inf(1), 1e300, "", " ", "<script>alert(1)</script>",
		"<b>", "</small></a>", "'\"><img src=x onerror=y>",
		"javascript:alert(1)", "a\x00b", "\xff\xfe", "&", "&lt;script&gt;", "<a href='javascript:x'>",
		strings.Repeat("<", 5000), strings.Repeat("<i>", 5000), "2021", "9999-99-99", "-", "..", "%s{title}",
		bson.D{}, bson.A{}, bson.A{nil, bson.A{}, "x", 1, bson.D{}},
		bson.D{{Key: "year", Value: "x"}, {Key: "year", Value: nil}}, deep,
		bson.DateTime(math.MaxInt64), bson.DateTime(math.MinInt64), bson.ObjectID{},
		bson.Binary{Data: []byte("<script>")}, bson.Regex{Pattern: "<script>"},
		bson.NewDecimal128(0, 1), bson.MinKey{}, bson.Undefined{}, bson.Symbol("<b>"), bson.JavaScript("x"),
		bson.Timestamp{T: 1},
	}
}

// checkRendered fails unless every string of a rendered document is safe.
func checkRendered(t testing.TB, rendered bson.Raw) {
	t.Helper()
	if err := rendered.Validate(); err != nil {
		t.Fatal(err)
	}
	elements, err := rendered.Elements()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range elements {
		s, ok := e.Value().StringValueOK()
		switch {
		case !ok || e.Key() == "plain":
		case !utf8.ValidString(s):
			t.Fatalf("%s is not UTF-8: %q", e.Key(), s)
		case markup.Clean(s) != s:
			t.Fatalf("%s is not clean: %q", e.Key(), s)
		}
	}
}

func TestHostileValues(t *testing.T) {
	r := defaultRules(t)
	fields := []string{"_id", "type", "subtype", "title", "authors", "editors", "units", "year", "month", "day",
		"start_date", "end_date", "volume", "issue", "pages",
		"book", "journal", "conference", "location", "doi", "link", "epub", "supervisors", "rendered"}
	inPerson := []string{"first", "last", "name", "user", "affiliated", "aoi"}
	for i, v := range hostileValues() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			docs := []bson.D{nil}
			for _, f := range fields {
				docs[0] = append(docs[0], bson.E{Key: f, Value: v})
				docs = append(docs,
					bson.D{{Key: "type", Value: "publication"}, {Key: "title", Value: "T"}, {Key: f, Value: v}})
			}
			for _, f := range inPerson {
				docs = append(docs,
					bson.D{{Key: "authors", Value: bson.A{bson.D{{Key: "last", Value: "A"}, {Key: f, Value: v}}}}})
			}
			for _, key := range []string{"print", "web", "plain", "users", "icon", "other"} {
				docs = append(docs, bson.D{{Key: "rendered", Value: bson.D{{Key: key, Value: v}}}})
			}
			for _, d := range docs {
				raw, err := bson.Marshal(d)
				if err != nil {
					t.Fatal(err)
				}
				rendered, err := r.Complete(raw, render.Options{Language: "de"})
				if err != nil {
					t.Fatal(err)
				}
				checkRendered(t, rendered)
			}
		})
	}
}

func TestUnsafeLinksAreLeftOut(t *testing.T) {
	for _, link := range []string{"javascript:alert(1)", "data:text/html,x", "//example.org/x", "/local",
		"vbscript:x", "not a link"} {
		if got := printed(t, "{title} {link:link} <a href='{link}'>x</a> {doi:link}",
			fmt.Sprintf(`{"title": "T", "link": %q, "doi": %q}`, link, link), "en"); got != "T x" {
			t.Errorf("link %q: got %q, want no link", link, got)
		}
	}
}

func TestManyAuthors(t *testing.T) {
	authors := make(bson.A, 10_000)
	for i := range authors {
		authors[i] = bson.D{{Key: "first", Value: "A"}, {Key: "last", Value: fmt.Sprint("N", i)},
			{Key: "user", Value: fmt.Sprint("u", i)}, {Key: "aoi", Value: true}}
	}
	doc, err := bson.Marshal(bson.D{{Key: "authors", Value: authors}, {Key: "title", Value: "T"}})
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := fresh(defaultRules(t), doc, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkRendered(t, rendered)
	if users, _ := rendered.Lookup("users").Array().Values(); len(users) != len(authors) {
		t.Errorf("%d users, want %d", len(users), len(authors))
	}
}

func TestBrokenDocuments(t *testing.T) {
	r := defaultRules(t)
	whole := activity(t, `{"_id": "1", "title": "T", "authors": [{"last": "A"}], "rendered": {"print": "x"}}`)
	for n := range len(whole) {
		if _, err := fresh(r, whole[:n], render.Options{}); !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("the first %d of %d bytes: error %v, want a wrong call", n, len(whole), err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r := defaultRules(t)
	doc := activity(t, `{"type": "publication", "title": "T", "authors": [{"last": "A", "user": "a"}], "year": 2020}`)
	want, err := fresh(r, doc, render.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if got, err := fresh(r, doc, render.Options{}); err != nil || string(got) != string(want) {
					t.Errorf("got %v, %v, want %v", got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}

func FuzzParse(f *testing.F) {
	for _, tmpl := range []string{"{title|@in}. <i>{book}</i> ({?volume&!issue|pages:x{year}}).",
		`<a href='{link}'>x</a> \{`, "{?a:{?b:", "<i>{", "&;&amp;"} {
		f.Add(tmpl)
	}
	doc := activity(f, `{"title": "T", "volume": "1", "link": "https://example.org/", "authors": [{"last": "A"}]}`)
	f.Fuzz(func(t *testing.T, tmpl string) {
		for _, src := range []string{rulesWith(tmpl), tmpl} {
			r, err := render.Parse("fuzz.yaml", []byte(src))
			if err != nil {
				continue
			}
			rendered, err := fresh(r, doc, render.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkRendered(t, rendered)
		}
	})
}

func FuzzRender(f *testing.F) {
	r := defaultRules(f)
	for _, v := range hostileValues() {
		raw, err := bson.Marshal(bson.D{{Key: "title", Value: v}, {Key: "authors", Value: bson.A{v}},
			{Key: "start_date", Value: v}, {Key: "rendered", Value: bson.D{{Key: "x", Value: v}}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if rendered, err := fresh(r, doc, renderOptions); err == nil {
			checkRendered(t, rendered)
		}
		if rendered, err := r.Complete(doc, renderOptions); err == nil {
			checkRendered(t, rendered)
		}
	})
}

var renderOptions = render.Options{Language: "de"}

func BenchmarkRender(b *testing.B) {
	r := defaultRules(b)
	doc := activity(b, `{"_id": {"$oid": "65f0c0ffee65f0c0ffee65f0"}, "type": "publication", "subtype": "proceedings", "title": "Few-shot transfer", "year": 2021,
		"authors": [{"first": "Amara A.", "last": "Szymczak", "user": "szy11a", "affiliated": true}, {"first": "Ayşe", "last": "Ribeiro", "user": null}],
		"start_date": "2021-08-02", "end_date": "2021-08-02", "book": "Proceedings of the 59th Meeting", "pages": "5751-5767", "doi": "10.18653/v1/2021.acl-long.447"}`)
	rendered, err := fresh(r, doc, render.Options{})
	if err != nil {
		b.Fatal(err)
	}
	stored, err := bson.Marshal(bson.D{{Key: "title", Value: "T"}, {Key: "rendered", Value: rendered}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Complete(doc, render.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("complete", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Complete(stored, render.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

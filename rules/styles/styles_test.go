package styles_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/csl"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/styles"
)

// style returns the source of a small style. default-locale is not set if lang is "".
func style(lang, body string) []byte {
	if lang != "" {
		lang = ` default-locale="` + lang + `"`
	}
	return []byte(`<?xml version="1.0"?>
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"` + lang + `>
<info><title>T</title><id>t</id><updated>2026-11-30T00:00:00+00:00</updated></info>
<citation disambiguate-add-year-suffix="true"><layout><text variable="title"/></layout></citation>
<bibliography><layout>` + body + `</layout></bibliography>
</style>`)
}

const authorYear = `<names variable="author"><name and="text"/></names><date variable="issued" prefix=" ">` +
	`<date-part name="year"/></date><text variable="title" prefix=". "/>`

// set returns a set of styles by their sources.
func set(t testing.TB, sources map[string][]byte, seed string) *styles.Set {
	t.Helper()
	all := map[string]styles.Source[*csl.Style]{}
	for name, src := range sources {
		one, err := styles.ParseStyle(name+".csl", src)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = one
	}
	made, err := styles.New(all, nil, seed)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// mapping returns the rules by which records are read.
func mapping(t testing.TB) *cite.Mapping {
	t.Helper()
	m, err := cite.Load(configs.CiteRules())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// row returns the row of a record of activities, with citations by a set.
func row(t testing.TB, m *cite.Mapping, s *styles.Set, record string) bson.Raw {
	t.Helper()
	doc, err := ejson.Parse([]byte(record), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cited := func(_ string, record, about bson.Raw) mark.Citation { return m.Cited(record, about) }
	o := mark.Options{Public: filter.All(), Cited: cited, Now: time.Unix(1e9, 0).UTC()}
	d := mark.NewDirectory(o, nil, nil, nil)
	made, _, err := d.Make(rules.ViewActivities, doc)
	if err == nil {
		made, err = s.Finish(m, made)
	}
	if err == nil {
		doc, err = mark.Set(doc, made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

const record = `{"_id": "a", "type": "publication", "subtype": "article", "title": "Owls", "year": 2020,
	"authors": [{"last": "Moe", "first": "Ann"}, {"last": "Quill", "first": "Bo"}]}`

// TestLanguages: a style is rendered in each language, or in that of its default locale.
func TestLanguages(t *testing.T) {
	m := mapping(t)
	s := set(t, map[string][]byte{"free": style("", authorYear), "fixed": style("de-DE", authorYear)}, "1")
	doc := row(t, m, s, record)
	for _, tt := range []struct{ style, lang, want, words string }{
		{"free", "en", "Ann Moe and Bo Quill 2020. Owls", "en"},
		{"free", "de", "Ann Moe und Bo Quill 2020. Owls", "de"},
		{"fixed", "en", "Ann Moe und Bo Quill 2020. Owls", "de-DE"},
		{"fixed", "de", "Ann Moe und Bo Quill 2020. Owls", "de-DE"},
	} {
		got := s.Named(tt.style).Of(tt.lang, m, doc)
		if text := got.Text(1, ""); strings.TrimSpace(text) != tt.want || got.Lang != tt.words {
			t.Errorf("%s in %s: %q in %s", tt.style, tt.lang, text, got.Lang)
		}
	}
}

// TestStamps: a row's citation counts only for the style, and the rules, by which it was made.
func TestStamps(t *testing.T) {
	m := mapping(t)
	one := set(t, map[string][]byte{"s": style("", authorYear), "t": style("", `<text variable="title"/>`)}, "1")
	doc := row(t, m, one, record)
	for name, tt := range map[string]struct {
		set  *styles.Set
		same bool
	}{
		"the same":       {set(t, map[string][]byte{"s": style("", authorYear)}, "1"), true},
		"other rules":    {set(t, map[string][]byte{"s": style("", authorYear)}, "2"), false},
		"another style":  {set(t, map[string][]byte{"s": style("", authorYear+`<text value="!"/>`)}, "1"), false},
		"another locale": {set(t, map[string][]byte{"s": style("en-US", authorYear+" ")}, "1"), false},
	} {
		// The citation in the mark is that of another record, so that it shows where it is from.
		other := row(t, m, one, strings.Replace(record, "Owls", "Moths", 1))
		made, err := mark.SetStyled(mark.Of(doc), mark.StyledOf(mark.Of(other)), nil)
		if err != nil {
			t.Fatal(err)
		}
		mixed, err := mark.Set(doc, made)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.set.Named("s").Of("en", m, mixed).HTML; strings.Contains(got, "Moths") != tt.same {
			t.Errorf("%s: %s", name, got)
		}
		if same := tt.set.Fingerprint() == one.Fingerprint(); same {
			t.Errorf("%s: the fingerprint of another set is the same", name)
		}
	}
}

// TestAlike: rows with one key have a number in common, in each language; others do not.
func TestAlike(t *testing.T) {
	m := mapping(t)
	s := set(t, map[string][]byte{"s": style("", authorYear)}, "1")
	numbers := func(record string) (all []int64) {
		doc, _ := mark.Of(row(t, m, s, record)).Lookup("alike").ArrayOK()
		values, _ := doc.Values()
		for _, v := range values {
			all = append(all, v.Int64())
		}
		return all
	}
	a, b := numbers(record), numbers(strings.Replace(record, "Owls", "Moths", 1))
	c := numbers(strings.Replace(record, "2020", "2021", 1))
	if len(a) == 0 || fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(a) == fmt.Sprint(c) {
		t.Errorf("%v, %v, %v", a, b, c)
	}
	got := s.Named("s").Of("de", m, row(t, m, s, record))
	if n := s.Named("s").Alike("de", got.Key); !strings.Contains(fmt.Sprint(a), fmt.Sprint(n)) {
		t.Errorf("%d is not among %v", n, a)
	}
}

// TestEventDates: the day of a talk is written once if the style has it without the date of the event, too. Other
// days of the event are written, and so is the day where a style looks for it only there.
func TestEventDates(t *testing.T) {
	m := mapping(t)
	issued := func(name string) string { return `<date variable="` + name + `" form="text" prefix=" "/>` }
	year := `<date variable="issued" prefix=" "><date-part name="year"/></date>`
	s := set(t, map[string][]byte{
		"both":  style("en-US", issued("issued")+issued("event-date")),
		"event": style("en-US", issued("event-date")), "issued": style("en-US", issued("issued")),
		"day": style("en-US", year+issued("event-date")),
		"some": style("en-US", `<choose><if type="speech" match="none">`+issued("issued")+`</if></choose>`+
			issued("event-date")),
	}, "1")
	for _, tt := range []struct{ style, day, days string }{
		{"both", "May 4, 2023", "May 4, 2023 May 4–6, 2023"},
		{"event", "May 4, 2023", "May 4–6, 2023"},
		{"day", "2023 May 4, 2023", "2023 May 4–6, 2023"},
		{"issued", "May 4, 2023", "May 4, 2023"},
		{"some", "May 4, 2023", "May 4–6, 2023"},
	} {
		for end, want := range map[string]string{"2023-05-04": tt.day, "2023-05-06": tt.days} {
			talk := `{"_id": "a", "type": "lecture", "title": "Owls", "start": "2023-05-04", "end": "` + end +
				`", "conference": "Night"}`
			stored, rendered := row(t, m, s, talk), row(t, m, nil, talk)
			for _, doc := range []bson.Raw{stored, rendered} {
				if got := strings.TrimSpace(s.Named(tt.style).Of("en", m, doc).Text(1, "")); got != want {
					t.Errorf("%s, to %s: %q, want %q", tt.style, end, got, want)
				}
			}
		}
	}
}

// TestLarge: the mark of a work with very many authors stays small, and its citation is there all the same.
func TestLarge(t *testing.T) {
	m := mapping(t)
	s := set(t, map[string][]byte{"s": style("", authorYear)}, "1")
	var authors []map[string]string
	for i := range 5000 {
		authors = append(authors, map[string]string{"last": fmt.Sprintf("Family%d", i), "first": "Given"})
	}
	text, err := json.Marshal(map[string]any{
		"_id": "a", "type": "publication", "title": "Owls", "year": 2020, "authors": authors,
	})
	if err != nil {
		t.Fatal(err)
	}
	doc := row(t, m, s, string(text))
	if n := len(mark.StyledOf(mark.Of(doc))); n > 64<<10 {
		t.Errorf("%d bytes", n)
	}
	if got := s.Named("s").Of("en", m, doc).HTML; !strings.Contains(got, "Family0") {
		t.Errorf("%.100s", got)
	}
}

// TestMistakes: a style that cannot be used is refused with its file, its line and the reason.
func TestMistakes(t *testing.T) {
	const wrong = `<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" class="in-text">
		<macro></style>`
	_, err := styles.ParseStyle("apa.csl", []byte(wrong))
	if err == nil || !strings.HasPrefix(err.Error(), "apa.csl:2: ") {
		t.Errorf("%v", err)
	}
	one, err := styles.ParseStyle("fr.csl", style("fr-FR", authorYear))
	if err != nil {
		t.Fatal(err)
	}
	_, err = styles.New(map[string]styles.Source[*csl.Style]{"fr": one}, nil, "")
	if err == nil || !strings.Contains(err.Error(), "lists.locales") || !strings.Contains(err.Error(), "fr-FR") {
		t.Errorf("%v", err)
	}
	for name, right := range map[string]bool{"apa": true, "din-1505-2": true, "web": false, "APA": false, "": false} {
		if err := styles.CheckName(name); (err == nil) != right {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for tag, right := range map[string]bool{"fr-FR": true, "fr": true, "french": false, "fr_FR": false} {
		if err := styles.CheckTag(tag); (err == nil) != right {
			t.Errorf("tag %q: %v", tag, err)
		}
	}
}

// TestNone: without styles, marks stay as they are, and no name is a style.
func TestNone(t *testing.T) {
	var none *styles.Set
	doc := row(t, mapping(t), none, record)
	if mark.StyledOf(mark.Of(doc)) != nil || none.Named("apa") != nil || none.Names() != nil ||
		none.Fingerprint() != "" {
		t.Error("nil has styles")
	}
}

// FuzzDamaged: damaged citations in a mark are none, and never make a program fail.
func FuzzDamaged(f *testing.F) {
	m := mapping(f)
	s := set(f, map[string][]byte{"s": style("", authorYear)}, "1")
	doc := row(f, m, s, record)
	f.Add(mark.StyledOf(mark.Of(doc)))
	f.Add([]byte{200, 1, 2, 3})
	f.Fuzz(func(t *testing.T, styled []byte) {
		made, err := mark.SetStyled(mark.Of(doc), styled, nil)
		if err != nil {
			t.Fatal(err)
		}
		mixed, err := mark.Set(doc, made)
		if err != nil {
			t.Fatal(err)
		}
		s.Named("s").Of("en", m, mixed)
	})
}

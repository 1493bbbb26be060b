package render_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/rules/render"
)

// rulesWith returns a rules file whose print template is tmpl, in line 12.
func rulesWith(tmpl string) string {
	return `fields:
  title: markup
  book: markup
  note: text
  place.city: text
  link: url
  doi: doi
  open: flag
  held: date
  guests: persons
templates:
  print: ` + fmt.Sprintf("%q", tmpl) + `
  web: "{title}"
  portfolio: "{title}"
  title: "{title}"
  authors: "{authors}"
  editors: "{editors}"
labels:
  in: {en: In, de: Im}
`
}

// printed renders doc with a print template.
func printed(t *testing.T, tmpl, doc, language string) string {
	t.Helper()
	r, err := render.Parse("test.yaml", []byte(rulesWith(tmpl)))
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := fresh(r, activity(t, doc), render.Options{Language: language})
	if err != nil {
		t.Fatal(err)
	}
	return rendered.Lookup("print").StringValue()
}

func TestTemplates(t *testing.T) {
	const full = `{"_id": "a/b", "title": "T", "book": "B", "note": "n", "place": {"city": "Oslo"}, "volume": 1, "issue": 2,
		"pages": "3-4", "year": 2020, "link": "https://example.org/?a=1&b=2", "doi": "10.1000/x(1)", "open": true, "held": "2022-05-14",
		"guests": [{"first": "Eva", "last": "Lund", "user": "a'b/c", "aoi": "1"}]}`
	const bare = `{"title": "T"}`
	for _, tt := range []struct{ name, tmpl, doc, want string }{
		{"field", "{title}", full, "T"},
		{"path", "{place.city}", full, "Oslo"},
		{"fallback field", "{book|title}", bare, "T"},
		{"fallback text", "{book|'none'}", bare, "none"},
		{"fallback label", "{book|@in}", bare, "In"},
		{"fallback not needed", "{title|'none'}", full, "T"},
		{"filled", "{?volume&issue:{volume}/{issue}}", full, "1/2"},
		{"not filled", "{title}{?volume&issue: {volume}/{issue}}", bare, "T"},
		{"any", "{?book|title:x}", bare, "x"},
		{"empty", "{?!book:x}{?!title:y}", bare, "x"},
		{"any of all", "{?book&note|title&!book:x}", bare, "x"},
		{"nested", "{?title:a {?book:b}{?!book:c}}", bare, "a c"},
		{"flag", "{?open:Open access}", full, "Open access"},
		{"flag missing", "{title}{?open:Open access}", bare, "T"},
		{"escaped braces", `\{{title}\} \\`, bare, `{T} \`},
		{"date", "{held}, {held:year}, {held:iso}", full, "14 May 2022, 2022, 2022-05-14"},
		{"persons", "{guests} {guests:plain} {guests:full}", full,
			"<b>Lund,&nbsp;E.</b> Lund,&nbsp;E. <b>Eva Lund</b>"},
		{"persons linked", "{guests:linked}", full, "<a href='/profile/a%27b%2Fc'><b>Lund,&nbsp;E.</b></a>"},
		{"derived", "{volume-issue-pages} {year}", full, "1(2): 3-4 2020"},
		{"link", "{doi:link}", full,
			"<a href='https://doi.org/10.1000/x(1)' target='_blank' rel='noopener'>10.1000/x(1)</a>"},
		{"address in a tag", "<a href='{link}'>x</a>", full, "<a href='https://example.org/?a=1&amp;b=2'>x</a>"},
		{"no address, no link", "<a href='{link}'>x</a>", bare, "x"},
		{"segment in a tag", "<a href='/x/{id}/y'>x</a>", full, "<a href='/x/a%2Fb/y'>x</a>"},
		{"title in a tag", "<span title='{note}'>x</span>", `{"note": "a'b<"}`,
			"<span title='a&#x27;b&lt;'>x</span>"},
		{"icon stays", "<i class='ph ph-book'></i> {title}", bare, "<i class='ph ph-book'></i> T"},
		{"reference stays", "{title}&nbsp;x &amp; y", bare, "T&nbsp;x &amp; y"},
		{"zero bytes", "a\x000\x00{title}", bare, "a0T"},
		{"ampersand of a template", "a & b", bare, "a &amp; b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, tt.tmpl, tt.doc, "en"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := printed(t, "{@in} {held}", full, "de"); got != "Im 14. Mai 2022" {
		t.Errorf("German: got %q", got)
	}
}

// TestLeftovers: punctuation around empty fields is removed, while values and deliberate
// punctuation stay.
func TestLeftovers(t *testing.T) {
	for _, tt := range []struct{ name, tmpl, doc, want string }{
		{"empty brackets", "{title} ({book}) x", `{"title": "T"}`, "T x"},
		{"brackets around punctuation", "{title} ({book}, {note})", `{"title": "T"}`, "T"},
		{"square brackets", "{title} [{book}]", `{"title": "T"}`, "T"},
		{"nested brackets", "{title} ({book} [{note}])", `{"title": "T"}`, "T"},
		{"comma at a bracket's edge", "({title}, {book})", `{"title": "T"}`, "(T)"},
		{"comma behind a bracket's edge", "({book}, {title})", `{"title": "T"}`, "(T)"},
		{"empty element", "{title} <i>{book}</i>.", `{"title": "T"}`, "T."},
		{"empty element in another", "{title} <i><b>{book}</b></i>.", `{"title": "T"}`, "T."},
		{"doubled comma", "{title}, {book}, {note}", `{"title": "T", "note": "n"}`, "T, n"},
		{"comma before a full stop", "{title}, {book}.", `{"title": "T"}`, "T."},
		{"full stop before a comma", "{title}. {book}, {note}", `{"title": "T", "note": "n"}`, "T. n"},
		{"doubled full stop", "{title}. {book}. {note}.", `{"title": "T", "note": "n"}`, "T. n."},
		{"dangling comma", "{title}, {book}", `{"title": "T"}`, "T"},
		{"dangling colon", "{title}: {book}", `{"title": "T"}`, "T"},
		{"leading punctuation", "{book}, {title}", `{"title": "T"}`, "T"},
		{"doubled space", "{title} {book} {note}", `{"title": "T", "note": "n"}`, "T n"},
		{"space before punctuation", "{title} {book}, {note}", `{"title": "T", "note": "n"}`, "T, n"},
		{"dangling at a line's end", "{title}, {book}<br>, {note}", `{"title": "T", "note": "n"}`, "T<br>n"},
		{"empty line", "{title}<br>{book}<br>{note}", `{"title": "T", "note": "n"}`, "T<br>n"},
		{"empty last line", "{title}<br>{book}", `{"title": "T"}`, "T"},
		{"nothing at all", "({book}), <i>{note}</i>.", `{}`, ""},
		{"title ends in a question", "{title}. {note}", `{"title": "Why?", "note": "n"}`, "Why? n"},
		{"title ends in dots", "{title}. {note}", `{"title": "And so on...", "note": "n"}`, "And so on... n"},
		{"title ends in markup", "{title}. {note}", `{"title": "Why <i>me?</i>", "note": "n"}`, "Why <i>me?</i> n"},
		{"value's own punctuation", "{title} {note}", `{"title": "a ,, b () .. c", "note": "( )"}`,
			"a ,, b () .. c ( )"},
		{"value ends in a reference", "{title}; {note}", `{"title": "x &amp;", "note": "n"}`, "x &amp;; n"},
		{"comma after an abbreviation", "{title}, {note}", `{"title": "Jr.", "note": "n"}`, "Jr., n"},
		{"comma after a comma", "{title}, {note}", `{"title": "x,", "note": "n"}`, "x, n"},
		{"deliberate dots", "{title}... {note}", `{"title": "T", "note": "n"}`, "T... n"},
		{"punctuation in a word", "{title} v1.5:x https://example.org/", `{"title": "T"}`,
			"T v1.5:x https://example.org/"},
		{"nothing inside tags", "<span title='( ) ,, ..'>{title}</span>", `{"title": "T"}`,
			"<span title='( ) ,, ..'>T</span>"},
		{"blank counts as empty", "{title} ({note})", `{"title": "T", "note": "  "}`, "T"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, tt.tmpl, tt.doc, "en"); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, tmpl, want string }{
		{"unknown field", "{title} {titel}", `unknown field "titel" (at character 10)`},
		{"unknown field in a condition", "{?volum:x}", `unknown field "volum"`},
		{"unknown field as fallback", "{title|none}", `unknown field "none"`},
		{"unknown format", "{held:long}", `unknown format "long" of field "held"`},
		{"unknown label", "{@on}", `unknown label "on"`},
		{"unknown operator", "{?title+book:x}", "expected &, | or : in a condition"},
		{"no field", "{}", "expected a field"},
		{"field not closed", "{title", "expected | or }"},
		{"condition not closed", "{?title:x", "conditional is not closed"},
		{"text not closed", "{title|'x}", "text is not closed"},
		{"stray brace", "a } b", "} without {"},
		{"flag as text", "{open}", "is a flag"},
		{"element not allowed", "<script>x</script>", "not in the plain form that the allow-list admits"},
		{"attribute not allowed", "<b onclick='x'>x</b>", "not in the plain form"},
		{"script link", "<a href='javascript:x'>x</a>", "not in the plain form"},
		{"element not closed", "<i>{title}", "<i> is not closed"},
		{"element closed elsewhere", "{?title:<i>}{title}{?title:</i>}", "<i> is not closed"},
		{"closes nothing", "{title}</i>", "</i> closes nothing here"},
		{"tag not closed", "<i {title}", "only in a quoted attribute"},
		{"field in a class", "<i class='{title}'>x</i>", `cannot stand in attribute "class"`},
		{"text as address", "<a href='{title}'>x</a>", "only with a url or doi field"},
		{"condition in a tag", "<a href='{?link:x}'>x</a>", "a condition cannot stand inside a tag"},
		{"too deep", strings.Repeat("{?title:", 20) + strings.Repeat("}", 20), "nest deeper than 16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := render.Parse("test.yaml", []byte(rulesWith(tt.tmpl)))
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				!strings.HasPrefix(err.Error(), "test.yaml:12: templates.print: ") {
				t.Errorf("got  %v\nwant test.yaml:12: templates.print: … %s", err, tt.want)
			}
		})
	}
}

func TestParseFileErrors(t *testing.T) {
	valid := rulesWith("{title}")
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "test.yaml: the rules file is empty"},
		{"not YAML", "a: [", "test.yaml: yaml:"},
		{"not a mapping", "- a", "test.yaml:1: "},
		{"unknown section", valid + "template: {}\n", "test.yaml:20: template: unknown key"},
		{"unknown template", valid + "types: {x: {templates: {prnt: a}}}\n",
			"test.yaml:20: types.x.templates.prnt: unknown template"},
		{"unknown key of a type", valid + "types: {x: {lable: a}}\n", "test.yaml:20: types.x.lable: unknown key"},
		{"unknown language", valid + "types: {x: {label: {fr: a}}}\n", "test.yaml:20: types.x.label.fr: unknown key"},
		{"malformed template", valid + "types: {x: {templates: {print: [a]}}}\n",
			"types.x.templates.print: want text"},
		{"bad icon", valid + "types: {x: {icon: \"a' b\"}}\n", "types.x.icon: \"a' b\" is not an icon's name"},
		{"key twice", valid + "types: {x: {}, x: {}}\n", "types.x: given twice"},
		{"unknown kind", strings.Replace(valid, "note: text", "note: words", 1),
			`test.yaml:4: fields.note: unknown kind "words"`},
		{"built-in field", strings.Replace(valid, "note: text", "year: text", 1),
			`test.yaml:4: fields.year: field "year" is built in`},
		{"template missing", strings.Replace(valid, `  web: "{title}"`+"\n", "", 1), "templates: web is missing"},
		{"several at once", valid + "types: {x: {lable: a, ikon: b}}\n", "types.x.ikon: unknown key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := render.Parse("test.yaml", []byte(tt.src)); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	a, errA := render.Parse("a", []byte(rulesWith("{title}")))
	b, errB := render.Parse("b", []byte(rulesWith("{title}")))
	c, errC := render.Parse("a", []byte(rulesWith("{book}")))
	if errA != nil || errB != nil || errC != nil {
		t.Fatal(errA, errB, errC)
	}
	if a.Fingerprint() != b.Fingerprint() || a.Fingerprint() == c.Fingerprint() || a.Fingerprint() == "" {
		t.Errorf("fingerprints %q, %q, %q: want the same for the same rules only", a.Fingerprint(), b.Fingerprint(),
			c.Fingerprint())
	}
}

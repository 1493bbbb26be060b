package cite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/identifier"
	"vitrine/rules/markup"
)

// examples are records of each kind, as complete as good records are.
var examples = []struct{ view, row string }{
	{rules.ViewActivities,
		`{"_id": "article", "type": "publication", "subtype": "article", "title": "Moths & <i>Noctua pronuba</i> ` +
			`in H<sub>2</sub>O", "authors": [{"first": "Zofia", "last": "Wójtowicz", "user": "wjt"}, {"first": ` +
			`"Ann", "last": "van den Akker"}], "year": 2021, "month": 8, "start_date": "2021-08-02", "end_date": ` +
			`"2021-08-02", "journal": "Moth & Blossom", "volume": 7, "issue": "2", "pages": "45-67", "doi": ` +
			`"https://doi.org/10.5555/hins.2021.1", "pubmed": 30000000, "issn": ["9710-9977", "9721-2237"], ` +
			`"link": "https://journals.example/1", "language": "en", "_list": {"persons": [{"id": "wjt", "name": ` +
			`"Wójtowicz, Zofia", "orcid": "0000-0002-1825-0097"}]}}`},
	{rules.ViewActivities,
		`{"_id": "chapter", "type": "publication", "subtype": "chapter", "title": "The COVID-19 lamp", "authors": ` +
			`[{"first": "Jo", "last": "Ohm"}], "editors": [{"first": "Eve", "last": "Winter"}], "year": 2022, ` +
			`"book": "The Lamp and the Moth", "publisher": "Umbra Verlag", "city": "Halden", "isbn": ` +
			`"978-3-16-148410-0", "pages": "17", "series": "Night Books", "edition": "2"}`},
	{rules.ViewActivities,
		`{"_id": "thesis", "type": "publication", "subtype": "dissertation", "title": "Über Eulen", "authors": ` +
			`[{"first": "Jo", "last": "Ohm"}], "year": "2019", "publisher": "Universität Halden", "thesis": "doctor"}`},
	{rules.ViewActivities,
		`{"_id": "talk", "type": "lecture", "subtype": "keynote", "title": "Why ice?", "authors": [{"first": "Cid",` +
			` "last": "Kalt"}], "start": {"year": 2023, "month": 5, "day": 4}, "end": {"year": 2023, "month": 5, ` +
			`"day": 6}, "conference": "Cold Days", "location": "Kiel"}`},
	{rules.ViewActivities,
		`{"_id": "dataset", "type": "software", "subtype": "dataset", "title": "Counts", "authors": ["The Night ` +
			`Group"], "year": 2020, "version": "2.8", "software_venue": "data.example", "link": "https://` +
			`data.example/1"}`},
	{rules.ViewActivities, `{"_id": "unknown", "type": "garden", "title": null, "authors": null}`},
	{rules.ViewProjects,
		`{"_id": "project", "name": "OWLNET", "acronym": "OWLNET", "title": "A listening network for owls", ` +
			`"type": "scholarship", "start_date": "2015-04-01", "end_date": "2019-12-31", "year": 2015, "persons": ` +
			`[{"user": "wjt", "name": "Zofia Wójtowicz", "role": "PI"}, {"user": "hidden", "name": "Cid Kalt"}], ` +
			`"_list": {"persons": [{"id": "wjt", "name": "Wójtowicz, Zofia"}]}}`},
	{rules.ViewEvents,
		`{"_id": "event", "title": "Moths 2015", "title_full": "First Night of Moths", "start": "2015-06-12", ` +
			`"end": "2015-06-14", "location": "Halden", "type": "conference", "url": "https://meetings.example/1"}`},
	{rules.ViewActivities,
		`{"_id": "reuse", "type": "publication", "subtype": "article", "title": "Lamps for all", "authors": ["Ohm, ` +
			`Jo"], "year": 2024, "journal": "Open Night", "oa_status": "Gold", "license": "CC BY 4.0", "keywords": ` +
			`["lamps", "R&D, applied"], "tags": ["best-paper", "lamps"], "link": "https://journals.example/` +
			`lamps.pdf", "quartile": "Q1", "_list": {"projects": [{"id": "OWLNET", "title": "A listening network ` +
			`for owls", "funder": "dfg", "funding_number": "DFG-1, DFG-2"}, {"id": "HOBBY", "title": "For fun"}]}}`},
	{rules.ViewProjects,
		`{"_id": "funded", "name": "NIGHT", "title": "Night", "funder": "dfg", "funding_organization": {"$oid": ` +
			`"284957df32c66b6d7f7f6221"}, "funding_number": ["LF-1", "LF-2"], "tags": ["flagship"], "_resolved": ` +
			`{"organizations": [{"ref": "284957df32c66b6d7f7f6221", "id": "x", "name": "Lamp Foundation"}]}}`},
	{rules.ViewActivities, `{"_id": "retracted", "type": "publication", "subtype": "article", "title": "Owls & lamps",
		"authors": ["Ohm, Jo"], "year": 2020, "retracted": true,
		"updated-by": [{"DOI": "10.5555/n.1", "type": "retraction"}]}`},
	{rules.ViewActivities, `{"_id": "notice", "type": "publication", "subtype": "article",
		"title": "Retraction: Owls & lamps",
		"year": 2021, "retraction of": "10.5555/owls"}`},
	{rules.ViewPersons, `{"_id": "person", "username": "wjt", "displayname": "Zofia Wójtowicz", "type": "x"}`},
}

// TestGolden compares every format of the examples with testdata/faces.golden; with
// CITE_UPDATE=1 it writes the file.
func TestGolden(t *testing.T) {
	var out strings.Builder
	const base = "https://data.institute.example"
	for _, e := range examples {
		it := read(t, e.view, e.row)
		fmt.Fprintf(&out, "== %s\n%s%s%s%s\n%s\n%s\n", it.ID, cite.AppendBibTeX(nil, it, false),
			cite.AppendBibTeX(nil, it, true),
			strings.ReplaceAll(string(cite.AppendRIS(nil, it)), "\r", ""), cite.AppendCSL(nil, it),
			appendJSONLD(nil, it, base), cite.AppendCOinS(nil, it))
		cite.Meta(it, func(name, content string) { fmt.Fprintf(&out, "%s: %s\n", name, content) })
		fmt.Fprintf(&out, "-> %s\n", itemURL(it, base))
	}
	const file = "testdata/faces.golden"
	if os.Getenv("CITE_UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())
}

// appendJSONLD appends JSON-LD with the default addresses of items.
func appendJSONLD(dst []byte, it *cite.Item, base string) []byte {
	return cite.AppendJSONLD(dst, it, base+"/items/"+markup.PathSegment(it.ID), itemURL(it, base),
		func(user string) string {
			return base + "/lists/person/" + markup.PathSegment(user)
		})
}

// itemURL is the default address of an item.
func itemURL(it *cite.Item, base string) string {
	switch {
	case it.View == rules.ViewActivities && it.DOI != "":
		return identifier.DOIAddress(it.DOI)
	case it.View == rules.ViewPersons && it.Name == "":
		return ""
	case it.View == rules.ViewPersons:
		return base + "/lists/person/" + markup.PathSegment(it.Name)
	case it.View == rules.ViewProjects && it.Name != "":
		return base + "/lists/project/" + markup.PathSegment(it.Name)
	}
	return base + "/items/" + markup.PathSegment(it.ID)
}

func TestWords(t *testing.T) {
	var titles, others []string
	builtIn(t).Words(doc(t, examples[0].row), func(text string, title bool) {
		switch {
		case title && text != "":
			titles = append(titles, text)
		case text != "":
			others = append(others, text)
		}
	})
	assert.Equal(t, []string{"Moths & Noctua pronuba in H2O"}, titles)
	assert.Equal(t, []string{
		"Zofia", "Wójtowicz", "orcid0000000218250097", "Ann", "van den Akker", "orcid0000000218250097",
		"Moth & Blossom", "2021", "97109977, 97212237", "30000000", "pmid30000000"}, others)
}

func TestLoad(t *testing.T) {
	const kind = `{csl: book, bibtex: book, ris: BOOK, schema: Book, openurl: book/book}`
	file := func(fields, kinds, rest string) string {
		return "fields: " + fields + "\nkinds:\n  other: " + kinds + "\n" + rest
	}
	const rest = "subtypes: {}\ntypes: {}\nviews: {activities: other}\ndegrees: {}\n"
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "f.yaml: the file is empty"},
		{"no YAML", "a: [", "f.yaml: yaml: "},
		{"no mapping", "[]", "f.yaml:1: expected keys and values"},
		{"missing section", "fields: {}\n", "f.yaml:1: kinds: is missing"},
		{"unknown section", file("{}", kind, rest+"x: {}\n"), "f.yaml:8: x: unknown key, want one of fields"},
		{"unknown variable", file("{titel: [a]}", kind, rest),
			"f.yaml:1: fields.titel: unknown variable, want one of title, "},
		{"no list", file("{title: {a: b}}", kind, rest), "f.yaml:1: fields.title: expected a list of stored fields"},
		{"path", file("{title: [a.b]}", kind, rest), `f.yaml:1: fields.title: "a.b" is not the name of a field`},
		{"twice",
			file("{}", kind, "subtypes: {a: other, a: other}\ntypes: {}\nviews: {activities: other}\ndegrees: {}"),
			"f.yaml:4: subtypes.a: given twice"},
		{"shape", file("{}", strings.Replace(kind, "BOOK", "book", 1), rest),
			`f.yaml:3: kinds.other.ris: "book" does not match`},
		{"missing form", file("{}", strings.Replace(kind, "ris: BOOK, ", "", 1), rest),
			"f.yaml:3: kinds.other.ris: is missing"},
		{"unknown key", file("{}", strings.Replace(kind, "ris", "isi", 1), rest),
			"f.yaml:3: kinds.other.isi: unknown key"},
		{"unknown kind",
			file("{}", kind, "subtypes: {}\ntypes:\n  a: nothing\nviews: {activities: other}\ndegrees: {}"),
			`f.yaml:6: types.a: unknown kind "nothing"`},
		{"unknown view",
			file("{}", kind, "subtypes: {}\ntypes: {}\nviews: {activities: other, people: other}\ndegrees: {}"),
			"views.people: unknown view"},
		{"status", file("{}", kind, rest+"status: {fields: pages, flags: [a.b]}"),
			"f.yaml:8: status: expected lists of fields, and codes with names\nf.yaml:8: status.flags: \"a.b\" is not"},
		{"notices", file("{}", kind, rest+"notices: {flags: {a: gone}, types: [a.b]}"),
			"f.yaml:8: notices: a: unknown code \"gone\"\nf.yaml:8: notices.types: \"a.b\" is not"},
		{"open access", file("{}", kind, rest+"open_access: {fields: [a.b], codes: {gold: maybe}}"),
			"f.yaml:8: open_access: expected a list of fields, and codes with true or false\nf.yaml:8: " +
				"open_access.fields: \"a.b\" is not"},
		{"badge",
			file("{}", kind,
				rest+"badges:\n- {name: {en: A}, field: a}\n- {field: b}\n- {name: {en: A, de: B}, field: a.b}"),
			"f.yaml:9: badges.1.name: expected a name in each language: en, de\nf.yaml:10: badges.2: needs a name " +
				"and a field\nf.yaml:11: badges.3.field: \"a.b\" is not"},
		{"no activities", file("{}", kind, "subtypes: {}\ntypes: {}\nviews: {}\ndegrees: []"),
			"f.yaml:7: degrees: expected codes and names\nf.yaml:6: views.activities: is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cite.Load("f.yaml", []byte(tt.src))
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := cite.Load("f.yaml", []byte(file("{}", kind, rest)))
	require.NoError(t, err)
}

// TestReuse: an item says who may read it and under which licence, in every spelling.
func TestReuse(t *testing.T) {
	for _, tt := range []struct{ row, oa, licence, pdf, keywords, funder, badges string }{
		{`{}`, "", "", "", "", "", ""},
		{`{"open_access": "", "oa_status": "Closed"}`, "false", "", "", "", "", ""},
		{`{"open_access": "unknown", "oa_status": "gold"}`, "true", "", "", "", "", ""},
		{`{"open_access": 0, "oa_status": "gold"}`, "false", "", "", "", "", ""},
		{`{"open_access": "diamond", "licence": "mit"}`, "true", "https://opensource.org/license/mit", "", "", "",
			""},
		{`{"license": "https://licence.example/1", "pdf": "https://a.example/1", "link": "https://a.example/2.pdf"}`,
			"", "https://licence.example/1", "https://a.example/1", "", "", ""},
		{`{"license": "with care", "pdf": "file:///etc/passwd"}`, "", "", "", "", "", ""},
		{`{"keywords": "owls; moths, lamps; owls", "tags": ["moths, lamps", " ", 7, "press"]}`, "", "", "",
			"owls|moths, lamps|7|press", "", ""},
		{`{"keywords": "owls, moths"}`, "", "", "", "owls|moths", "", ""},
		{`{"funder": "eu", "tags": ["best-paper"], "quartile": ["Q1", "Q2"]}`, "", "", "", "best-paper",
			"European Commission", "Bester Beitrag|Quartil: Q1, Q2"},
		{`{"funder": "own", "tags": "best-paper"}`, "", "", "", "best-paper", "", "Bester Beitrag"},
		{`{"funding_organization": {"$oid": "284957df32c66b6d7f7f6221"}}`, "", "", "", "", "", ""},
		{`{"funding_organization": {"$oid": "284957df32c66b6d7f7f6221"}, "funder": "Night Fund"}`, "", "", "", "",
			"Night Fund", ""},
	} {
		it := read(t, rules.ViewActivities, tt.row)
		selected := builtIn(t).Cited(doc(t, tt.row), nil)
		assert.Equal(t, map[string]string{"true": "1", "false": "0"}[tt.oa], selected.OA, tt.row)
		assert.Equal(t, tt.keywords, strings.Join(selected.Keywords, "|"), tt.row)
		assert.Equal(t, []string{tt.oa, tt.licence, tt.pdf, tt.keywords, tt.funder, tt.badges},
			[]string{it.OA, it.Licence, it.PDF, strings.Join(it.Keywords, "|"), it.Funder,
				strings.Join(builtIn(t).Badges(it, "de"), "|")}, tt.row)
	}
}

package csl

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// styled returns a style with a layout, and with more elements before its bibliography.
func styled(layout, before string) string {
	return `<style xmlns="` + namespace + `" class="in-text" version="1.0"><info><title>Test</title></info>` + before +
		`<bibliography><layout>` + layout + `</layout></bibliography></style>`
}

// entryOf renders an item by a layout in US English.
func entryOf(t testing.TB, style, item string) Entry {
	t.Helper()
	s, err := ParseStyle([]byte(style))
	require.NoError(t, err)
	it, err := ReadItem([]byte(item))
	require.NoError(t, err)
	e := s.Renderer(BuiltinLocales(), "en-US").Entry(it)
	require.NoError(t, wellFormed(e.HTML))
	return e
}

// wellFormed reports whether a text is HTML of this package: closed elements, and escaped text.
func wellFormed(s string) error {
	var open []string
	for s != "" {
		text, rest, found := strings.Cut(s, "<")
		if strings.ContainsAny(text, `>"'`) || html.EscapeString(html.UnescapeString(text)) != text {
			return fmt.Errorf("not escaped: %.80q", text)
		}
		if !found {
			break
		}
		tag, after, closed := strings.Cut(rest, ">")
		name, _, _ := strings.Cut(tag, " ")
		switch {
		case !closed:
			return fmt.Errorf("open tag: %q", tag)
		case strings.HasPrefix(tag, "/"):
			if len(open) == 0 || open[len(open)-1] != tag[1:] {
				return fmt.Errorf("</%s> closes %.80q", tag, open)
			}
			open = open[:len(open)-1]
		case !words("i b sup sub span a div")[name] || strings.Count(tag, `"`)%2 != 0:
			return fmt.Errorf("tag %q", tag)
		default:
			open = append(open, name)
		}
		s = after
	}
	if len(open) > 0 {
		return fmt.Errorf("not closed: %q", open)
	}
	return nil
}

const sample = `{"type":"article-journal","title":"<i>In vitro</i> studies of \"x < y & z\"",
	"container-title":"the journal of things","volume":"12","page":"100-104","edition":"2",
	"author":[{"family":"van der Berg","given":"Jean-Luc"},{"family":"Doe","given":"Jane Q.","suffix":"Jr."},
	{"literal":"Institute of Things"}],"issued":{"date-parts":[[2020,5,4],[2020,5,9]]},
	"DOI":"10.1/a<b","URL":"https://example.org/?a=1&b=2"}`

// TestLayouts renders the sample by single elements.
func TestLayouts(t *testing.T) {
	for _, test := range [...]struct{ layout, want string }{
		{`<text variable="title"/>`, "In vitro studies of “x < y & z”"},
		{`<text variable="title" quotes="true"/><text value="."/>`, "“In vitro studies of ‘x < y & z.’”"},
		{`<text variable="container-title" text-case="title"/>`, "The Journal of Things"},
		{`<text variable="page"/>`, "100–104"},
		{`<label variable="page" form="short"/>`, "pp."},
		{`<number variable="edition" form="ordinal"/>`, "2nd"},
		{`<number variable="volume" form="roman"/>`, "xii"},
		{`<date variable="issued" form="text"/>`, "May 4–9, 2020"},
		{`<names variable="author"/>`, "Jean-Luc van der Berg, Jane Q. Doe Jr., Institute of Things"},
		{`<names variable="author"><name and="symbol" initialize-with=". " name-as-sort-order="all"/></names>`,
			"Berg, J.-L. van der, Doe, J. Q., Jr., & Institute of Things"},
		{`<names variable="author"><name et-al-min="2" et-al-use-first="1"/></names>`, "Jean-Luc van der Berg et al."},
		{`<names variable="author"><name form="count"/></names>`, "3"},
		{`<names variable="editor"><substitute><text variable="title"/></substitute></names><text variable="title"/>`,
			"In vitro studies of “x < y & z”"},
		{`<group delimiter=", "><text term="in"/><text variable="publisher"/></group><text variable="volume"/>`, "12"},
		{`<choose><if type="book"><text value="b"/></if><else-if variable="DOI" is-numeric="volume"><text value="d"/>` +
			`</else-if></choose>`, "d"},
		{`<text value="a" suffix="."/><text value="b" prefix=". "/>`, "a. b"},
		{`<text variable="citation-number" prefix="[" suffix="]"/>`, "[7]"},
	} {
		require.Equal(t, test.want, entryOf(t, styled(test.layout, ""), sample).Text(7, ""), test.layout)
	}
}

// TestSubstitutes: names without elements look like those that they stand for, with their delimiter, wherever in
// the substitute they are; names with elements, and those of macros, look as they say.
func TestSubstitutes(t *testing.T) {
	const item = `{"type":"book","editor":[{"family":"Moe","given":"Ann"},{"family":"Quill","given":"Bo"}],
		"translator":[{"family":"Ohm","given":"Cy"}]}`
	const short, own = `<names variable="editor translator"/>`,
		`<names variable="editor translator" delimiter=" / "><name/></names>`
	const macros = `<macro name="m">` + short + `</macro>`
	const want = "Moe & Quill (eds.); Ohm (trans.)"
	for _, test := range [...]struct{ substitute, want string }{
		{short, want},
		{`<choose><if type="book">` + short + `</if></choose>`, want},
		{`<group><choose><if type="map"/><else><group>` + short + `</group></else></choose></group>`, want},
		{`<names variable="composer"><name form="long"/></names>` + short, want},
		{`<names variable="composer"><name/><substitute>` + own + `</substitute></names>` + short,
			"Ann Moe, Bo Quill / Cy Ohm"},
		{`<names variable="editor translator" delimiter=" / "/>`, "Moe & Quill (eds.) / Ohm (trans.)"},
		{own, "Ann Moe, Bo Quill / Cy Ohm"},
		{`<text macro="m"/>`, "Ann Moe, Bo QuillCy Ohm"},
	} {
		layout := `<names variable="author" delimiter="; "><name form="short" and="symbol"/><label form="short"
			prefix=" (" suffix=")"/><substitute>` + test.substitute + `</substitute></names>`
		require.Equal(t, test.want, entryOf(t, styled(layout, macros), item).Text(1, ""), test.substitute)
	}
}

// TestHTML checks the elements of an entry that lists rely on.
func TestHTML(t *testing.T) {
	e := entryOf(t, styled(`<group font-style="italic"><text variable="title"/></group><text variable="DOI"
		prefix=" https://doi.org/"/><names variable="author" prefix=" "><name form="short"/></names>`, ""), sample)
	require.Equal(t, `<i><span data-title><span class="csl-upright">In vitro</span> studies of “x &lt; y &amp; z”`+
		`</span></i><a href="https://doi.org/10.1/a&lt;b"> https://doi.org/10.1/a&lt;b</a> `+
		`<span data-name="author 0">van der Berg</span>, <span data-name="author 1">Doe</span>, `+
		`<span data-name="author 2">Institute of Things</span>`, e.HTML)
}

// TestSuffix checks what a style writes with and without the suffix of the year.
func TestSuffix(t *testing.T) {
	citation := `<citation disambiguate-add-year-suffix="true"><layout><text value="x"/></layout></citation>`
	style := styled(`<group delimiter=". "><names variable="author"/>`+
		`<date variable="issued"><date-part name="year"/></date><text variable="title"/></group>`, citation)
	item := `{"type":"book","title":"T","author":[{"literal":"A"}],"issued":{"date-parts":[[2020]]}}`
	e := entryOf(t, style, item)
	require.Equal(t, "A. 2020. T", e.Text(1, ""))
	require.Equal(t, "A. 2020b. T", e.Text(1, "b"))
	require.Equal(t, e.Key, entryOf(t, style, strings.Replace(item, `"T"`, `"U"`, 1)).Key)
	require.NotEqual(t, e.Key, entryOf(t, style, strings.Replace(item, "2020", "2021", 1)).Key)

	own := styled(`<group delimiter=". "><group delimiter="-"><text term="no date" form="short"/>`+
		`<text variable="year-suffix"/></group><text variable="title"/></group>`, citation)
	e = entryOf(t, own, `{"type":"book","title":"T"}`)
	require.Equal(t, "N.d. T", e.Text(1, ""))
	require.Equal(t, "N.d.-a. T", e.Text(1, "a"))
	require.Empty(t, entryOf(t, styled(`<text variable="title"/>`, ""), item).Key)
}

// TestAligned checks the two fields of a numbered style.
func TestAligned(t *testing.T) {
	style := strings.Replace(styled(`<text variable="citation-number" suffix="."/><text variable="title"/>`, ""),
		"<bibliography>", `<bibliography second-field-align="flush">`, 1)
	s, err := ParseStyle([]byte(style))
	require.NoError(t, err)
	require.True(t, s.Numbered())
	e := entryOf(t, style, `{"type":"book","title":"T"}`)
	require.Equal(t, `<div class="csl-left-margin">3.</div>`+
		`<div class="csl-right-inline"><span data-title>T</span></div>`, e.Fill(3, ""))
	require.Equal(t, "3. T", e.Text(3, ""))
}

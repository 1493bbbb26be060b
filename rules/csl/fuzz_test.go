package csl

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// everything has each kind of element.
const everything = `<names variable="author editor" delimiter="; "><name and="text" initialize-with=". "
	name-as-sort-order="first" et-al-min="4" et-al-use-first="2" et-al-use-last="true"><name-part name="family"
	text-case="uppercase" font-variant="small-caps"/></name><label form="short" prefix=" (" suffix=")"/><substitute>
	<names variable="translator"/><text variable="title"/></substitute></names><group delimiter=", " prefix=" ("
	suffix=")"><date variable="issued"><date-part name="day" form="ordinal" suffix=" "/><date-part name="month"/>
	<date-part name="year" prefix=" "/></date><text variable="year-suffix"/><date variable="accessed" form="numeric"/>
	</group><text variable="title" quotes="true" text-case="title" font-style="italic"/><choose><if type="book"
	match="any"><text variable="container-title" text-case="sentence" display="block"/></if><else-if
	is-numeric="volume"><number variable="volume" form="long-ordinal"/><label variable="page"/><text variable="page"
	vertical-align="sup"/></else-if></choose><text variable="DOI" prefix="https://doi.org/"/><text variable="URL"
	text-decoration="underline"/><text variable="publisher" text-case="capitalize-all" strip-periods="true"/>
	<number variable="edition" form="roman" suffix="."/><text value=". "/>`

// FuzzEntry renders any item by a style with all kinds of elements.
func FuzzEntry(f *testing.F) {
	const citation = `<citation disambiguate-add-year-suffix="true"><layout/></citation>`
	s, err := ParseStyle([]byte(styled(everything, citation)))
	require.NoError(f, err)
	renderers := [...]*Renderer{s.Renderer(BuiltinLocales(), "en-US"), s.Renderer(BuiltinLocales(), "de-DE")}
	f.Add([]byte(sample))
	f.Add([]byte(`{"type":"book","title":"'a' \"b <b>c</i>\" d","author":[{"family":"d'A","given":"B. de"},"x"],
		"volume":"1-2, 4","page":"n1-2","issued":{"raw":"2020-01/2021"},"edition":"4000"}`))
	f.Add([]byte(`{"issued":{"date-parts":[[-5,13]],"season":2},"accessed":{"literal":"soon"},"URL":"javascript:x"}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		it, err := ReadItem(src)
		if err != nil {
			return
		}
		for _, r := range renderers {
			e := r.Entry(it)
			require.NoError(t, wellFormed(e.HTML))
			require.NoError(t, wellFormed(e.Fill(1, "<b")))
			require.True(t, utf8.ValidString(e.Text(1, "a")))
			require.NotContains(t, e.HTML, `href="javascript`)
		}
	})
}

// FuzzParseStyle reads any style, and renders an item by it if it is one.
func FuzzParseStyle(f *testing.F) {
	f.Add([]byte(styled(everything, "")))
	f.Add([]byte(styled(`<text macro="a"/>`, `<macro name="a"><text term="in"/></macro><locale><terms><term name="in">
		<single>a</single><multiple>b</multiple></term></terms></locale>`)))
	f.Add([]byte(`<style xmlns="` + namespace + `" version="1.0">`))
	it, err := ReadItem([]byte(sample))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := ParseStyle(src)
		if err != nil {
			require.IsType(t, &SyntaxError{}, err)
			require.Positive(t, err.(*SyntaxError).Line)
			return
		}
		require.NoError(t, wellFormed(s.Renderer(BuiltinLocales(), "en-US").Entry(it).HTML))
	})
}

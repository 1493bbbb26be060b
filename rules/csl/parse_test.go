package csl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefused checks that broken styles are refused with the line and the reason.
func TestRefused(t *testing.T) {
	head := "<style xmlns=\"" + namespace + "\" class=\"in-text\" version=\"1.0\">\n<info><title>T</title></info>\n"
	layout := "<bibliography><layout><text value=\"x\"/></layout></bibliography></style>"
	for name, test := range map[string]struct{ style, want string }{
		"no XML":        {"{}", "line 1: the file has no element <style>"},
		"not closed":    {head + "<macro", "line 3: unexpected EOF"},
		"document type": {"<!DOCTYPE style [<!ENTITY a \"b\">]>" + head, "line 1: a document type is not allowed"},
		"entity":        {head + "<macro name=\"&a;\"/>", "line 3: invalid character entity &a;"},
		"namespace":     {"<style/>", "line 1: <style> is not in the namespace " + namespace},
		"a locale":      {`<locale xmlns="` + namespace + `"/>`, "line 1: the document is a <locale>, not a <style>"},
		"version":       {strings.Replace(head, `"1.0"`, `"2.0"`, 1) + layout, `line 1: version "2.0" is not 1.0`},
		"dependent": {`<style xmlns="` + namespace + `" version="1.0"><info>` + "\n" +
			`<link rel="independent-parent" href="http://a/b"/></info></style>`,
			"line 2: the style is only another name of http://a/b: use that one"},
		"no bibliography":   {head + "</style>", "line 1: the style has no <bibliography>"},
		"unknown element":   {head + "<macro name=\"a\">\n<txt/></macro>" + layout, "line 4: unknown element <txt>"},
		"misplaced element": {head + "<layout/>" + layout, "line 3: <layout> is not allowed in <style>"},
		"unknown attribute": {head + "<macro nam=\"a\"/>" + layout, `line 3: <macro> has no attribute "nam"`},
		"value": {head + `<macro name="a"><text value="" font-style="bold"/></macro>` + layout,
			`line 3: font-style="bold" is not allowed for <text>`},
		"variable": {head + `<macro name="a"><names variable="author painter"/></macro>` + layout,
			`line 3: variable="author painter": "painter" is not known`},
		"text": {head + `<macro name="a">b</macro>` + layout, `line 3: <macro> has text: "b"`},
		"two sources": {head + `<macro name="a"><text value="b" term="in"/></macro>` + layout,
			"line 3: <text> needs one of variable, macro, term and value"},
		"twice":     {head + "<macro name=\"a\"/>\n<macro name=\"a\"/>" + layout, `line 4: the macro "a" occurs twice`},
		"two roots": {head + layout + "\n" + head + layout, "line 4: a second element after the end of <style>"},
		"encoding": {`<?xml version="1.0" encoding="iso-8859-1"?>` + head + layout,
			`line 1: the encoding is "iso-8859-1": save the file as UTF-8`},
		"no macro": {head + `<macro name="a"><text macro="b"/></macro>` + layout,
			`line 3: there is no macro "b"`},
		"cycle": {head + `<macro name="a"><text macro="b"/></macro>` + "\n" +
			`<macro name="b"><text macro="a"/></macro>` +
			strings.Replace(layout, `value="x"`, `macro="a"`, 1), "line 4: macros call each other: a → b → a"},
		"order": {head + `<macro name="a"><choose><else><text value="x"/></else></choose></macro>` + layout,
			"line 3: <choose> needs <if>, then <else-if>, then <else>"},
	} {
		_, err := ParseStyle([]byte(test.style))
		require.EqualError(t, err, test.want, name)
		require.IsType(t, &SyntaxError{}, err)
	}
}

// TestStyle checks what a style says about itself.
func TestStyle(t *testing.T) {
	s, err := ParseStyle([]byte(`<style xmlns="` + namespace + `" class="note" version="1.0" default-locale="de-DE">
		<info><title>  A
		style</title></info><citation disambiguate-add-year-suffix="true"><layout/></citation>
		<bibliography><layout><text term="and"/></layout></bibliography></style>`))
	require.NoError(t, err)
	require.Equal(t, "A style", s.Title())
	require.Equal(t, "de-DE", s.Lang())
	require.True(t, s.Suffixed())
	require.False(t, s.Numbered())
	require.Equal(t, "de-DE", s.Renderer(BuiltinLocales(), "en-US").Lang())
	require.Equal(t, "Und", s.Renderer(BuiltinLocales(), "en-US").Entry(&Item{}).Text(1, ""))
}

// TestLocales checks which terms a style has in a language.
func TestLocales(t *testing.T) {
	s, err := ParseStyle([]byte(styled(`<text value="-"/><text term="and"/>`,
		`<locale xml:lang="de"><terms><term name="and">sowie</term></terms></locale>`)))
	require.NoError(t, err)
	for lang, want := range map[string]string{"de-AT": "-sowie", "de": "-sowie", "en-GB": "-and", "fr-FR": "-and",
		"": "-and"} {
		require.Equal(t, want, s.Renderer(BuiltinLocales(), lang).Entry(&Item{}).Text(1, ""), lang)
	}
	for src, want := range map[string]string{
		` version="1.0"/>`: "<locale> has no xml:lang",
		` xml:lang="de"><terms><term/></terms></locale>`:    "<term> has no name",
		` xml:lang="de"><date><date-part/></date></locale>`: "<date> has no form",
	} {
		_, err := ParseLocale([]byte(`<locale xmlns="` + namespace + `"` + src))
		require.EqualError(t, err, "line 1: "+want)
	}
}

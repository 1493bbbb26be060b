package csl_test

import (
	"encoding/xml"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/rules/csl"
)

// TestBuiltinStyles renders works of several types by the built-in styles in both languages.
func TestBuiltinStyles(t *testing.T) {
	const (
		article = `{"type":"article-journal","title":"Owls at night",
			"author":[{"family":"van der Schemer","given":"Ann Bo"},{"family":"Doe","given":"Jo"}],
			"issued":{"date-parts":[[2021,8]]},"container-title":"Night Studies",
			"volume":"7","issue":"2","page":"45-67","publisher":"Umbra","DOI":"10.5555/n.1"}`
		chapter = `{"type":"chapter","title":"Why lamps?","author":[{"family":"Doe","given":"Jo"}],
			"editor":[{"family":"Roe","given":"Kim"}],"issued":{"date-parts":[[2022]]},"container-title":"The Lamp",
			"page":"17-19","publisher":"Umbra","publisher-place":"Halden"}`
		talk = `{"type":"speech","title":"On ice","author":[{"family":"Doe","given":"Jo"}],
			"event-title":"Cold Days","event-place":"Kiel",
			"issued":{"date-parts":[[2023,5,4]]},"event-date":{"date-parts":[[2023,5,4],[2023,5,6]]}}`
		thesis = `{"type":"thesis","title":"Über Eulen","author":[{"family":"Doe","given":"Jo"}],
			"genre":"Doctoral thesis","publisher":"University of Halden"}`
	)
	for _, test := range []struct{ style, language, item, want string }{
		{"institute", "en-US", article,
			"van der Schemer, A. B. & Doe, J. (2021): Owls at night. Night Studies 7(2), 45–67. " +
				"https://doi.org/10.5555/n.1"},
		{"institute", "en-US", chapter,
			"Doe, J. (2022): Why lamps? In: K. Roe (ed.), The Lamp, pp. 17–19. Umbra, Halden."},
		{"institute", "de-DE", chapter,
			"Doe, J. (2022): Why lamps? In: K. Roe (Hg.), The Lamp, S. 17–19. Umbra, Halden."},
		{"institute", "en-US", talk,
			"Doe, J. (2023): On ice. Presented at Cold Days, Kiel, May 4–6, 2023."},
		{"institute", "de-DE", talk,
			"Doe, J. (2023): On ice. Beitrag zu Cold Days, Kiel, 4.–6. Mai 2023."},
		{"institute", "de-DE", thesis,
			"Doe, J. (o. J.): Über Eulen. Doctoral thesis. University of Halden."},
		{"compact", "en-US", article,
			"van der Schemer AB, Doe J. Owls at night. Night Studies 7(2), 45–67 (2021)."},
		{"compact", "de-DE", talk,
			"Doe J. On ice. Cold Days, Kiel (2023)."},
		{"compact", "en-US", thesis,
			"Doe J. Über Eulen. Doctoral thesis, University of Halden."},
	} {
		style, err := csl.ParseStyle(csl.BuiltinStyles()[test.style])
		require.NoError(t, err)
		it, err := csl.ReadItem([]byte(test.item))
		require.NoError(t, err)
		got := style.Renderer(csl.BuiltinLocales(), test.language).Entry(it)
		assert.Equal(t, test.want, words(got.Text(1, "")), test.style)
		assert.Equal(t, test.style == "institute", got.Key != "", "%s tells years apart", test.style)
	}
}

// TestLocalesMatch checks that German has each form of each term that English has, and both all their texts.
func TestLocalesMatch(t *testing.T) {
	type key struct{ Name, Form string }
	terms := func(language string) map[key]bool {
		src, err := os.ReadFile("locales/" + language + ".xml")
		require.NoError(t, err)
		var locale struct {
			Terms []struct {
				Name string `xml:"name,attr"`
				Form string `xml:"form,attr"`
			} `xml:"terms>term"`
		}
		require.NoError(t, xml.Unmarshal(src, &locale))
		all := map[key]bool{}
		for _, term := range locale.Terms {
			k := key{term.Name, term.Form}
			assert.False(t, all[k], "%s has %v twice", language, k)
			all[k] = true
		}
		return all
	}
	german := terms("de-DE")
	for k := range terms("en-US") {
		if len(k.Name) < len("ordinal-01") || k.Name[:len("ordinal-")] != "ordinal-" { // German has one ending
			assert.True(t, german[k], "German has no %v", k)
		}
	}
}

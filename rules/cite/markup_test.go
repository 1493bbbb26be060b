package cite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/rules/cite"
	"vitrine/rules/cite/citetest"
)

// TestMarkup: markup in titles, venues and abstracts keeps its meaning in formats that have it, and leaves words in
// others.
func TestMarkup(t *testing.T) {
	const record = `"type": "publication", "subtype": "article", "year": 2021,
		"journal": "Proc. <i>Owl</i> Soc. <jats:bold>B</jats:bold>", "abstract": "<jats:title>Abstract</jats:title>` +
		`<jats:p>Moths (<jats:italic>Agrotis</jats:italic>) fly at 5&lt;x&lt;9 lux.</jats:p>\n` +
		`<p>Second &amp; last.</p>"}`
	for _, tt := range []struct{ title, words, html, bibtex, csl string }{
		{`Moths in <mml:math xmlns:mml=\"http://www.w3.org/1998/Math/MathML\">` +
			`<mml:msub><mml:mi>RuO</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> lamps`,
			"Moths in RuO2 lamps", "Moths in RuO<sub>2</sub> lamps", `Moths in {RuO}\textsubscript{2} lamps`,
			"Moths in RuO<sub>2</sub> lamps"},
		{"Decay of <math><mmultiscripts><mi>Ca</mi><mprescripts/><none/><mn>38</mn></mmultiscripts></math>",
			"Decay of 38Ca", "Decay of <sup>38</sup>Ca", `Decay of \textsuperscript{38}{Ca}`,
			"Decay of <sup>38</sup>Ca"},
		{"Flight of <jats:italic>Bubo bubo</jats:italic> near CO<jats:sub>2</jats:sub>",
			"Flight of Bubo bubo near CO2", "Flight of <i>Bubo bubo</i> near CO<sub>2</sub>",
			`Flight of \textit{Bubo bubo} near {CO}\textsubscript{2}`,
			"Flight of <i>Bubo bubo</i> near CO<sub>2</sub>"},
		{`<scp>Mothnet</scp>: a <span class=\"smallcaps\">tool</span> for <u>dusk</u><br/>surveys`,
			"Mothnet: a tool for dusk surveys", "Mothnet: a tool for dusk surveys",
			"Mothnet: a tool for dusk surveys",
			"Mothnet: a tool for dusk surveys"},
		{"Lux below <i>x</i> &lt; 5 and p<0.05", "Lux below x < 5 and p<0.05",
			"Lux below <i>x</i> &lt; 5 and p&lt;0.05",
			`Lux below \textit{x} \textless{} 5 and p\textless{}0.05`, "Lux below <i>x</i> < 5 and p<0.05"},
		{"Twice &amp;amp; &amp;lt;b&amp;gt;", "Twice &amp; &lt;b&gt;", "Twice &amp;amp; &amp;lt;b&amp;gt;",
			`Twice \&amp; \&lt;b\&gt;`, "Twice &amp; &lt;b&gt;"},
		{"AT&T &copy and &nosuch; kept", "AT&T &copy and &nosuch; kept", "AT&amp;T &amp;copy and &amp;nosuch; kept",
			`{AT}\&T \&copy and \&nosuch; kept`, "AT&T &copy and &nosuch; kept"},
		{"Search &amp; Rescue: Fern&#225;ndez&#39;s &#x2013; method", "Search & Rescue: Fernández's – method",
			"Search &amp; Rescue: Fern&#225;ndez&#39;s &#x2013; method",
			`Search \& Rescue: Fernández's – method`, "Search & Rescue: Fernández's – method"},
	} {
		var it cite.Item
		builtIn(t).Read(doc(t, `{"title": "`+tt.title+`", `+record), &it)
		assert.Equal(t, tt.words, it.Text)
		assert.Equal(t, tt.html, it.Title)
		e, err := citetest.ReadBibTeX(string(cite.AppendBibTeX(nil, &it, false)))
		require.NoError(t, err)
		assert.Equal(t, tt.bibtex, e.Fields["title"])
		assert.Equal(t, `Proc. \textit{Owl} Soc. \textbf{B}`, e.Fields["journal"])
		assert.Equal(t, `Moths (\textit{Agrotis}) fly at 5\textless{}x\textless{}9 lux. Second \& last.`,
			e.Fields["abstract"])
		csl := string(cite.AppendCSL(nil, &it))
		assert.Contains(t, csl, `"title":"`+tt.csl+`"`)
		assert.Contains(t, csl, `"container-title":"Proc. <i>Owl</i> Soc. <b>B</b>"`)
		ris := string(cite.AppendRIS(nil, &it))
		assert.Contains(t, ris, "TI  - "+tt.words+"\r\n")
		assert.Contains(t, ris, "T2  - Proc. Owl Soc. B\r\n")
		assert.Contains(t, ris, "AB  - Moths (Agrotis) fly at 5<x<9 lux. Second & last.\r\n")
		assert.Equal(t, []string{"Moths (<i>Agrotis</i>) fly at 5&lt;x&lt;9 lux.", "Second &amp; last."},
			it.Paragraphs())
	}
}

// TestReferences: character references are decoded once in every text, and not in ids of records.
func TestReferences(t *testing.T) {
	row := doc(t, `{"_id": "a&amp;b", "type": "publication", "subtype": "chapter", "title": "T", "year": 2021,
		"authors": [{"last": "O&#39;Brien", "first": "Se&aacute;n"},
			{"last": "Fern&aacute;ndez &amp; Sons GmbH", "first": ""}, "M&uuml;ller, J&ouml;rg",
			{"name": "<i>Owl</i> &amp;amp; Co"}],
		"editors": [{"last": "M&uuml;ller", "first": "J&ouml;rg"}], "book": "Computers &amp; Graphics",
		"publisher": "Taylor &amp; Francis", "city": "K&ouml;ln", "series": "Notes &amp; Queries",
		"edition": "2nd &amp; revised", "volume": "A&ndash;B", "issue": "3 &amp; 4", "pages": "1&#8211;9",
		"keywords": ["R&amp;D", "owls &gt; moths", "<i>Bubo</i>"],
		"doi": "10.1000/a&amp;b", "funder": "B&uuml;rger", "funding_number": "A&amp;B 1",
		"_list": {
			"projects": [{"id": "P&amp;", "title": "R&amp;D", "funder": "F&ouml;rderer", "funding_number": "X&amp;"}],
			"persons": [{"id": "x", "name": "A&amp;, B"}]}}`)
	var it cite.Item
	builtIn(t).Read(row, &it)
	var names []string
	for _, p := range append(it.Authors, it.Editors...) {
		names = append(names, p.Inverted())
	}
	assert.Equal(t,
		[]string{"O'Brien, Seán", "Fernández & Sons GmbH", "Müller, Jörg", "Owl &amp; Co", "Müller, Jörg"},
		names)
	got := []string{it.Container, it.Publisher, it.Place, it.Series, it.Edition, it.Volume, it.Issue, it.Pages,
		strings.Join(it.Keywords, ";"), it.Funder, it.Grant, it.DOI, it.ID}
	want := []string{"Computers & Graphics", "Taylor & Francis", "Köln", "Notes & Queries", "2nd & revised", "A–B",
		"3 & 4", "1-9", "R&D;owls > moths;Bubo", "Bürger", "A&B 1", "10.1000/a&b", "a&amp;b"}
	assert.Equal(t, want, got)
	// A mark has plain words, but for codes.
	assert.Equal(t, []cite.Project{{ID: "P&amp;", Title: "R&amp;D", Funder: "Förderer", Grant: "X&amp;"}},
		it.Projects)
}

package cite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// field returns what stands in a text between two others.
func field(text, before, after string) string {
	if _, text, found := strings.Cut(text, before); found {
		text, _, _ = strings.Cut(text, after)
		return text
	}
	return ""
}

// TestStoredPages: every format has the same pages, whatever dash is stored.
func TestStoredPages(t *testing.T) {
	for _, tt := range []struct{ stored, bibtex, first, last, csl string }{
		{`"45-67"`, "45--67", "45", "67", "45-67"}, {`"45–67"`, "45--67", "45", "67", "45-67"},
		{`"45—67"`, "45--67", "45", "67", "45-67"},
		{`"45\u221267"`, "45--67", "45", "67", "45-67"}, {`"45--67"`, "45--67", "45", "67", "45-67"},
		{`"pp. 45‐67"`, "45--67", "45", "67", "45-67"},
		{`"S1-S9"`, "S1--S9", "S1", "S9", "S1-S9"}, {`"12-1–12-9"`, "12-1--12-9", "12-1", "12-9", "12-1–12-9"},
		{`"12-1"`, "12-1", "12-1", "", "12-1"},
		{`"1-5, 9–12"`, "1--5, 9--12", "1-5, 9-12", "", "1-5, 9-12"}, {`"e1234"`, "e1234", "e1234", "", "e1234"},
		{`17`, "17", "17", "", "17"},
		{`"in-press"`, "", "", "", ""}, {`"COVID-19"`, "COVID-19", "COVID-19", "", "COVID-19"},
		{`"n/a-n/a"`, "", "", "", ""},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", "title": "Moths", "pages": `+tt.stored+
			`}`)
		ris := string(cite.AppendRIS(nil, it))
		ld := string(appendJSONLD(nil, it, ""))
		assert.Equal(t, tt.bibtex, field(string(cite.AppendBibTeX(nil, it, false)), "pages = {", "}"), tt.stored)
		assert.Equal(t, [2]string{tt.first, tt.last},
			[2]string{field(ris, "SP  - ", "\r"), field(ris, "EP  - ", "\r")},
			tt.stored)
		assert.Equal(t, tt.csl, field(string(cite.AppendCSL(nil, it)), `"page":"`, `"`), tt.stored)
		if tt.last != "" {
			assert.Equal(t, [2]string{tt.first, tt.last}, [2]string{field(ld, `"pageStart":"`, `"`),
				field(ld, `"pageEnd":"`, `"`)}, tt.stored)
		} else {
			assert.Equal(t, tt.csl, field(ld, `"pagination":"`, `"`), tt.stored)
		}
		meta := map[string]string{}
		cite.Meta(it, func(name, content string) { meta[name] = content })
		assert.Equal(t, [2]string{tt.first, tt.last},
			[2]string{meta["citation_firstpage"], meta["citation_lastpage"]},
			tt.stored)
	}
	it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", "pages": "-", "article_number": "e1234"}`)
	assert.Equal(t, "e1234", it.Pages, "an article without pages")
}

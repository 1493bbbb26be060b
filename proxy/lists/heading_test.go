package lists_test

import (
	"strings"
	"testing"
)

// TestHeadingOfItem: the heading of an item's page has the inline markup of its title, and nothing else of it; what
// programs read has words.
func TestHeadingOfItem(t *testing.T) {
	s := withRecords(t, map[string][]string{"activities": {
		`{"_id": "marked", "type": "publication", "year": 2021, "title": "Growth of <i>E. coli</i> in ` +
			`H<jats:sub>2</jats:sub>O &amp; <a href='javascript:x'>soil</a><script>x()</script> &lt;b&gt;"}`,
		`{"_id": "untitled", "type": "publication", "year": 2021}`,
	}, "projects": {`{"_id": "named", "name": "A<B", "public": true}`}})
	for id, wants := range map[string][]string{
		"marked": {
			`<h1 dir="auto">Growth of <i>E. coli</i> in H<sub>2</sub>O &amp; soil &lt;b&gt;</h1>`,
			`<title>Growth of E. coli in H2O &amp; soil &lt;b&gt;`,
			`property="og:title" content="Growth of E. coli in H2O &amp; soil &lt;b&gt;"`,
		},
		"untitled": {`<h1 dir="auto">untitled</h1>`},
		"named":    {`<h1 dir="auto">A&lt;B</h1>`},
	} {
		page := string(s.Get("/items/"+id, "Accept", "text/html").Body)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %s in %.1500s", id, want, page)
			}
		}
	}
}

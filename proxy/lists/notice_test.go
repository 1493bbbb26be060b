package lists_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noticed are a retracted work, its notice, a correction, and works that are connected by one side only.
var noticed = []string{
	`{"_id": "ret", "type": "publication", "subtype": "article", "title": "Owls & lamps", "year": 2093,
		"authors": [{"last": "Ohm", "first": "Jo"}], "doi": "10.5555/Owls", "retracted": "1"}`,
	`{"_id": "not", "type": "publication", "subtype": "article", "title": "Retraction: Owls & lamps", "year": 2093,
		"doi": "10.5555/n.1", "retraction of": "https://doi.org/10.5555/OWLS"}`,
	`{"_id": "orig", "type": "publication", "subtype": "article", "title": "Moths", "year": 2093, "language": "en",
		"rendered": {"web": "<i>Moths</i> (2093)", "print": "Moths"}}`,
	`{"_id": "err", "type": "publication", "subtype": "article", "title": "Erratum to: Moths", "year": 2093,
		"correction_of": "orig"}`,
	`{"_id": "away", "type": "publication", "subtype": "article", "title": "Bats", "year": 2093,
		"updated-by": [{"DOI": "10.5555/else", "type": "retraction"}]}`,
	`{"_id": "hid", "type": "publication", "title": "Secret notice", "retraction of": "10.5555/else2", "hide": true}`,
	`{"_id": "free", "type": "publication", "title": "Correction of astigmatism", "year": 2093,
		"doi": "10.5555/else2"}`,
}

// TestNotices: a retracted work, its notice and a correction are marked everywhere, and lead to each other.
func TestNotices(t *testing.T) { inBoth(t, testNotices) }

func testNotices(t *testing.T) {
	s := withRecords(t, map[string][]string{"activities": noticed})
	get := func(path string) string { return string(s.Get(path).Body) }

	var list struct {
		Items []struct {
			ID, HTML, Title string
			Notices         []struct{ Type, Label, DOI, URL, Title string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(get("/lists/activities.json?year=2093&lang=de")), &list))
	found := map[string]string{}
	for _, it := range list.Items {
		for _, n := range it.Notices {
			found[it.ID] += strings.TrimSpace(n.Type+" "+n.Label+" "+n.URL) + ";"
		}
		word, _, marked := strings.Cut(strings.TrimPrefix(it.HTML, `<strong class="vl-notice"`), "]</strong> ")
		if assert.Equal(t, len(it.Notices) > 0, marked, it.HTML); marked {
			assert.True(t, strings.HasSuffix(word, it.Notices[0].Label), it.HTML)
			assert.Equal(t, it.ID == "orig", strings.Contains(word, ` lang="de"`), "the citation is in English")
		}
	}
	assert.Equal(t, map[string]string{
		"ret":  "retracted Zurückgezogen https://doi.org/10.5555/n.1;",
		"not":  "retraction Rücknahme https://doi.org/10.5555/OWLS;",
		"orig": "corrected Korrigiert;", "err": "correction Korrektur;",
		"away": "retracted Zurückgezogen https://doi.org/10.5555/else;",
	}, found)

	for path, want := range map[string][]string{
		"/lists/activities?year=2093": {
			`<strong class="vl-notice">[Retracted]</strong> `, `[Corrected]</strong> <i>Moths</i>`},
		"/items/ret": {"<title>Retracted: Owls", `<p class="vl-said">This work was retracted. See ` +
			`<a href="https://data.example/items/not"><bdi>Retraction: Owls &amp; lamps</bdi></a></p>`,
			`content="Retracted: `, `"creativeWorkStatus":"Retracted"`, "note = {Retracted by doi:10.5555/n.1}"},
		"/items/not?lang=de": {"<title>Retraction: Owls", `Dies ist die Mitteilung einer Rücknahme. Siehe ` +
			`<a href="https://data.example/items/ret"><bdi>Owls &amp; lamps</bdi></a></p>`},
		"/items/orig": {
			`<a href="https://data.example/items/err"><bdi>Erratum to: Moths</bdi></a>`},
		"/items/err": {`<a href="https://data.example/items/orig"><bdi>Moths</bdi></a>`},
		"/items/away": {
			`<a href="https://doi.org/10.5555/else"><bdi>https://doi.org/10.5555/else</bdi></a>`},
		"/items/orig.bib":      {"note = {Corrected}"},
		"/items/ret.ris":       {"N1  - Retracted by doi:10.5555/n.1\r\nC8  - retracted\r\n"},
		"/items/orig.csl.json": {`"custom":{"notices":[{"type":"corrected"}]}`},
		"/lists/activities.atom?year=2093": {
			"<title>Retracted: Owls &amp; lamps</title>", "<title>Erratum to: Moths</title>"},
		"/lists/activities.rss?year=2093":            {"<title>Retracted: Bats</title>"},
		"/lists/activities.feed.json?year=2093":      {`"title":"Corrected: Moths"`},
		"/oembed?url=https://data.example/items/ret": {`"title":"Retracted: Owls \u0026 lamps"`},
		"/lists/activities.bib": { // which has most rows of the view
			"note = {Retracted by doi:10.5555/n.1}", "note = {Retraction of doi:10.5555/OWLS}", "note = {Corrected}"},
		"/lists/activities.bib?latex=1&year=2093": {"note = {Retracted by doi:10.5555/n.1}", "note = {Corrected}"},
		"/lists/activities.ris?year=2093": {
			"N1  - Retraction of doi:10.5555/OWLS", "N1  - Retracted by doi:10.5555/n.1\r\nC8  - retracted\r\n",
			"C8  - corrected\r\n"},
		"/lists/activities.csl.json?year=2093": {
			`{"type":"retracted","DOI":"10.5555/n.1"}`, `"custom":{"notices":[{"type":"corrected"}]}`},
		"/lists/activities.jsonld?year=2093": {
			`"creativeWorkStatus":"Retracted"`, `"creativeWorkStatus":"Corrected"`},
	} {
		body := get(path)
		for _, part := range want {
			assert.Contains(t, body, part, path)
		}
	}
	assert.NotContains(t, get("/items/free"), "vl-notice", "the notice is not public")
	assert.NotContains(t, get("/lists/activities.json?q=retracted&year=2093"), `"id"`, "the mark is no word")

	hidden := withRecords(t, map[string][]string{"activities": noticed},
		"retracted", "retraction of", "updated-by", "correction_of")
	for _, id := range []string{"ret", "orig", "away"} {
		body := string(hidden.Get("/items/" + id).Body)
		assert.NotContains(t, body, "etracted", "a hidden field says so")
		assert.NotContains(t, body, "vl-said")
	}

	rows, err := csv.NewReader(strings.NewReader(get("/lists/activities.csv?year=2093"))).ReadAll()
	require.NoError(t, err)
	last := map[string]string{}
	for _, row := range rows {
		last[strings.TrimPrefix(row[0], "\ufeff")] = strings.Join(row[len(row)-2:], " ")
	}
	assert.Equal(t, map[string]string{
		"id": "notice notice_doi", "ret": "retracted 10.5555/n.1", "not": "retraction 10.5555/OWLS", "free": " ",
		"orig": "corrected ", "err": "correction ", "away": "retracted 10.5555/else",
	}, last)
}

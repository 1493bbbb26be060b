package cite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// noticesOf returns the notices of an item as a text.
func noticesOf(it *cite.Item) string {
	var texts []string
	for _, n := range it.Notices {
		texts = append(texts, strings.TrimSpace(n.Code+" "+n.DOI+n.URL+n.ID))
	}
	return strings.Join(texts, "|")
}

// TestNotices: an item says that it was retracted or corrected, or is the notice of that, whatever field has it.
func TestNotices(t *testing.T) {
	for _, tt := range []struct{ row, want string }{
		{`"title": "Lamps"`, ""},
		{`"title": "Correction of astigmatism: a review", "correction": false, "retracted": "0"`, ""},
		{`"retracted": true`, "retracted"},
		{`"retracted": "1"`, "retracted"},
		{`"is_retracted": 1`, "retracted"},
		{`"retraction": "doi:10.5555/n.1"`, "retracted 10.5555/n.1"},
		{`"retracted": true, "retraction": {"doi": "10.5555/n.1", "date": "2021-05-03"}`, "retracted 10.5555/n.1"},
		{`"correction": "true"`, "correction"},
		{`"correction of": "https://doi.org/10.5555/a"`, "correction 10.5555/a"},
		{`"correction_of": "10.5555/a"`, "correction 10.5555/a"},
		{`"correctionOf": "10.5555/a"`, "correction 10.5555/a"},
		{`"correction-of": 7, "correction": true`, "correction 7"},
		{`"erratum_of": ["10.5555/a", "10.5555/b"]`, "correction 10.5555/a|correction 10.5555/b"},
		{`"retraction_of": {"$oid": "284957df32c66b6d7f7f6221"}`, "retraction 284957df32c66b6d7f7f6221"},
		{`"update-to": [{"DOI": "10.5555/a", "type": "erratum", "label": "Erratum"}]`, "correction 10.5555/a"},
		{`"update_to": [{"DOI": "10.5555/a", "type": "new_edition"}]`, ""},
		{`"updated-by": [{"DOI": "10.5555/n.1", "type": "retraction", "source": "retraction-watch"},
			{"DOI": "10.5555/n.2", "type": "correction"}]`, "retracted 10.5555/n.1|corrected 10.5555/n.2"},
		{`"relation": {"is-erratum-for": [{"id-type": "doi", "id": "10.5555/a"}], "has-review": [{"id": "10.5555/` +
			`r"}]}`,
			"correction 10.5555/a"},
		{`"subtype": "erratum"`, "correction"},
		{`"pubtype": ["Journal Article", "Retracted Publication"]`, "retracted"},
		{`"status": "Withdrawn"`, "withdrawn"},
		{`"title": "RETRACTED: Lamps"`, "retracted"},
		{`"title": "<b>Retracted:</b> Lamps", "retracted": "false"`, "retracted"},
		{`"title": "Erratum to: Lamps", "correction of": "10.5555/a"`, "correction 10.5555/a"},
		{`"title": "Retraction: Lamps", "retracted": true`, "retraction"},
		{`"title": "Zurückgezogen: Lampen"`, "retracted"},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", `+tt.row+`}`)
		assert.Equal(t, tt.want, noticesOf(it), tt.row)
	}
	assert.Empty(t, read(t, rules.ViewProjects, `{"_id": 1, "status": "withdrawn", "retracted": true}`).Notices)
}

// TestNoticesInFormats: every export marks a retracted work, and the notice.
func TestNoticesInFormats(t *testing.T) {
	for _, tt := range []struct{ row, note, code, csl, ld string }{
		{`"retracted": true`, "Retracted", "retracted", `"status":"retracted"`, `"creativeWorkStatus":"Retracted"`},
		{`"retraction": "10.5555/n_1", "corrected_by": ["10.5555/c1", "https://c.example/2"], "status": "in press"`,
			"Retracted by doi:10.5555/n_1; Corrected by doi:10.5555/c1, https://c.example/2", "retracted",
			`"custom":{"notices":[{"type":"retracted","DOI":"10.5555/n_1"},{"type":"corrected","DOI":"10.5555/c1"},` +
				`{"type":"corrected","URL":"https://c.example/2"}]}`,
			`"creativeWorkStatus":"Retracted","correction":["https://doi.org/10.5555/c1","https://c.example/2"],` +
				`"subjectOf":[{"@type":"CreativeWork","@id":"https://doi.org/10.5555/n_1"}]`},
		{`"correction of": "10.5555/a"`, "Correction of doi:10.5555/a", "correction",
			`"custom":{"notices":[{"type":"correction","DOI":"10.5555/a"}]}`,
			`"genre":"Correction","about":[{"@type":"CreativeWork","@id":"https://doi.org/10.5555/a"}]`},
		{`"retraction of": 7`, "Retraction", "retraction", `"custom":{"notices":[{"type":"retraction"}]}`,
			`"genre":"Retraction"`},
	} {
		row := `{"_id": 1, "subtype": "article", "title": "Lamps", "year": 2021, ` + tt.row + `}`
		it := read(t, rules.ViewActivities, row)
		csl, ris := string(cite.AppendCSL(nil, it)), string(cite.AppendRIS(nil, it))
		assert.Equal(t, [3]string{tt.note, tt.note, tt.code}, [3]string{
			field(csl, `"note":"`, `"`), field(ris, "N1  - ", "\r"), field(ris, "C8  - ", "\r"),
		}, tt.row)
		assert.Contains(t, csl, tt.csl)
		assert.Contains(t, string(appendJSONLD(nil, it, "")), tt.ld)
		note := strings.ReplaceAll(tt.note, "_", `\_`)
		assert.Contains(t, string(cite.AppendBibTeX(nil, it, false)), "  note = {"+note+"},\n")
		assert.Equal(t, 2021, it.Date.Year)
	}
}

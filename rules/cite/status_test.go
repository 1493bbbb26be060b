package cite_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// TestStatus: a work that has not appeared yet says so, whatever field has it.
func TestStatus(t *testing.T) {
	for _, tt := range []struct{ row, csl, bibtex, date, volume, pages string }{
		{`"year": 2021, "status": "in press"`, "in press", "inpress", "2021", "", ""},
		{`"year": 2021, "publication_status": "Online First", "volume": "7"`, "advance online publication",
			"prepublished", "2021", "7", ""},
		{`"year": "in press", "start_date": "2021-08-01"`, "in press", "inpress", "2021-08-01", "", ""},
		{`"year": "2021", "pages": "[Epub ahead of print]"`, "advance online publication", "prepublished", "2021", "",
			""},
		{`"year": "2021", "volume": "im Druck", "pages": "in press"`, "in press", "inpress", "2021", "", ""},
		{`"year": 2021, "epub": true`, "advance online publication", "prepublished", "2021", "", ""},
		{`"year": 2021, "epub": "1"`, "advance online publication", "prepublished", "2021", "", ""},
		{`"year": 2021, "epub": true, "volume": 7, "pages": "1-9"`, "", "", "2021", "7", "1-9"},
		{`"year": 2021, "epub": false`, "", "", "2021", "", ""},
		{`"year": 2021, "status": "completed", "volume": "Special issue", "pages": "all"`, "", "", "2021",
			"Special issue", "all"},
		{`"year": 2021, "status": ["in press"], "pages": 7`, "", "", "2021", "", "7"},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", "title": "Moths", `+tt.row+`}`)
		assert.Equal(t, [3]string{tt.date, tt.volume, tt.pages}, [3]string{it.Date.String(), it.Volume, it.Pages},
			tt.row)
		assert.Equal(t, tt.csl, field(string(cite.AppendCSL(nil, it)), `"status":"`, `"`), tt.row)
		assert.Equal(t, tt.csl, field(string(appendJSONLD(nil, it, "")), `"creativeWorkStatus":"`, `"`), tt.row)
		assert.Equal(t, tt.bibtex, field(string(cite.AppendBibTeX(nil, it, false)), "pubstate = {", "}"), tt.row)
	}
	it := read(t, rules.ViewProjects, `{"_id": 1, "title": "Moths", "status": "submitted"}`)
	assert.Empty(t, it.Status, "of a project")
}

// TestArticleNumber: an article that has both pages and a number has both in the formats that know the number.
func TestArticleNumber(t *testing.T) {
	for _, tt := range []struct{ row, pages, eid, written string }{
		{`"pages": "1-9", "article_number": "e0123456"`, "1-9", "e0123456", "e0123456"},
		{`"pages": "", "article-number": 104512`, "104512", "104512", ""},
		{`"eid": "e7"`, "e7", "e7", ""},
		{`"pages": "pp. 12", "eid": "12"`, "12", "12", ""},
		{`"pages": "1-9"`, "1-9", "", ""},
	} {
		it := read(t, rules.ViewActivities,
			`{"_id": 1, "type": "publication", "subtype": "article", "title": "Moths", "issue": 4, `+tt.row+`}`)
		assert.Equal(t, [2]string{tt.pages, tt.eid}, [2]string{it.Pages, it.EID}, tt.row)
		assert.Equal(t, [4]string{tt.written, tt.written, tt.written, "4"}, [4]string{
			field(string(cite.AppendBibTeX(nil, it, false)), "  eid = {", "}"),
			field(string(cite.AppendRIS(nil, it)), "C7  - ", "\r"),
			field(string(cite.AppendCSL(nil, it)), `"number":"`, `"`),
			field(string(cite.AppendBibTeX(nil, it, false)), "  number = {", "}"),
		}, tt.row)
	}
}

// TestLicence: the formats that know a licence have its address, or else its name.
func TestLicence(t *testing.T) {
	for stored, want := range map[string]string{
		`"CC BY 4.0"`: "https://creativecommons.org/licenses/by/4.0/", `"Our own"`: "Our own", `""`: "",
	} {
		it := read(t, rules.ViewActivities,
			`{"_id": 1, "type": "publication", "title": "Moths", "license": `+stored+`}`)
		assert.Equal(t, [3]string{want, want, want}, [3]string{
			field(string(cite.AppendBibTeX(nil, it, false)), "copyright = {", "}"),
			field(string(cite.AppendRIS(nil, it)), "CR  - ", "\r"),
			field(string(appendJSONLD(nil, it, "")), `"license":"`, `"`),
		}, stored)
	}
}

// TestNumber: reports and patents have their number in every format that knows one.
func TestNumber(t *testing.T) {
	for _, tt := range []struct{ row, number, ld, meta string }{
		{`"subtype": "report", "report_number": "TR-2021/7"`, "TR-2021/7", "reportNumber",
			"citation_technical_report_number"},
		{`"subtype": "report", "number": 7, "issn": "0317-8471"`, "7", "reportNumber",
			"citation_technical_report_number"},
		{`"subtype": "patent", "patent_number": "EP 1 234 567 B1"`, "EP 1 234 567 B1", "identifier",
			"citation_patent_number"},
		{`"subtype": "article", "number": "7"`, "", "reportNumber", ""},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, "type": "publication", "title": "Moths", `+tt.row+`}`)
		meta := map[string]string{}
		cite.Meta(it, func(name, content string) { meta[name] = content })
		assert.Equal(t, [5]string{tt.number, tt.number, tt.number, tt.number, tt.number}, [5]string{
			field(string(cite.AppendBibTeX(nil, it, false)), "  number = {", "}"),
			field(string(cite.AppendRIS(nil, it)), "SN  - ", "\r"),
			field(string(cite.AppendCSL(nil, it)), `"number":"`, `"`),
			field(string(appendJSONLD(nil, it, "")), `"`+tt.ld+`":"`, `"`), meta[tt.meta],
		}, tt.row)
	}
}

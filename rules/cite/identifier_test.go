package cite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules"
	"vitrine/rules/cite"
)

// TestStoredDOI: a work has one DOI whatever form is stored, and another address in its place is the work's link.
func TestStoredDOI(t *testing.T) {
	const sici = "10.1002/1097-4636(20011205)57:3<432::AID-JBM1186>3.0.CO;2-G"
	for _, tt := range []struct{ row, doi, url string }{
		{`"doi": "` + sici + `"`, sici, ""},
		{`"doi": "https://doi.org/10.1002/1097-4636(20011205)57:3%3C432::AID-JBM1186%3E3.0.CO;2-G"`, sici, ""},
		{`"doi": "https://doi.org/` + sici + `"`, sici, ""},
		{`"doi": "https://doi.org/10.2307%2F1990888"`, "10.2307/1990888", ""},
		{`"doi": "https://www.doi.org/10.5555/owl.1"`, "10.5555/owl.1", ""},
		{`"doi": "info:doi/10.5555/owl.2"`, "10.5555/owl.2", ""},
		{`"doi": "doi:https://doi.org/10.5555/owl.4"`, "10.5555/owl.4", ""},
		{`"doi": "10.5555/a%b"`, "10.5555/a%b", ""},
		{`"doi": "10.5555/owl?x=1&y=2"`, "10.5555/owl?x=1&y=2", ""},
		{`"doi": "10.5555/owl.6."`, "10.5555/owl.6.", ""},
		{`"doi": "HTTPS://DOI.ORG/10.5555/OWL.8"`, "10.5555/OWL.8", ""},
		{`"doi": ["10.5555/owl.12"]`, "10.5555/owl.12", ""},
		{`"doi": ["none", "10.5555/owl.12", "10.5555/owl.13"], "link": "https://a.example/1"`, "10.5555/owl.12",
			"https://a.example/1"},
		{`"doi": "https://publisher.example/articles/77"`, "", "https://publisher.example/articles/77"},
		{`"doi": ["https://publisher.example/articles/77"], "link": "soon"`, "",
			"https://publisher.example/articles/77"},
		{`"doi": "https://publisher.example/articles/77", "link": "https://a.example/1"`, "", "https://a.example/1"},
		{`"doi": "javascript:alert(1)"`, "", ""},
		{`"doi": {"a": 1}`, "", ""},
		{`"doi": 10.5555`, "", ""},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, `+tt.row+`}`)
		assert.Equal(t, [2]string{tt.doi, tt.url}, [2]string{it.DOI, it.URL}, tt.row)
	}
}

// TestStoredNumbers: labels of numbers are no part of them, and what is no number stays.
func TestStoredNumbers(t *testing.T) {
	for _, tt := range []struct{ row, issn, isbn, pmid string }{
		{`"issn": "ISSN 0317-8471 (print), 1050124x (online)", "isbn": "ISBN-13: 978 3 16 148410 0", ` +
			`"pubmed": "PMID: 31452104"`,
			"0317-8471, 1050-124X", "978-3-16-148410-0", "31452104"},
		{`"issn": ["0317-8471", null, "0317-8471", ["x"], "1050-124X"], "isbn": ["ISBN 3-16-148410-X", "1"], ` +
			`"pubmed": 31452104`,
			"0317-8471, 1050-124X", "3-16-148410-X, 1", "31452104"},
		{`"issn": 3178471, "isbn": 9783161484100, "pubmed": "https://pubmed.ncbi.nlm.nih.gov/31452104/"`, "3178471",
			"9783161484100", "31452104"},
		{`"issn": "none yet", "isbn": "-", "pubmed": "none"`, "none yet", "", ""},
	} {
		it := read(t, rules.ViewActivities, `{"_id": 1, `+tt.row+`}`)
		assert.Equal(t, [3]string{tt.issn, tt.isbn, tt.pmid}, [3]string{it.ISSN, it.ISBN, it.PMID}, tt.row)
	}
}

// TestStoredORCID: an author has the ORCID of a public person of the institute, or else the record's, unless the
// author is a person of the institute who is not public.
func TestStoredORCID(t *testing.T) {
	const public = `"_list": {"persons": [{"id": "ann", "orcid": "0000-0002-1825-0097"}, {"id": "bob"}]}`
	for author, want := range map[string]string{
		`"user": "ann"`: "0000-0002-1825-0097",
		`"user": "ann", "orcid": "0000-0001-5109-3700"`:      "0000-0002-1825-0097",
		`"user": "bob", "orcid": "0000-0001-5109-3700"`:      "0000-0001-5109-3700",
		`"user": "eve", "orcid": "0000-0001-5109-3700"`:      "",
		`"orcid": "https://orcid.org/0000-0002-1694-233x"`:   "0000-0002-1694-233X",
		`"user": "", "orcid": "ORCID iD: 0000000151093700"`:  "0000-0001-5109-3700",
		`"user": null, "orcid": "0000-0001-5109-3701"`:       "0000-0001-5109-3701",
		`"orcid": "https://example.org/0000-0001-5109-3700"`: "",
		`"orcid": 7`: "",
	} {
		it := read(t, rules.ViewActivities,
			fmt.Sprintf(`{"_id": 1, "authors": [{"last": "A", "first": "B", %s}], %s}`,
				author, public))
		assert.Equal(t, want, it.Authors[0].ORCID, author)
	}
	it := read(t, rules.ViewActivities,
		`{"_id": 1, "authors": [{"last": "A", "first": "B", "orcid": "0000-0001-5109-3700"}]}`)
	assert.Contains(t, string(cite.AppendJSONLD(nil, it, "", "", nil)),
		`"@id":"https://orcid.org/0000-0001-5109-3700"`)
	assert.Contains(t, metaOf(it), "citation_author_orcid https://orcid.org/0000-0001-5109-3700")
}

package lists_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestNumbersInSearch: q finds a record by its numbers, in any form in which readers paste them, and no other record.
func TestNumbersInSearch(t *testing.T) {
	const work = `"type": "publication", "title": "Zyx moths", "year": 1931, `
	s := withRecords(t, map[string][]string{"activities": {
		`{"_id": "book", ` + work + `"subtype": "book", "isbn": ["ISBN 978-3-16-148410-0 (hbk)", "0-8044-2957-X"]}`,
		`{"_id": "old", ` + work + `"subtype": "book", "isbn": "316148410X"}`,
		`{"_id": "article", ` + work + `"subtype": "article", "issn": ["0317-8471 (print)", "1050124x"],
			"pubmed": "PMID: 31452", "article_number": "e0123456", "pages": "1-9"}`,
		`{"_id": "other", ` + work + `"subtype": "article", "pubmed": 314521, "issn": "1932-6203"}`,
		`{"_id": "report", ` + work + `"subtype": "report", "report_number": "ZTR-2021/7"}`,
		`{"_id": "patent", ` + work + `"subtype": "patent", "patent_number": "ZP 1 234 567 B1"}`,
	}})
	for q, want := range map[string]string{
		"978-3-16-148410-0":                     "book old",
		"9783161484100":                         "book old",
		"978 3 16 148410 0":                     "book old",
		"ISBN-13: 978-3-16-148410-0 (hardback)": "book old",
		"urn:isbn:9783161484100":                "book old",
		"978\u20113\u201116\u2011148410\u20110": "book old",
		"3-16-148410-x":                         "book old",
		"isbn 316148410X":                       "book old",
		"978-0-8044-2957-3":                     "book",
		"080442957x":                            "book",
		"zyx 9783161484100":                     "book old",
		"9783161484":                            "book old",
		"978-3-16-148410-1":                     "",
		"0317-8471":                             "article",
		"03178471":                              "article",
		"ISSN 0317 8471":                        "article",
		"eISSN: 1050-124x":                      "article",
		"0317\u20138471":                        "article",
		"https://portal.issn.org/resource/ISSN/0317-8471": "article",
		"0317-8471 (print), 1050-124X (online)":           "article",
		"PMID: 31452":                                     "article",
		"pmid31452":                                       "article",
		"https://pubmed.ncbi.nlm.nih.gov/31452/":          "article",
		"PubMed ID 314521":                                "other",
		"314521":                                          "other",
		"31452":                                           "article other", // words may go on
		"PMID 3145":                                       "",
		"e0123456":                                        "article",
		"ZTR-2021/7":                                      "report",
		"ztr 2021 7":                                      "report",
		"ZTR20217":                                        "report",
		"ZP 1 234 567 B1":                                 "patent",
		"ZP1234567B1":                                     "patent",
		"zp1234567":                                       "patent",
		"ZP 1234567 B1":                                   "patent",
		"ZP 1.234.567":                                    "patent",
		"zyx 1932":                                        "", // no year, but the beginning of an ISSN
		"zyx 1931":                                        "book old article other report patent",
	} {
		found := map[string]bool{}
		for _, id := range idsOf(getList(s, "/lists/activities.json?q="+url.QueryEscape(q))) {
			found[id] = true
		}
		for _, id := range strings.Fields(want) {
			if !found[id] {
				t.Errorf("%s does not find %s", q, id)
			}
			delete(found, id)
		}
		if len(found) > 0 {
			t.Errorf("%s also finds %v", q, found)
		}
	}
}

// TestNumbersInSearchAreCanonical: all forms of a number have one address.
func TestNumbersInSearchAreCanonical(t *testing.T) {
	s := withRecords(t, nil)
	for q, want := range map[string]string{
		"ISBN 978-3-16-148410-0": "9783161484100", "0317-8471": "03178471", "eissn 1050-124x": "1050124X",
		"pmid:31452": "PMID+31452", "PMID 31452": "PMID+31452", "2019-2021": "2019-2021", "2021 moths": "2021+moths",
		"pubmed 2021": "pubmed+2021", "ISBN": "ISBN", "2021-05-03-01": "2021-05-03-01",
	} {
		got := getList(s, "/lists/activities.json?q="+url.QueryEscape(q)).Self
		if got != "https://data.example/lists/activities.json?q="+want {
			t.Errorf("%s is at %s", q, got)
		}
	}
}

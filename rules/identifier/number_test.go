package identifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules/identifier"
)

// each checks what a function makes of texts, and that it leaves its own results as they are.
func each(t *testing.T, read func(string) string, want map[string]string) {
	t.Helper()
	for in, want := range want {
		assert.Equal(t, want, read(in), "%q", in)
		assert.Equal(t, want, read(want), "%q twice", in)
	}
}

func TestISSN(t *testing.T) {
	each(t, identifier.ISSN, map[string]string{
		"0317-8471":                          "0317-8471",
		"1050-124x":                          "1050-124X",
		"1050124X":                           "1050-124X",
		" 0317 8471 ":                        "0317-8471",
		"0317\u20138471":                     "0317-8471",
		"0317\u00a0-\u00a08471":              "0317-8471",
		"ISSN: 0317-8471":                    "0317-8471",
		"ISSN 0317-8471":                     "0317-8471",
		"eISSN0317-8471":                     "0317-8471",
		"urn:issn:0317-8471":                 "0317-8471",
		"https://portal.issn.org/0317-8471":  "0317-8471",
		"0317-8471 (print), 1050-124X":       "0317-8471, 1050-124X",
		"p-ISSN 03178471; e-ISSN: 1050-124x": "0317-8471, 1050-124X",
		"0317-8471 1050-124X":                "0317-8471, 1050-124X",
		"0317-8471/1050-124X":                "0317-8471, 1050-124X",
		"0317-8471, 1050-124X":               "0317-8471, 1050-124X",
		"0317-8471, 03178471":                "0317-8471",
		"none yet":                           "none yet",
		"1, 2":                               "1, 2",
		"ISSN":                               "",
		"":                                   "",
		"031784711":                          "031784711",
	})
}

func TestISBN(t *testing.T) {
	each(t, identifier.ISBN, map[string]string{
		"978-3-16-148410-0":                     "978-3-16-148410-0",
		"9783161484100":                         "9783161484100",
		"3-16-148410-x":                         "3-16-148410-X",
		"080442957X":                            "080442957X",
		"978\u20113\u201116\u2011148410\u20110": "978-3-16-148410-0",
		"978 3 16 148410 0":                     "978-3-16-148410-0",
		"978-3-16 148410 0":                     "978-3-16-148410-0",
		"978 3161484100":                        "9783161484100",
		"3 16 148410 X":                         "3-16-148410-X",
		"ISBN-13: 978-3-16-148410-0":            "978-3-16-148410-0",
		"ISBN 13 978-3-16-148410-0":             "978-3-16-148410-0",
		"ISBN: 9783161484100":                   "9783161484100",
		"ISBN9783161484100":                     "9783161484100",
		"e-ISBN 978-3-16-148410-0 (eBook)":      "978-3-16-148410-0",
		"urn:isbn:9783161484100":                "9783161484100",
		"ISBN-10: 0-8044-2957-X; ISBN-13: 978-3-16-148410-0":      "0-8044-2957-X, 978-3-16-148410-0",
		"978-3-16-148410-0 (hbk.), 9783161484117 (pbk., 2nd ed.)": "978-3-16-148410-0, 9783161484117",
		"9783161484100 9783161484117":                             "9783161484100, 9783161484117",
		"080442957X 9783161484117":                                "080442957X, 9783161484117",
		"978-3-16-148410-0, 978-3-16-148410-0":                    "978-3-16-148410-0",
		"1, 2":                                                    "1, 2",
		"none yet":                                                "none yet",
		"ISBN 12345":                                              "12345",
		"":                                                        "",
	})
}

func TestPMID(t *testing.T) {
	each(t, identifier.PMID, map[string]string{
		"31452104":           "31452104",
		"31":                 "31",
		" PMID: 31452104 ":   "31452104",
		"pmid:31452104":      "31452104",
		"PubMed ID 31452104": "31452104",
		"PMID 31452104 [PubMed - indexed for MEDLINE]":    "31452104",
		"31452104; PMCID: PMC6710283":                     "31452104",
		"031452104":                                       "31452104",
		"info:pmid/31452104":                              "31452104",
		"https://pubmed.ncbi.nlm.nih.gov/31452104/":       "31452104",
		"PMID: https://pubmed.ncbi.nlm.nih.gov/31452104/": "31452104",
		"pubmed.ncbi.nlm.nih.gov/31452104/?format=ris":    "31452104",
		"http://www.ncbi.nlm.nih.gov/pubmed/31452104#a":   "31452104",
		"https://pubmed.ncbi.nlm.nih.gov/?term=31452104":  "31452104",
		"https://europepmc.org/article/MED/31452104":      "31452104",
		"https://pubmed.example/31452104":                 "",
		"PMC6710283":                                      "",
		"1234567890":                                      "",
		"31a":                                             "",
		"none":                                            "",
		"0":                                               "",
		"":                                                "",
	})
	assert.Empty(t, identifier.PMIDAddress(""))
	assert.Equal(t, "https://pubmed.ncbi.nlm.nih.gov/31452104/", identifier.PMIDAddress("31452104"))
}

func TestORCID(t *testing.T) {
	forms := map[string]string{
		"0000-0002-1694-233X":                                  "0000-0002-1694-233X",
		"https://orcid.org/0000-0002-1694-233x":                "0000-0002-1694-233X",
		"HTTP://WWW.ORCID.ORG/0000-0002-1694-233X/":            "0000-0002-1694-233X",
		"https://orcid.org/0000-0002-1694-233X?lang=de#works":  "0000-0002-1694-233X",
		"https://orcid.org/my-orcid?orcid=0000-0002-1694-233X": "0000-0002-1694-233X",
		"orcid.org/000000021694233X":                           "0000-0002-1694-233X",
		"ORCID iD: 0000-0003-1415-9265":                        "0000-0003-1415-9265",
		"orcid:0000-0002-1825-0097":                            "0000-0002-1825-0097",
		"ORCID: https://orcid.org/0000-0002-1825-0097":         "0000-0002-1825-0097",
		"(0000-0002-1825-0097)":                                "0000-0002-1825-0097",
		"<https://orcid.org/0000-0002-1825-0097>":              "0000-0002-1825-0097",
		" 000000021694233x ":                                   "0000-0002-1694-233X",
		"0000 0002 1825 0097":                                  "0000-0002-1825-0097",
		"0000 - 0002 - 1825 - 0097":                            "0000-0002-1825-0097",
		"0000\u20130002\u20111825\u22120097":                   "0000-0002-1825-0097",
		"0000-0002-1825-0097\u200b\u00a0":                      "0000-0002-1825-0097",
		"https://example.org/0000-0002-1825-0097":              "",
		"javascript://orcid.org/0000-0002-1825-0097":           "",
		"0000-0002-1825-009":                                   "",
		"0000-0002-1825-00971":                                 "",
		"000X-0002-1825-0097":                                  "",
		"\uff10000-0002-1825-0097":                             "",
		"see my page":                                          "",
		"":                                                     "",
	}
	each(t, identifier.ORCID, forms)
	each(t, identifier.FindORCID, forms)
	for in, want := range map[string]string{ // a wrong check digit
		"0000-0002-1825-0098": "0000-0002-1825-0098", "orcid:0000000218250098": "0000-0002-1825-0098",
		"0000000218250098":    "",
		"0000 0002 1825 0098": "",
	} {
		assert.Equal(t, want, identifier.FindORCID(in), in)
		assert.Equal(t, "0000-0002-1825-0098", identifier.ORCID(in), in)
	}
	assert.Empty(t, identifier.FindORCID("2021 2022 2023 2024"))
	assert.Empty(t, identifier.FindORCID("1234-0002-1825-0098"))
	for orcid, want := range map[string]bool{
		"0000-0002-1825-0097": true, "0000-0002-1694-233X": true, "0000-0001-5109-3700": true,
		"0000-0002-1825-0098": false, "0000-0002-1825-009X": false, "0000000218250097": false, "": false,
	} {
		assert.Equal(t, want, identifier.ValidORCID(orcid), orcid)
	}
	assert.Empty(t, identifier.ORCIDAddress(""))
	assert.Equal(t, "https://orcid.org/0000-0002-1825-0097", identifier.ORCIDAddress("0000-0002-1825-0097"))
}

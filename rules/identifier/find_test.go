package identifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules/identifier"
)

func TestFindNumber(t *testing.T) {
	for in, want := range map[string]string{
		"978-3-16-148410-0":                     "9783161484100",
		"9783161484100":                         "9783161484100",
		"978 3 16 148410 0":                     "9783161484100",
		"978\u20133\u201316\u2013148410\u20130": "9783161484100",
		"3-16-148410-x":                         "316148410X",
		"ISBN-13: 978-3-16-148410-1 (hbk.)":     "9783161484101",
		"urn:isbn:3161484101":                   "3161484101",
		"9783161484100, 3-16-148410-X":          "9783161484100",
		"0317-8471":                             "03178471",
		"0317\u20138471":                        "03178471",
		"1050-124x":                             "1050124X",
		"0317-8471 (print), 1050-124X":          "03178471",
		"ISSN 0317 8471":                        "03178471",
		"eISSN 03178472":                        "03178472",
		"https://portal.issn.org/resource/ISSN/0317-8471": "03178471",

		"978-3-16-148410-1":      "", // a wrong check digit
		"0317-8472":              "",
		"03178471":               "", // a date?
		"2021 2022":              "",
		"2045-2055":              "", // a valid ISSN, but a range of years
		"2021-05-03-01":          "",
		"2021-05-03":             "",
		"owls 978-3-16-148410-0": "",
		"978-3-16-148410-0 owls": "",
		"0317-8471 owls":         "",
		"ISBN owls":              "",
		"ISSN":                   "",
		"":                       "",
		"10.5555/9783161484100":  "",
		"+49 30 1234567":         "",
		"0000-0002-1825-0097":    "",
	} {
		assert.Equal(t, want, identifier.FindNumber(in), in)
	}
}

func TestISBNs(t *testing.T) {
	for in, want := range map[string][]string{
		"978-3-16-148410-0": {"9783161484100", "316148410X"},
		"0-8044-2957-X":     {"080442957X", "9780804429573"},
		"9791090636071":     {"9791090636071"},
		"none":              nil,
		"12345":             nil,
		"X123456789":        nil,
		"":                  nil,
	} {
		assert.Equal(t, want, identifier.ISBNs(in), in)
	}
}

func TestFindPMID(t *testing.T) {
	for in, want := range map[string]string{
		"PMID: 31452104":     "31452104",
		"pmid31452104":       "31452104",
		"[PMID 31452104]":    "31452104",
		"PubMed ID: 31":      "31",
		"info:pmid/31452104": "31452104",
		"https://pubmed.ncbi.nlm.nih.gov/31452104/":  "31452104",
		"www.ncbi.nlm.nih.gov/pubmed/31452104":       "31452104",
		"https://europepmc.org/article/MED/31452104": "31452104",
		"31452104":                     "",
		"2021 moths":                   "",
		"PubMed 2021":                  "",
		"PMID":                         "",
		"PMID2021 beetles":             "",
		"PMID: 31452104; PMCID: PMC67": "31452104",
		"PMC31452104":                  "",
		"medicine/med/1 x":             "",
		"":                             "",
	} {
		assert.Equal(t, want, identifier.FindPMID(in), in)
	}
}

// FuzzFind: what is found in a text is found in itself, with a label.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"ISBN 978-3-16-148410-0 (hbk)", "0317-8471, 1050-124x", "PMID: 31452104 [x]", "urn:issn:X",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		number, pmid := identifier.FindNumber(s), identifier.FindPMID(s)
		if number != "" {
			label := "ISBN "
			if len(number) == 8 {
				label = "ISSN "
			}
			assert.Equal(t, number, identifier.FindNumber(label+number), "%q", s)
		}
		if pmid != "" {
			assert.Equal(t, pmid, identifier.FindPMID("PMID "+pmid), "%q", s)
		}
		identifier.ISBNs(s)
	})
}

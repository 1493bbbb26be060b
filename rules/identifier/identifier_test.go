package identifier_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules/identifier"
)

// TestAllocations: a text in its form already is not copied.
func TestAllocations(t *testing.T) {
	for name, read := range map[string]func(){
		"doi":   func() { identifier.DOIKey(identifier.DOI("10.5555/owl.1")) },
		"orcid": func() { identifier.FindORCID(identifier.ORCID("0000-0002-1825-0097")) },
		"issn":  func() { identifier.ISSN("0317-8471") },
		"isbn":  func() { identifier.ISBN("978-3-16-148410-0") },
		"pmid":  func() { identifier.PMID("31452104") },
		"empty": func() {
			identifier.DOI("")
			identifier.ORCID("")
			identifier.ISSN("")
			identifier.ISBN("")
			identifier.PMID("")
		},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, read), name)
	}
}

// FuzzRead: what is read stays as it is when it is read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		sici, "https://doi.org/https://doi.org/10.5555%2Fa%253Cb?utm_x=1&y#z", "(DOI: 10.5555/x [doi])",
		"info:doi/doi:&lt;",
		"ORCID iD: https://orcid.org/000000021694233x?lang=en", "ISSN 1234-567x (print); 87654321",
		"ISBN-13: 978 3 16 148410 0, 316148410X",
		"https://pubmed.ncbi.nlm.nih.gov/?term=031452104#x", "\u200b10.5555/\u2028x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, read := range map[string]func(string) string{
			"DOI": identifier.DOI, "ORCID": identifier.ORCID, "FindORCID": identifier.FindORCID,
			"ISSN": identifier.ISSN,
			"ISBN": identifier.ISBN, "PMID": identifier.PMID,
		} {
			if once := read(s); once != read(once) {
				t.Errorf("%s of %q is %q, and of this %q", name, s, once, read(once))
			}
		}
		identifier.DOIOfPage(s)
	})
}

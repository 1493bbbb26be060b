package identifier

import (
	"regexp"
	"slices"
	"strings"
)

// ISSN returns the ISSNs in s, with hyphens and separated by ", ", each once, and without labels such as "ISSN" and
// "(print)". If s has no ISSN, it returns s without a label: what else an institute stores stays. "eISSN 03178471
// (online); 2049-363x" becomes 0317-8471, 2049-363X.
func ISSN(s string) string {
	if s == "" || areISSN(s) {
		return s
	}
	s = tidy(s)
	var all []string
	for _, parts := range issns.FindAllStringSubmatch(s, -1) {
		all = appendNew(all, parts[1]+"-"+strings.ToUpper(parts[2]))
	}
	if len(all) == 0 {
		return withoutLabel(s)
	}
	return strings.Join(all, ", ")
}

// issns matches an ISSN. Letters may stand before it, as in "eISSN1234-5678".
var issns = regexp.MustCompile(`(?:^|[^0-9])([0-9]{4})` + separator + `([0-9]{3}[0-9Xx])\b`)

// separator matches what may stand between the parts of a number. It is a dash or minus of any kind, with or
// without blanks, or a blank.
const separator = `(?: ?[\pPd\x{2212}] ?| )?`

// areISSN reports whether ISSN has nothing to do.
func areISSN(s string) bool {
	for one := range strings.SplitSeq(s, ", ") {
		if !isISSN(one) {
			return false
		}
	}
	return true
}

// isISSN reports whether a text has the form of one ISSN; it does not verify the check digit.
func isISSN(s string) bool {
	if len(s) != len("0317-8471") {
		return false
	}
	for i := range len(s) {
		if i == 4 && s[i] != '-' || i != 4 && !isDigit(s[i]) && (s[i] != 'X' || i < 8) {
			return false
		}
	}
	return true
}

// ISBN returns the ISBNs in s, with the hyphens that are stored and separated by ", ", each once, and without
// labels such as "ISBN-13:" and "(hardback)". Blanks between all parts of a number become hyphens, others vanish.
// If s has no ISBN, it returns s without a label. "ISBN-13: 978 3 16 148410 0 (hardback)" becomes
// 978-3-16-148410-0.
func ISBN(s string) string {
	if s == "" || isISBN(s) {
		return s
	}
	s = withoutLabel(tidy(s))
	var all []string
	for _, found := range isbns.FindAllString(s, -1) {
		all = appendNew(all, hyphenated(found))
	}
	if len(all) == 0 {
		return s
	}
	return strings.Join(all, ", ")
}

// isbns matches an ISBN of 13 digits, or else of 10.
var isbns = regexp.MustCompile(`\b(?:97[89](?:` + separator + `[0-9]){10}` +
	`|[0-9](?:` + separator + `[0-9]){8}` + separator + `[0-9Xx])\b`)

// isISBN reports whether ISBN has nothing to do.
func isISBN(s string) bool {
	digits := 0
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			digits++
		case s[i] == 'X' && digits == 9 && i == len(s)-1:
			return true
		case s[i] != '-' || i == 0 || s[i-1] == '-' || i == len(s)-1:
			return false
		}
	}
	return digits == 10 || digits == 13 && (strings.HasPrefix(s, "978") || strings.HasPrefix(s, "979"))
}

// hyphenated returns an ISBN with one hyphen for what separates its parts. Whether the blanks are the hyphens of
// the ISBN shows in the number of parts alone; otherwise none is better than wrong ones.
func hyphenated(isbn string) string {
	separates := func(r rune) bool { return r == ' ' || !isDigit(byte(r)) && r != 'x' && r != 'X' }
	parts := strings.FieldsFunc(isbn, separates)
	digits := strings.ToUpper(strings.Join(parts, ""))
	if len(parts) != len(digits)/3+1 && strings.Contains(isbn, " ") { // 4 parts of 10 digits, 5 of 13
		return digits
	}
	return strings.ToUpper(strings.Join(parts, "-"))
}

// withoutLabel returns s without the names of the numbers in it.
func withoutLabel(s string) string { return strings.TrimSpace(labelled.ReplaceAllString(s, "")) }

var labelled = regexp.MustCompile(
	`(?i)\b(?:[ep]-?|(?:print|online|linking) )?IS[BS]N(?:[- ]?1[03](?:[: ]|$)|-L\b)?[:.#= ]*`)

// appendNew appends a number that is not there yet: print and online editions may have the same one.
func appendNew(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// PMID returns the number of a record in PubMed, or "" if s is something else. s may be the address of its page, or
// begin with a label such as "PMID:". Zeros at the beginning go, as in PubMed.
func PMID(s string) string {
	if s == "" || isPMID(s) {
		return s
	}
	if parts := pmids.FindStringSubmatch(tidy(s)); parts != nil {
		return parts[1]
	}
	return ""
}

// PMIDAddress returns the address of the page of a record in PubMed, or "" if pmid is "".
func PMIDAddress(pmid string) string {
	if pmid == "" {
		return ""
	}
	return "https://pubmed.ncbi.nlm.nih.gov/" + pmid + "/"
}

// pmids matches a number after labels and addresses of PubMed and Europe PMC, and before what does not belong to it.
var pmids = regexp.MustCompile(`(?i)^[(<\[]?(?:` +
	`(?:https?:/*)?(?:www\.)?(?:pubmed\.(?:ncbi\.nlm\.nih\.)?gov|ncbi\.nlm\.nih\.gov(?:/m)?/pubmed` +
	`|europepmc\.org/(?:article|abstract)/med)/+(?:\?term=)?` +
	`|info:pmid/|pmid|pubmed(?:[- ]?id)?|[:=#. ]+)*` +
	`0*([1-9][0-9]{0,8})(?:[^0-9a-z].*)?$`)

// isPMID reports whether PMID has nothing to do.
func isPMID(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) <= 9 && s[0] != '0'
}

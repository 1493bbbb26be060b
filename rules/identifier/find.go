package identifier

import (
	"regexp"
	"strings"
)

// FindNumber returns the first ISBN or ISSN of a text that has nothing else, without hyphens, or "": for words to
// search, which may be anything. A number without a label must have the right check digit, and an ISSN a hyphen:
// dates and ranges of years have the same shape. "ISBN 978-3-16-148410-0" and "0317-8471" are numbers; "2017-2021"
// and "12345678" are not.
func FindNumber(s string) string {
	s = strings.TrimPrefix(tidy(s), "urn:")
	if _, after, found := strings.Cut(s, "portal.issn.org/resource/"); found {
		s = strings.Replace(after, "/", " ", 1)
	}
	rest := withoutLabel(s)
	labelled := rest != s
	if found := isbns.FindString(rest); found != "" {
		isbn := compact(found)
		if onlyNumbers(rest, isbns) && (labelled || validISBN(isbn)) {
			return isbn
		}
		return ""
	}
	found := issns.FindStringSubmatch(rest)
	if found == nil || !onlyNumbers(rest, issns) {
		return ""
	}
	issn := strings.ToUpper(found[1] + found[2])
	hyphen := strings.Trim(found[0], "0123456789Xx ") != ""
	if labelled || hyphen && validISSN(issn) && !isYears(issn) {
		return issn
	}
	return ""
}

// onlyNumbers reports whether a text begins with a number and has others and remarks in brackets at most. A text
// with other words is a search for these, in which the number is one word of several.
func onlyNumbers(s string, numbers *regexp.Regexp) bool {
	at := numbers.FindStringIndex(s)
	rest := remarks.ReplaceAllString(numbers.ReplaceAllString(s, ""), "")
	return at != nil && at[0] == 0 && strings.Trim(rest, " ,;/.") == ""
}

var remarks = regexp.MustCompile(`[(\[][^)\]]*[)\]]`)

// compact returns the digits of a number, and an X in capitals at their end. It is the form in which numbers are
// compared and looked up.
func compact(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'x':
			return 'X'
		case r == 'X' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}, s)
}

// isYears reports whether an ISSN without hyphen could be a range of years, such as 20172021. A search for a period
// must not become one for a journal.
func isYears(issn string) bool {
	year := func(s string) bool { return "1800" <= s && s < "2100" }
	return year(issn[:4]) && year(issn[4:]) && issn[7] != 'X'
}

// ISBNs returns the forms of an ISBN of 10 and 13 digits, without hyphens, or nothing for another text. One that
// begins with 979 has only one form. A work may be stored with either, and a search for one must find the other.
func ISBNs(s string) []string {
	isbn := compact(s)
	switch {
	case !isISBN(isbn):
		return nil
	case len(isbn) == 10:
		return []string{isbn, withCheck("978" + isbn[:9])}
	case strings.HasPrefix(isbn, "978"):
		return []string{isbn, withCheck(isbn[3:12])}
	}
	return []string{isbn}
}

// validISBN reports whether digits of either length have the right check digit.
func validISBN(isbn string) bool { return withCheck(isbn[:len(isbn)-1]) == isbn }

func validISSN(issn string) bool { return withCheck(issn[:len(issn)-1]) == issn }

// withCheck appends the check digit to the digits before it: of an ISBN of 13 digits, or else by the weights of an
// ISBN of 10 digits and of an ISSN (ISO 2108, ISO 3297). The weights of 10 digits and of an ISSN descend to 1 at
// the check digit, modulo 11, where ten is X; those of 13 digits are 1 and 3 in turn, modulo 10.
func withCheck(digits string) string {
	sum, modulus := 0, 11
	for i := range len(digits) {
		weight := len(digits) + 1 - i
		if len(digits) == 12 {
			weight, modulus = 1+2*(i%2), 10
		}
		sum += weight * int(digits[i]-'0')
	}
	return digits + string("0123456789X"[(modulus-sum%modulus)%modulus])
}

// FindPMID is PMID for a text that may be anything, such as words to search: it must say that the number is a PMID.
// Any number up to nine digits may be a PMID, so a number alone is not enough.
func FindPMID(s string) string {
	pmid := PMID(s)
	_, rest, _ := strings.Cut(s, pmid)
	if !saysPMID.MatchString(tidy(s)) || words.MatchString(rest) {
		return ""
	}
	return pmid
}

// words matches what makes a text more than a PMID, unlike the PMCID in "PMID: 12345; PMCID: PMC67".
var words = regexp.MustCompile(`^ +\pL`)

var saysPMID = regexp.MustCompile(
	`(?i)^[(<\[]?(?:info:)?(?:pmid|pubmed[- ]?id|pubmed:|[a-z:/.]*(?:pubmed\.|/pubmed/|/med/))`)

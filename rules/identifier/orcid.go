package identifier

import (
	"net/url"
	"strings"
	"unicode"
)

// ORCID returns the ORCID in s, such as 0000-0002-1825-0097, or "" if s is something else. s may be the address of
// its page, or begin with a label such as "ORCID iD:"; hyphens may be missing, and others or blanks in their place.
// It does not verify the check digit: a field for ORCIDs says enough, and lookups compare with what an institute
// stores.
func ORCID(s string) string {
	if isORCID(s) {
		return s
	}
	digits, _ := orcidDigits(s)
	return digits
}

// FindORCID is ORCID for a text that may be anything, such as words to search. The number must begin as all do that
// are given out, and without hyphens and label it must have the right check digit. ORCID has the parts of the range
// of ISNI that begin with 0000-000 and 0009; ISNIs of others do not.
func FindORCID(s string) string {
	orcid, plain := s, false
	if !isORCID(s) {
		orcid, plain = orcidDigits(s)
	}
	if !strings.HasPrefix(orcid, "000") || plain && !ValidORCID(orcid) {
		return ""
	}
	return orcid
}

// ORCIDAddress returns the address of the page of an ORCID, or "" if orcid is "".
func ORCIDAddress(orcid string) string {
	if orcid == "" {
		return ""
	}
	return "https://orcid.org/" + url.PathEscape(strings.ToValidUTF8(orcid, "\uFFFD"))
}

// ValidORCID reports whether a text from ORCID has the right check digit (ISO 7064, MOD 11-2). 0000-0002-1825-0097
// is valid. X stands for the remainder 10.
func ValidORCID(orcid string) bool {
	if !isORCID(orcid) {
		return false
	}
	sum, last := 0, len(orcid)-1
	for i := range last {
		if isDigit(orcid[i]) {
			sum = (sum + int(orcid[i]-'0')) * 2
		}
	}
	return "0123456789X"[(12-sum%11)%11] == orcid[last]
}

// isORCID reports whether a text has the form of an ORCID already, so that ORCID need not copy it.
func isORCID(s string) bool {
	if len(s) != len("0000-0002-1825-0097") {
		return false
	}
	for i := range len(s) {
		if i%5 == 4 {
			if s[i] != '-' {
				return false
			}
		} else if !isDigit(s[i]) && (s[i] != 'X' || i < len(s)-1) {
			return false
		}
	}
	return true
}

// orcidDigits reads an ORCID. plain is whether it has neither label nor hyphens. It writes into an array on the
// stack, and gives up at the first character that no ORCID has.
func orcidDigits(s string) (orcid string, plain bool) {
	s, closing := unwrap(tidy(s))
	rest := cutORCIDLabel(s)
	plain = len(rest) == len(s)
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimRight(strings.TrimSuffix(rest, closing), "/ ")
	var digits [len("0000-0002-1825-0097")]byte
	n := 0
	for _, r := range rest {
		if isHyphen := r == '\u2212' || unicode.Is(unicode.Pd, r); isHyphen || r == ' ' {
			plain = plain && !isHyphen
			continue
		}
		if n == len(digits) {
			return "", false
		}
		if n%5 == 4 {
			digits[n] = '-'
			n++
		}
		check := n == len(digits)-1 && (r == 'x' || r == 'X')
		if !check && (r < '0' || r > '9') {
			return "", false
		}
		digits[n] = byte(r)
		if check {
			digits[n] = 'X'
		}
		n++
	}
	if n < len(digits) {
		return "", false
	}
	return string(digits[:]), plain
}

// cutORCIDLabel cuts labels and the address of orcid.org, also repeated, from the beginning of s.
func cutORCIDLabel(s string) string {
	for {
		host, _ := cutSchemes(s)
		host, _ = cutFold(host, "www.")
		after, found := cutFold(host, "orcid.org")
		for _, label := range []string{"my-orcid?orcid=", "orcid id", "orcid"} {
			if !found {
				after, found = cutFold(s, label)
			}
		}
		if !found {
			return s
		}
		s = strings.TrimLeft(after, ":=/. \uff1a")
	}
}

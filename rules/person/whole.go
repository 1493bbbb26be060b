package person

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wholeNames returns the persons of texts that are all whole names with the given name first, or nil. Names of
// organisations may look the same, so it must be two names at least, and none may have a word that persons do not
// have. "Ada Quill and Bo Fern" are two persons, "Food and Agriculture" are none. One doubtful part leaves all as
// one text.
func wholeNames(parts []string) (all []Person) {
	if len(parts) < 2 {
		return nil
	}
	for _, part := range parts {
		if whole, _, found := strings.Cut(part, ","); found && !isFullName(whole) {
			return nil // the family name comes first
		}
		p := parse(part)
		if p.Literal != "" && isPersonal(part) {
			p = Person{}
			p.Given, p.Family = divide(part)
		}
		if p.Family == "" {
			return nil
		}
		all = append(all, p)
	}
	return all
}

// isPersonal reports whether a text looks like a person's whole name, and not like one of an organisation or a
// place. It is strict: to divide a name of an organisation is worse than to leave two persons in one text.
func isPersonal(name string) bool {
	if !isFullName(name) || isOrganisation(name) {
		return false
	}
	first, _, _ := strings.Cut(name, " ")
	if particles.has(first) || articles.has(first) || isInitials(lastWord(name)) {
		return false
	}
	for one := range strings.FieldsSeq(name) {
		if !isNameWord(one) || impersonal.has(one) || hasImpersonalEnd(one) {
			return false
		}
	}
	return true
}

// isNameWord reports whether a word is an initial, a particle, or has a capital and small letters: Quill, O'Brien.
// A word in capitals alone may be an abbreviation.
func isNameWord(s string) bool {
	if isInitials(s) || s[0] >= 'a' && particles.has(s) {
		return true
	}
	first, size := utf8.DecodeRuneInString(s)
	rest := s[size:]
	isOther := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && !strings.ContainsRune("-'’.", r)
	}
	return unicode.IsUpper(first) && strings.ContainsFunc(rest, unicode.IsLower) &&
		!strings.ContainsFunc(rest, isOther)
}

// hasImpersonalEnd reports whether a word ends like those for fields and bodies: Biology, Nutrition, Landschaft.
// Endings take the place of a dictionary, which would never have all fields and bodies.
func hasImpersonalEnd(s string) bool {
	for _, end := range [...]string{
		"ology", "ography", "ogie", "ografie", "ographie", "ation", "ition", "ction", "schaft", "keit", "heit", "tät",
		"museum", "amt", "werk", "kunde", "forschung", "zentrum", "schule", "kreis", "verband",
	} {
		if len(s) > len(end) && strings.HasSuffix(strings.ToLower(s), end) {
			return true
		}
	}
	return false
}

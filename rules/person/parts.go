package person

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// suffixClass says how sure it is that a word is a suffix. The classes are in the order of certainty, so that a
// caller says which is the least that it accepts.
type suffixClass uint8

const (
	noSuffix suffixClass = iota
	rare                 // V, Jun, Sen: mostly an initial or a name; a suffix only between two commas
	capital              // JR, SR: initials if nothing else is the given name
	number               // II, IV: the same, in a field with the given name alone
	word                 // Junior: a given or a family name if it stands alone
	clear                // Jr., III, 2nd
)

// suffixOf returns the class of a word. The first test spares the look-up for nearly all words.
func suffixOf(s string) suffixClass {
	if len(s) < 1 || len(s) > len("Júnior") || strings.IndexByte("jsiv2345", lower(s[0])) < 0 {
		return noSuffix
	}
	switch s {
	case "III":
		return clear
	case "II", "IV", "VI", "VII", "VIII":
		return number
	case "Júnior", "JÚNIOR":
		return word
	case "V", "Jun", "Sen":
		return rare
	case "JR", "SR":
		return capital
	case "jun", "sen":
		return clear
	}
	switch {
	case strings.EqualFold(s, "junior"), strings.EqualFold(s, "senior"):
		return word
	case suffixes.has(s):
		return clear
	}
	return noSuffix
}

// cutSuffix cuts a suffix of at least a class from the end of a name of several words. "Paul Costa Jr." becomes
// Paul Costa and Jr.; a name of one word stays, since something must be the name.
func cutSuffix(name string, least suffixClass) (rest, suffix string) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return name, ""
	}
	last := name[i+1:]
	switch class := suffixOf(last); {
	case class < least, class == noSuffix:
		return name, ""
	case class == word && particles.has(lastWord(name[:i])): // "dos Junior" is a family name
		return name, ""
	}
	return strings.TrimRight(name[:i], " ,"), last
}

// lastWord returns what follows the last blank.
func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// cutTitles cuts titles such as "Prof. Dr. rer. nat." from the beginning of a name. rest is "" if that was all. It
// stops at the first word that is no title, so "Dr. Ada Prof" loses one title. "PD" counts only before another one,
// since it may be two initials.
func cutTitles(name string) (rest string) {
	rest, inTitle := name, false
	for rest != "" {
		first, after, _ := strings.Cut(rest, " ")
		second, _, _ := strings.Cut(after, " ")
		if !isTitle(first) && !(inTitle && continuesTitle(first)) && !(first == "PD" && isTitle(second)) {
			break
		}
		rest, inTitle = after, true
	}
	return rest
}

// isTitle reports whether a word such as "Dr.", "Prof.Dr." and "Dipl.-Ing." begins a title. A stop makes the
// difference for words that may be names: "Ing." is a title, Ing a name.
func isTitle(s string) bool {
	if len(s) < 2 || len(s) > longest {
		return false
	}
	end := strings.IndexAny(s, ".-")
	if end < 0 { // capitals such as MS are initials
		return titles.has(s) && s[1] >= 'a'
	}
	begins := titles.has(s[:end]) || s[end] == '.' && stopped.has(s[:end])
	return begins && continuesTitle(s[end+1:]) || strings.EqualFold(s, "jun.-prof.")
}

// continuesTitle reports whether all parts of a word may follow within a title. Letters alone only do so in small
// letters: others are initials. In "Dr. h. c." the letters are a part of the title, in "Dr. H. C. Andersen" they
// are initials.
func continuesTitle(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '.' || r == '-' }) {
		if !continued.has(part) && !titles.has(part) || part[0] < 'a' && len(part) < 2 {
			return false
		}
	}
	return true
}

// isDegree reports whether a text between commas, or one word, consists of titles and degrees. Of degrees that
// could be initials it only does so if capitals are allowed. "MD" after a comma may be a degree or the initials of
// a given name, and only the other texts of the name tell.
func isDegree(s string, allowed bool) bool {
	if len(s) < 2 || len(s) > 4*longest {
		return false
	}
	if isLetters(s, allowed) {
		return true
	}
	found := false
	for one := range strings.FieldsSeq(s) {
		if !isTitle(one) && !(found && continuesTitle(one)) && !isLetters(one, allowed) {
			return false
		}
		found = true
	}
	return found
}

// isLetters reports whether a text has the letters of one degree.
func isLetters(s string, allowed bool) bool {
	if strings.ContainsAny(s, ".- ") {
		s = unstopped.Replace(s)
	}
	if degrees.has(s) {
		return strings.ContainsFunc(s, unicode.IsLower)
	}
	return allowed && capitals.has(s) && !strings.ContainsFunc(s, unicode.IsLower)
}

var unstopped = strings.NewReplacer(".", "", "-", "", " ", "")

// cutDegrees cuts degrees that cannot be initials from the end of a name of several words. Degrees of fewer than
// three letters stay: they may be initials.
func cutDegrees(name string) string {
	for {
		i := strings.LastIndexByte(name, ' ')
		if i < 0 || len(name)-i < 4 || !isDegree(name[i+1:], false) || isTitle(name[i+1:]) {
			return name
		}
		name = strings.TrimRight(name[:i], " ,")
	}
}

// cutSegments takes suffixes and degrees from the texts between commas, after the first of them. only says that no
// other text is a given name. "Costa, Paul T., Jr., PhD" has Costa before, and of the rest "Paul T." stays, Jr. is
// the suffix and PhD goes.
func cutSegments(segments []string, only bool) (rest []string, suffix string) {
	least := clear
	for _, s := range segments {
		only = only && (suffixOf(s) != noSuffix || isDegree(s, true))
	}
	if !only {
		least = rare
	}
	for _, s := range segments {
		switch class := suffixOf(s); {
		case suffix == "" && class >= least && class != noSuffix:
			suffix = s
		case isDegree(s, !only):
		default:
			rest = append(rest, s)
		}
	}
	return rest, suffix
}

// split returns the texts between separators, without spaces, notes and empty ones.
func split(s, separator string) (all []string) {
	for one := range strings.SplitSeq(s, separator) {
		if one = trimNotes(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// divide divides a whole name with the given name first. The family name is the last word and particles before it.
// "Ludwig van der Berg" becomes Ludwig and van der Berg. Particles count in small letters only.
func divide(name string) (given, family string) {
	at := 0
	for i := 0; i < len(name); {
		end := strings.IndexByte(name[i:], ' ')
		if end < 0 {
			at = i
			break
		}
		if one := name[i : i+end]; one[0] >= 'a' && particles.has(one) {
			at = i
			break
		}
		i += end + 1
	}
	return strings.TrimRight(name[:at], " "), name[at:]
}

// isOrganisation reports whether a text has a word that only names of organisations have, or ends like a company's.
// Its words are in words.go. A person with such a family name, such as Group, needs fields of its own.
func isOrganisation(s string) bool {
	last := ""
	for one := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" ,/()", r) }) {
		if last = one; collectives.has(one) || functions.has(one) && one[0] >= 'a' || one == "&" {
			return true
		}
	}
	return last != "" && companies.has(last) && strings.Contains(s, " ")
}

// isInitials reports whether a text consists of initials with stops: "P. T.", "J.-P.". A stop has to follow each
// letter: "PT" may be a name.
func isInitials(s string) bool {
	letters := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if i += size; r == ' ' || r == '-' {
			continue
		}
		if !isCapital(r) || i == len(s) || s[i] != '.' {
			return false
		}
		letters++
		i++
	}
	return letters > 0
}

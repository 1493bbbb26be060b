package person

import (
	"slices"
	"strings"
)

// phrases stand for the persons whom a list does not name, without stops at their ends and without regard to case.
// They are in the languages of the records: English, German, French, Spanish, Portuguese and the Scandinavian ones.
var phrases = []string{
	"et al", "et. al", "et.al", "et alii", "et coll", "et autres", "and al", "& al", "and others", "& others",
	"and coworkers", "und andere", "u. andere", "y otros", "e outros", "m.fl",
}

// small are phrases in small letters only: in capitals they are initials.
var small = []string{"u. a", "u.a"}

// alone are phrases that only count if nothing precedes them. "Others" behind a name may be a family name.
var alone = []string{"others", "等", "等人", "他", "ほか", "외"}

// cutOthers cuts what stands for more persons, such as "et al." and "and others", from the end of a text. "Quill,
// A., et al." becomes "Quill, A." and true.
func cutOthers(s string) (rest string, others bool) {
	const separators = " ,;([&"
	if t := strings.TrimRight(s, ".…"); len(t) < len(s) && (t == "" || strings.HasSuffix(t, " ")) { // "Quill, A. …"
		return strings.TrimRight(t, separators), true
	}
	t := strings.TrimRight(s, ",;.)] ")
	if slices.ContainsFunc(alone, func(phrase string) bool { return strings.EqualFold(t, phrase) }) {
		return "", true
	}
	isEnd := func(phrase string, isSmall bool) bool {
		at := len(t) - len(phrase)
		return at >= 0 && strings.EqualFold(t[at:], phrase) && (!isSmall || t[at:] == phrase) && endsWord(t[:at])
	}
	for _, phrase := range phrases {
		if isEnd(phrase, false) {
			return strings.TrimRight(t[:len(t)-len(phrase)], separators), true
		}
	}
	for _, phrase := range small {
		if isEnd(phrase, true) {
			return strings.TrimRight(t[:len(t)-len(phrase)], separators), true
		}
	}
	return s, false
}

// endsWord reports whether another word may follow a text.
func endsWord(s string) bool { return s == "" || strings.IndexByte(" ,;([", s[len(s)-1]) >= 0 }

// isRest reports whether two fields are one of the phrases, divided. Forms with fields for the first and the last
// name have "et" in one and "al." in the other.
func isRest(link, rest string) bool {
	return strings.EqualFold(link, "et") && (rest == "al." || rest == "al") || link == "u." && rest == "a." ||
		link == "and" && strings.EqualFold(rest, "others")
}

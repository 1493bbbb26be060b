package csl

import (
	"strings"
	"unicode"
)

// An action says what happens to the case of a letter.
type action uint8

const (
	keepCase action = iota
	upperCase
	lowerCase
)

// recase changes the case of the texts in a box (section Text-case); title case is for English only. Parts with the
// class nocase stay as they are.
func recase(b *box, casing string, english bool) {
	if casing == "title" && !english {
		return
	}
	var runes []rune
	var fixed []bool
	b.runes(false, func(r rune, nocase bool) {
		runes, fixed = append(runes, r), append(fixed, nocase)
	})
	actions := make([]action, len(runes))
	switch casing {
	case "lowercase":
		fill(actions, lowerCase)
	case "uppercase":
		fill(actions, upperCase)
	case "capitalize-first":
		capitalizeFirst(runes, actions)
	case "capitalize-all":
		for _, w := range titleWords(runes) {
			actions[w[0]] = upperCase
		}
	case "sentence":
		fill(actions, lowerCase)
		if words := titleWords(runes); len(words) > 0 {
			first := words[0]
			fill(actions[first[0]:first[1]], keepCase)
			actions[first[0]] = upperCase
		}
	case "title":
		titleCase(runes, actions)
	}
	i := 0
	b.leaves(func(l *box) {
		var s strings.Builder
		for _, r := range l.text {
			switch {
			case fixed[i] || actions[i] == keepCase:
				s.WriteRune(r)
			case actions[i] == upperCase:
				s.WriteString(upper(r))
			default:
				s.WriteRune(unicode.ToLower(r))
			}
			i++
		}
		l.text = s.String()
	})
}

// upper returns a letter in upper case.
func upper(r rune) string {
	if r == 'ß' {
		return "SS"
	}
	return string(unicode.ToUpper(r))
}

// runes calls f for each rune of the leaves, and says whether it keeps its case: with the class nocase, and in
// superscripts, subscripts and small capitals of the data.
func (b *box) runes(nocase bool, f func(r rune, nocase bool)) {
	nocase = nocase || b.nocase || b.format.align > normal || b.format.variant == smallCaps && b.rich
	if b.leaf != inner {
		for _, r := range b.text {
			f(r, nocase)
		}
		return
	}
	for _, kid := range b.kids {
		kid.runes(nocase, f)
	}
}

// fill sets all actions.
func fill(actions []action, a action) {
	for i := range actions {
		actions[i] = a
	}
}

// capitalizeFirst sets the first letter in upper case.
func capitalizeFirst(runes []rune, actions []action) {
	for i, r := range runes {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if !hasUpper(firstWord(runes[i:])) {
				actions[i] = upperCase
			}
			return
		}
	}
}

// firstWord returns runes up to the first space or period.
func firstWord(runes []rune) []rune {
	for i, r := range runes {
		if unicode.IsSpace(r) || r == '.' {
			return runes[:i]
		}
	}
	return runes
}

// hasUpper reports whether one of the letters is in upper case.
func hasUpper(runes []rune) bool {
	for _, r := range runes {
		if unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

package csl

import (
	"strings"
	"unicode"
)

// stopWords stay in lower case in English titles, unless they are first or last.
var stopWords = words(`a according across afore after against ahead along alongside amid amidst among amongst an and
	anenst apart apropos around as aside astride at athwart atop back barring because before behind below beneath
	beside besides between beyond but by c ca circa close despite down due during et except far for forenenst from
	given in inside instead into lest like modulo near next nor notwithstanding of off on onto or out outside over per
	plus prior pro pursuant qua rather regardless sans since so such than that the through throughout thru thruout
	till to toward towards under underneath until unto up upon v. van versus via vis-à-vis vs. where with within
	without yet v vs de von d`)

// titleCase capitalises the words of an English title. Words with capitals stay as they are, since they are names or
// abbreviations; a title all in capitals has none.
func titleCase(runes []rune, fixed []bool, actions []action) {
	words := titleWords(runes)
	shout := allUpper(runes)
	for i, w := range words {
		word := runes[w[0]:w[1]]
		text := strings.ToLower(string(word))
		first := i == 0 || startsTitle(runes[words[i-1][1]:w[0]])
		last := i == len(words)-1
		switch {
		case !shout && hasUpper(word):
			if !first && !last && stopWords[text] && !hasUpper(word[1:]) && len(word) > 1 {
				actions[w[0]] = lowerCase
			}
		case stopWords[text] && !first && !last:
			fill(actions[w[0]:w[1]], lowerCase)
		default:
			if shout {
				fill(actions[w[0]:w[1]], lowerCase)
			}
			actions[w[0]] = upperCase
		}
	}
}

// titleWords returns the bounds of the words of a title. Apostrophes and periods are part of a word, hyphens and
// slashes are not.
func titleWords(runes []rune) (words [][2]int) {
	start := -1
	for i, r := range runes {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
			start >= 0 && (r == '\'' || r == '’' || r == '`' || r == '.' && i+1 < len(runes) && !unicode.IsSpace(runes[i+1]))
		switch {
		case letter && start < 0:
			start = i
		case !letter && start >= 0:
			words, start = append(words, [2]int{start, i}), -1
		}
	}
	if start >= 0 {
		words = append(words, [2]int{start, len(runes)})
	}
	return words
}

// startsTitle reports whether the text between two words begins a new title.
func startsTitle(between []rune) bool {
	return strings.ContainsAny(string(between), ":?!.—")
}

// allUpper reports whether a text has no letter in lower case.
func allUpper(runes []rune) bool {
	some := false
	for _, r := range runes {
		if unicode.IsLower(r) {
			return false
		}
		some = some || unicode.IsUpper(r)
	}
	return some
}

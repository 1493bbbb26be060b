package csl

import (
	"slices"
	"strings"
	"unicode"
)

// stopWords stay in lower case in English titles, unless they are first or last.
var stopWords = words(`a about above across afore after against al along alongside amid amidst among amongst an and
	anenst apropos apud around as aside astride at athwart atop barring before behind below beneath beside besides
	between beyond but by c ca circa d de despite down during et except for forenenst from given in inside into lest
	like modulo near next nor notwithstanding of off on onto or out over per plus pro qua sans since so than the
	through throughout thruout till to toward towards under underneath until unto up upon v van versus via von vs
	with within without yet`)

// titleCase capitalises the words of an English title (section Title Case Conversion). Words with capitals stay as
// they are, since they are names or abbreviations, and so do single letters.
func titleCase(runes []rune, actions []action) {
	words := titleWords(runes)
	mark := slices.IndexFunc(runes, isMark) // citeproc-js treats only a compound before other marks in this way
	for i, w := range words {
		word := runes[w[0]:w[1]]
		first := i == 0 || strings.ContainsAny(string(runes[words[i-1][1]:w[0]]), ":?!")
		compound := w[1] == mark && runes[mark] == '-'
		if hasUpper(word) || !unicode.IsLower(word[0]) || w[0] > 0 && strings.ContainsRune("+#$&{", runes[w[0]-1]) ||
			len(word) == 1 && word[0] > unicode.MaxASCII {
			continue
		}
		alone := len(word) == 1 || isApostrophe(word[1])
		stop := i < len(words)-1 && stopWords[string(word)]
		if first || compound || !alone && !stop {
			actions[w[0]] = upperCase
		}
	}
}

// isMark reports whether r is a punctuation mark or bracket of titles.
func isMark(r rune) bool { return strings.ContainsRune("-–—/.,;?!:[]()‘’“”\"'", r) }

// titleWords returns the bounds of the words of a title. Apostrophes are part of a word, hyphens, slashes and
// periods are not.
func titleWords(runes []rune) (words [][2]int) {
	start := -1
	for i, r := range runes {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isApostrophe(r) ||
			strings.ContainsRune("_@*~‐‑", r)
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

// isApostrophe reports whether r is an apostrophe in one of its spellings.
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == '`' }

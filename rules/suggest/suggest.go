// Package suggest finds the word that a wrong one was meant to be: the name of a setting, a parameter, a path, a
// value. It suggests a word only if the wrong one is a misspelling of it, or means the same: any other suggestion
// misleads its reader. It imports nothing of ours, so that package configs can suggest as all others do.
package suggest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mostText bounds the bytes of a text that Near compares, because that takes time with its square.
const mostText = 100

// Meaning is a word to suggest for other words of the same meaning, which are in lower case, with spaces between
// them.
type Meaning struct{ Word, Others string }

// Meanings suggest words by meaning; the first one that fits counts. Nil Meanings suggest by spelling alone.
type Meanings []Meaning

// Hint returns ", did you mean X?" with the word nearest to text, or "" if there is none.
func Hint(text string, words []string) string { return Meanings(nil).Hint(text, words) }

// Hint is like the function Hint, and also suggests by meaning.
func (m Meanings) Hint(text string, words []string) string {
	if best := m.Near(text, words); best != "" {
		return ", did you mean " + best + "?"
	}
	return ""
}

// Near returns the word of which text is a misspelling, or "" if there is none. Long texts have none.
func Near(text string, words []string) string { return Meanings(nil).Near(text, words) }

// Same returns the word that means the same as text, if it is one of words, or "".
func (m Meanings) Same(text string, words []string) string {
	text = strings.ToLower(text)
	for _, meaning := range m {
		if slices.Contains(words, meaning.Word) && slices.Contains(strings.Fields(meaning.Others), text) {
			return meaning.Word
		}
	}
	return ""
}

// Near returns the word that means the same as text, or else the one of which text, or what means the same, is a
// misspelling. It returns only one of words, or "".
func (m Meanings) Near(text string, words []string) string {
	if len(text) > mostText {
		return ""
	}
	text = strings.ToLower(text)
	best, fewest := "", mostEdits+1
	try := func(word, meant string) {
		if n := Edits(text, strings.ToLower(word)); n < fewest {
			best, fewest = meant, n
		}
	}
	for _, word := range words {
		try(word, word)
	}
	if fewest == 0 {
		return best
	}
	for _, meaning := range m {
		if !slices.Contains(words, meaning.Word) {
			continue
		}
		for other := range strings.FieldsSeq(meaning.Others) {
			if other == text {
				return meaning.Word
			}
			if utf8.RuneCountInString(other) >= shortestMisspelt {
				try(other, meaning.Word)
			}
		}
	}
	return best
}

// shortestMisspelt is the length of the shortest word in Others whose misspellings count. Too many other words
// resemble a shorter one: "data" is no misspelling of "date".
const shortestMisspelt = 5

// mostEdits is the largest number that Edits counts.
const mostEdits = 3

// Edits returns how many characters of a word are wrong, missing, added, or swapped with their neighbour in text.
// The longer of both decides how many a misspelling may have: 0 up to two characters, 1 up to seven, 2 up to nine,
// 3 beyond; with five to seven characters 2 if both have the same letters. For more it returns mostEdits+1.
func Edits(text, word string) int {
	const none = mostEdits + 1
	length, other := utf8.RuneCountInString(text), utf8.RuneCountInString(word)
	most := mostEdits
	switch longer := max(length, other); {
	case longer <= 2:
		most = 0
	case longer <= 4, longer <= 7 && !sameLetters(text, word):
		most = 1
	case longer <= 9:
		most = 2
	}
	if text == word {
		return 0
	}
	if max(length-other, other-length) > most {
		return none // there are at least as many edits as the lengths differ
	}
	if n := distance([]rune(text), []rune(word)); n <= most {
		return n
	}
	return none
}

// sameLetters reports whether two texts have the same characters in some order.
func sameLetters(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values([]rune(a))), slices.Sorted(slices.Values([]rune(b))))
}

// distance returns the number of edits between two texts (optimal string alignment: no character is edited twice).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

package csl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// initials shortens given names to initials, each with mark after it (initialize-with). If all is false, it only
// sets mark after initials that the name has already (initialize="false"). hyphen keeps the hyphen of compound
// names (section Hyphenation of Initialized Names).
//
//	Jean-Luc François, "." → J.-L.F.
func initials(given, mark string, all, hyphen bool) string {
	if given == "" {
		return ""
	}
	if !hyphen {
		given = strings.ReplaceAll(given, "-", " ")
	}
	var s strings.Builder
	for _, word := range initialWords(given) {
		first, rest := firstInitial(word.text)
		if first != "" && word.period { // an abbreviation stays whole: "Ph."
			first, rest = word.text, ""
		}
		initial := first != "" && (all || rest == "")
		switch {
		case word.hyphen && s.Len() > 0:
			if initial || !all {
				trimSpace(&s)
				s.WriteByte('-')
			}
		case !initial:
			space(&s)
		}
		switch {
		case initial:
			s.WriteString(first)
			s.WriteString(mark)
		case word.hyphen && all && first == "": // the second part of a name ("Ji-woo")
		default:
			s.WriteString(word.text)
			s.WriteByte(' ')
		}
	}
	return strings.TrimRight(s.String(), " ")
}

// space ends a text with exactly one space, unless it is empty.
func space(s *strings.Builder) {
	if t := s.String(); t != "" && !strings.HasSuffix(t, " ") {
		s.WriteByte(' ')
	}
}

// trimSpace cuts the spaces at the end of a text.
func trimSpace(s *strings.Builder) {
	t := strings.TrimRight(s.String(), " ")
	if len(t) < s.Len() {
		s.Reset()
		s.WriteString(t)
	}
}

// An initialWord is a part of a given name, and whether a hyphen precedes or a period follows it.
type initialWord struct {
	text           string
	hyphen, period bool
}

// initialWords splits a given name at spaces, hyphens and periods.
func initialWords(s string) []initialWord {
	var words []initialWord
	hyphen := false
	for s != "" {
		i := strings.IndexAny(s, " .-\u00a0\u2019'‐‑")
		if i >= 0 && (s[i] == '\'' || strings.HasPrefix(s[i:], "’")) { // belongs to the word
			j := strings.IndexAny(s[i+1:], " .-\u00a0‐‑")
			if j < 0 {
				i = -1
			} else {
				i += 1 + j
			}
		}
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			words = append(words, initialWord{s[:i], hyphen, i < len(s) && s[i] == '.'})
			hyphen = false
		}
		if i == len(s) {
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		hyphen = len(words) > 0 && (r == '-' || r == '‐' || r == '‑' || hyphen && r == ' ')
		s = s[i+size:]
	}
	return words
}

// firstInitial returns the initial of a word and what follows it. The initial is "" for words in lower case. It has
// two letters in transliterations that spell one letter by two capitals ("LJubov" → "Lj").
func firstInitial(word string) (first, rest string) {
	r, size := utf8.DecodeRuneInString(word)
	if !unicode.IsUpper(r) && !unicode.IsTitle(r) && (unicode.IsLower(r) || !unicode.IsLetter(r)) {
		return "", word
	}
	rest = word[size:]
	end := 0
	for i, r := range rest {
		if !unicode.IsUpper(r) {
			end = i
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if end > 0 && end < len(rest) {
		return word[:size] + strings.ToLower(rest[:end]), rest
	}
	return word[:size], rest
}

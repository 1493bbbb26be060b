package query

import "strings"

// WordsParam is the parameter with words to search.
const WordsParam = "q"

// Limits on words to search, as in lists.
const (
	maxWordBytes = 200 // of all words
	maxWords     = 12
)

// Words reads q: words to search, with one space between two. It returns "" if the parameter is absent.
func (p Params) Words() string {
	words := strings.Fields(p.Text(WordsParam))
	text := strings.Join(words, " ")
	switch {
	case len(text) > maxWordBytes:
		p.refuse(WordsParam, "", "is longer than %d bytes", maxWordBytes)
	case len(words) > maxWords:
		p.refuse(WordsParam, "", "has %d words; %d is the limit", len(words), maxWords)
	default:
		return text
	}
	return ""
}

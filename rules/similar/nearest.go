package similar

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the word that fewer edits than limit make of text, and the fewest of all
// words, in either case of letters; "" if there is none. It is for suggestions in messages.
func Nearest(text string, words []string, limit int) (best string) {
	for _, word := range words {
		if len(word) >= len(text)+limit || len(text) >= len(word)+limit {
			continue // at least the difference has to be edited
		}
		if d := levenshtein.ComputeDistance(strings.ToLower(text), strings.ToLower(word)); d < limit {
			best, limit = word, d
		}
	}
	return best
}

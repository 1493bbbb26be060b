package similar

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the word with the smallest edit distance from text, ignoring case, or "" if no distance is less than
// limit. It is for suggestions in messages.
func Nearest(text string, words []string, limit int) (best string) {
	for _, word := range words {
		if len(word) >= len(text)+limit || len(text) >= len(word)+limit {
			continue // the distance is at least the difference of the lengths
		}
		if d := levenshtein.ComputeDistance(strings.ToLower(text), strings.ToLower(word)); d < limit {
			best, limit = word, d
		}
	}
	return best
}

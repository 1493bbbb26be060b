package similar

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the word nearest to text, ignoring case, or "" if none is nearer than limit.
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

package configs

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// didYouMean returns ", did you mean X?" with the word nearest to text, or
// nothing if none is near.
func didYouMean(text string, words []string) string {
	best, distance := "", len(text)/3+2
	for _, w := range words {
		if d := levenshtein.ComputeDistance(strings.ToLower(text), strings.ToLower(w)); d < distance {
			best, distance = w, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

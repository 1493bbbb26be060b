// Package suggest finds the word that a wrong one was meant to be: the name of a setting, a parameter, a path, a
// value. It imports nothing of ours, so that package configs can suggest as all others do.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// mostText bounds the bytes of a text that Near compares, because that takes time with its square.
const mostText = 100

// Hint returns ", did you mean X?" with the word nearest to text, or "" if there is none.
func Hint(text string, words []string) string {
	if best := Near(text, words); best != "" {
		return ", did you mean " + best + "?"
	}
	return ""
}

// Near returns the word nearest to text, or "" if none has at least half of its characters. Long texts have none.
func Near(text string, words []string) string {
	if len(text) > mostText {
		return ""
	}
	return Nearest(text, words, min(len(text)/3+2, len(text)/2+1))
}

// Nearest returns the word nearest to text, ignoring case, or "" if none is nearer than limit characters.
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

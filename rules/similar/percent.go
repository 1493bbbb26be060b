package similar

import "math"

// maxLength is how many characters of each title are compared. The algorithm takes time in the cube of the lengths,
// and the client chooses the length of its title. Titles of publications are far shorter.
const maxLength = 1024

// reportFrom is the percentage below which similarity is reported as 0.
const reportFrom = 50

// cut returns at most maxLength characters of a title.
func cut(title []rune) []rune { return title[:min(len(title), maxLength)] }

// percentOf returns the similarity of titles of la and lb characters in percent, 0 to 100. They count up to
// maxLength.
func percentOf(matches, la, lb int) float64 {
	la, lb = min(la, maxLength), min(lb, maxLength)
	if la+lb == 0 {
		return 0
	}
	return 200 * float64(matches) / float64(la+lb)
}

// Report rounds a percentage to one decimal, and those below 50 to 0 (openapi.json: GET /api/levenshtein).
func Report(percent float64) float64 {
	if percent < reportFrom {
		return 0
	}
	return math.Round(percent*10) / 10
}

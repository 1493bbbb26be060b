package similar

import "math"

// MaxLength is how many characters of each title are compared; the rest is ignored. The
// algorithm takes time in the cube of the lengths, and the client chooses the length of
// its title. Titles of publications are far shorter.
const MaxLength = 1024

// reportFrom is the percentage below which similarity is reported as 0.
const reportFrom = 50

// Matches returns the number of matching characters of two normalised titles; a is the
// query. Of equally long common substrings it uses the one that begins first in a, then
// the one that begins first in b, so the order of the arguments can matter. Titles are
// cut to MaxLength.
func Matches(a, b []rune) int {
	a, b = cut(a), cut(b)
	return matches(a, b, make([]int, len(b)+1))
}

// matches is Matches for titles already cut; runs is scratch space for longestCommon,
// longer than b by at least one.
func matches(a, b []rune, runs []int) int {
	i, j, n := longestCommon(a, b, runs)
	if n == 0 {
		return 0
	}
	return n + matches(a[:i], b[:j], runs) + matches(a[i+n:], b[j+n:], runs)
}

// longestCommon returns where the first longest common substring begins in a and
// in b, and its length.
func longestCommon(a, b []rune, runs []int) (i, j, n int) {
	// runs[y] is the length of the common run from a[x] and b[y] on. Rows go from last to
	// first, so an equal length found later begins earlier and wins.
	runs = runs[:len(b)+1]
	clear(runs)
	for x := len(a) - 1; x >= 0; x-- {
		best := 0
		at := 0
		for y := range b {
			if a[x] != b[y] {
				runs[y] = 0
				continue
			}
			runs[y] = runs[y+1] + 1
			if runs[y] > best {
				best, at = runs[y], y
			}
		}
		if best > 0 && best >= n {
			i, j, n = x, at, best
		}
	}
	return i, j, n
}

// cut returns at most MaxLength characters of a title.
func cut(title []rune) []rune { return title[:min(len(title), MaxLength)] }

// Percent returns the similarity of two titles of la and lb characters in percent, 0 to
// 100. Lengths above MaxLength count as MaxLength.
func Percent(matches, la, lb int) float64 {
	la, lb = min(la, MaxLength), min(lb, MaxLength)
	if la+lb == 0 {
		return 0
	}
	return 200 * float64(matches) / float64(la+lb)
}

// Report returns a percentage as the API reports it: rounded to one decimal, and 0
// if it is below 50 before rounding (API.md: GET /api/levenshtein, 1).
func Report(percent float64) float64 {
	if percent < reportFrom {
		return 0
	}
	return math.Round(percent*10) / 10
}

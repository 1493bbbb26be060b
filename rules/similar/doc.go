// Package similar finds the stored title that is closest to a given one, by the
// similarity of PHP's similar_text (API.md: GET /api/levenshtein): find the
// longest common substring, do the same to the left and to the right of it, and
// add up the lengths. It works on characters, not bytes.
//
// Matches is that algorithm as it reads, and the definition of every answer. A
// Corpus gives the same answers for many thousands of titles at once:
//
//	titles ──Normalize──▶ symbols, one byte a character, and a histogram of each
//	asked title ──▶ bit masks: for each symbol, where it stands in the title
//	histogram bound ──▶ common-subsequence bound ──▶ matching characters
//
// Each step costs more than the one before and is taken only for titles that the
// one before could not rule out, the most promising first. Both bounds hold because
// what similar_text matches is a common subsequence of the two titles, and that
// a part of both their multisets of characters.
//
// Everything here is pure. A Corpus is immutable once built and safe for
// concurrent use.
package similar

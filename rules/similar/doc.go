// Package similar finds the stored title that is closest to a given one, by the similarity of PHP's similar_text
// (openapi.json: GET /api/levenshtein): find the longest common substring, do the same to the left and to the right
// of it, and add up the lengths. It works on characters, not bytes.
//
// The plain algorithm takes cubic time. A Corpus computes the same results for many
// thousands of titles at once; the tests hold both against each other:
//
//	titles ──Normalize──▶ symbols, one byte for each character, and a histogram of each
//	query title ──NormalizeQuery──▶ bit masks: for each symbol, its positions in the title
//	histogram bound ──▶ common-subsequence bound ──▶ matching characters
//
// Each step costs more than the previous one and handles only the titles that the previous one could not rule out,
// the most promising first. Both bounds hold because the characters that similar_text matches form a common
// subsequence of the two titles, and a common subsequence is a subset of both multisets of characters.
//
// All functions are pure. A Corpus is immutable and safe for concurrent use.
package similar

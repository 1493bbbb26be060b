// Package words stores which rows have a word, and whether in their title.
//
// An Index is immutable. It has the distinct words, sorted, one after the other in one piece of memory, and for each
// a list of its rows. A list has for each row the distance from the previous row and a bit for the title, in as few
// bytes as possible: mostly one. Words in many rows, which searches for a first letter unite, have sets in place of
// lists. Binary search finds a word, or all words with the same beginning.
//
// For example, with the title "Open data" in row 3 and the text "data 2020" in row 5:
//
//	word   rows             list
//	2020   5                5<<1
//	data   3 (title), 5     3<<1|1, 2<<1
//	open   3 (title)        3<<1|1
//
// The words are those of package fold, which folds case and accents. Numbers are written as by
// binary.AppendUvarint.
package words

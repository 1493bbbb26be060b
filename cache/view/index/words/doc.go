// Package words keeps which rows have a word, and whether in their title.
//
// An Index is immutable: the distinct words, sorted, one after the other in one piece of
// memory, and for each a list of its rows. A list has for each row the distance from the
// row before and a bit for the title, in as few bytes as that takes: mostly one. Words that
// many rows have, which searches for a first letter unite, have sets in place of lists. A
// word, or all words that begin alike, are found by binary search.
package words

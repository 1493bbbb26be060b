// Package fold finds the words of a text and writes them so that different spellings of
// a word are equal: without case, accents and width, and with one spelling where several
// are common.
//
// Readers look for a German name under three spellings: Müller, Mueller and Muller. All
// three have to find each other, so they need one folded form, and the only form that
// the three have in common is the shortest: an e behind a, o or u is dropped, wherever it
// stands. This also makes some words equal that are not the same, such as poet and pot.
// An index of several spellings for each word would need more room and several lookups
// for each term, and would still not find Muller for Mueller.
//
// What is folded this way keeps its beginning: the folded beginning of a word is the
// beginning of the folded word, so that words can be looked up while they are typed.
package fold

// Package fold finds the words of a text and writes them so that different spellings of a word are equal: without
// case, accents and width, and with one spelling where several are common.
//
// Readers look for a German name under three spellings: Müller, Mueller and Muller. All three must find each other,
// so they need one folded form. The only form that the three have in common is the shortest: fold drops every e after
// a, o or u. This also makes some different words equal, such as poet and pot. An index of several spellings for each
// word would need more room and several lookups for each term, and would still not find Muller for Mueller.
//
// Folding preserves prefixes: the folded beginning of a word is the beginning of the folded word, so that an index
// can look up words while they are typed.
package fold

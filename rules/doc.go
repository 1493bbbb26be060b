// Package rules defines the vocabulary of Vitrine: the names of the views, the kinds of error that a caller can meet,
// and, in its sub-packages, the query language (filter), the rendering of activities (render), display labels
// (label), permissions and visibility (access) and title similarity (similar).
//
// Everything below rules is pure: no I/O, no clock, no global state. A function that depends on today's date takes it
// as an argument. Rules import no other package of this module outside rules.
package rules

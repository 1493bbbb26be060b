// Package params reads the parameters of lists: strictly, and into one canonical spelling, so
// that equal questions have one URL and one kept answer.
//
//	Parse ──▶ Query ──String──▶ "q=fold&year=2018..2022,missing&unit=BIO&sort=title"
//
// Values are repeated or separated by commas; a comma that belongs to a value is written
// "\,", a backslash "\\". A parameter without a value is not given, as forms send it.
// Parameters come in a fixed order, values of a filter sorted, and what is usual is left out.
// Errors are *rules.Error and name the parameter, the place in it and what was wrong.
//
// All functions are pure and safe for concurrent use. A Query is immutable.
package params

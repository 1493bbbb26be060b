// Package params reads the parameters of lists: strictly, and into one canonical spelling, so that equal requests
// have one URL and one kept answer.
//
//	Parse ──▶ Query ──String──▶ "q=fold&year=2018..2022,missing&unit=BIO&sort=title"
//
// Values are repeated or separated by commas; in a value, "\," means a comma and "\\" a backslash. Only years have
// ranges; elsewhere two dots are refused unless they are written "\.\.". Parse drops a parameter with an empty value,
// which forms send. The canonical spelling has parameters in a fixed order, sorts the values of a filter, and leaves
// out default values. Errors are *rules.Error and name the parameter, the place in it and the mistake.
//
// Parameters that select rows are the frame of a list. Readers narrow it by others, such as and.type: see And.
//
// All functions are pure and safe for concurrent use. A Query is immutable.
package params

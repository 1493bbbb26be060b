// Package label maps codes to the names that people read: the type, funder, role and status of a project, topics and
// tags, and the API's own texts.
//
// A label set is a table from code to name in every language. Parse reads sets from a file, a program may make them
// itself, and With lays a site's own sets over the built-in ones, label by label. A code without a label is shown
// unchanged, so that it is not lost.
//
// Sets are immutable and safe for concurrent use.
package label

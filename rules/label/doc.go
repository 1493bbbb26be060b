// Package label gives codes their names for people: the type, funder, role and
// status of a project, topics and tags, and the few texts the API speaks itself.
//
// Labels come in sets, each a table from code to name in every language. A file
// brings them (Parse), or a program that read them elsewhere (New); a site's own
// sets go on top of the built-in ones (With), label by label. What no set knows
// goes by its code, so that an unheard-of code is shown and not lost.
//
// A *Sets is immutable and safe for concurrent use.
package label

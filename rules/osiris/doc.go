// Package osiris reads what an OSIRIS database says about itself: settings, rights, who
// sees what, labels, and the templates that activities are rendered by. With it,
// pointing Vitrine at such a database needs one setting (docs/osiris.md).
//
// From takes the documents of the administrative collections; each file turns one kind
// of record into plain values (general.go, types.go, labels.go). The result, Settings,
// holds options for the packages access, label and
// render; no other package knows the shape of these collections.
//
// An institute edits these records by hand, so that anything may be wrong with them.
// A part that cannot be used is skipped with a warning that names the collection, the
// record and the reason. Where skipping would open something, a key or a restriction
// that cannot be read, it stays closed.
//
// The functions are pure and safe for concurrent use; so are Settings.
package osiris

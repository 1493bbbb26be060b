// Package osiris reads what an OSIRIS database says about itself: settings, rights, who
// sees what, labels, and the templates that activities are rendered by. With it,
// pointing Vitrine at such a database needs one setting (docs/osiris.md).
//
// The data's way: Read scans administrative collections of a Source, or whoever
// has their documents already hands them to From; each file turns one kind of record
// into plain values (general.go, rights.go, categories.go, labels.go, fields.go). What
// comes out, Settings, holds options for the packages access, label and render, and
// nothing of OSIRIS is known beyond.
//
// An institute edits these records by hand, so that anything may be wrong with them.
// What is wrong is passed over with a Warning that names the collection, the record and
// the reason; only a store that does not answer is an error. Where passing over would
// open something, a key or a restriction that cannot be read, it stays closed.
//
// The functions are pure but for Read, and safe for concurrent use; so are Settings.
package osiris

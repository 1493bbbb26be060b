// Package osiris reads the administrative collections of an OSIRIS database: settings, rights, visibility, labels,
// and the templates of activities. With it, pointing Vitrine at such a database needs one setting (docs/osiris.md).
//
// From takes the documents of these collections; each file turns one kind of record into plain values (general.go,
// types.go, labels.go). The result, Settings, holds options for the packages access, label and render; no other
// package knows the shape of these collections.
//
// An institute edits these records by hand, so any of them may be malformed. From skips a part that
// it cannot use, with a warning that names the collection, the record and the reason. If skipping
// would grant access, because a key or a restriction is unreadable, access stays closed.
//
// The functions are pure and safe for concurrent use; so are Settings.
//
// To read another setting, add it to Settings and to the file of its kind of record, and add its
// collection to ForAnswers, ForRendering or ForPortal: a collection that is in none of them is not
// watched.
package osiris

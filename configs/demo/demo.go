// Package demo holds a made-up institute, the Halden Institute of Night
// Sciences, so that Vitrine can show itself on a machine without a database.
// It has the shapes that real records have, the crooked ones included, but for years as
// text, which would lead every list. People,
// titles and figures are invented; DOIs begin with the prefix 10.5555, which is
// kept for such use, and hosts end in ".example".
//
//	generate ──go generate──▶ data/COLLECTION.jsonl.gz ──embed──▶ FS ──▶ the importer
//
// A file holds one document a line in MongoDB Extended JSON.
package demo

import (
	"embed"
	"io/fs"
)

//go:generate go run ./generate

//go:embed data/*.jsonl.gz
var files embed.FS

// FS returns the institute as a folder of files named COLLECTION.jsonl.gz. It
// is read-only and safe for concurrent use.
func FS() fs.FS {
	data, err := fs.Sub(files, "data")
	if err != nil {
		panic(err) // the path above is no valid one: a mistake of the program
	}
	return data
}

// Package demo holds a made-up institute, the Halden Institute of Night
// Sciences, so that Vitrine can show itself on a machine without a database.
// It has the shapes of real records, the irregular ones included. One is left
// out: years stored as text, which would come first in every list. People,
// titles and figures are invented; DOIs begin with the prefix 10.5555, which is
// reserved for examples, and hosts end in ".example".
//
// COLLECTION.jsonl holds one document a line in MongoDB Extended JSON.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed *.jsonl
var files embed.FS

// FS returns the institute as a folder of files named COLLECTION.jsonl. It is
// read-only and safe for concurrent use.
func FS() fs.FS { return files }

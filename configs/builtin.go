package configs

import (
	"bytes"
	"embed"
	"io/fs"
)

// Built-in files. Other packages know their meaning, and read them unless a site has its own.
var (
	//go:embed rules/activities.yaml
	activities []byte
	//go:embed rules/cite.yaml
	cite []byte
	//go:embed labels/labels.yaml
	labels []byte
	//go:embed demo/*.jsonl
	demo embed.FS
)

// RenderRules returns the built-in rules for rendering and their name in errors. The caller owns the bytes.
func RenderRules() (name string, src []byte) { return "activities.yaml", bytes.Clone(activities) }

// CiteRules returns the built-in rules for citing records. The caller owns the bytes, as with the other two: a
// parser may keep parts of them.
func CiteRules() (name string, src []byte) { return "cite.yaml", bytes.Clone(cite) }

// LabelSets returns the built-in label sets, over which a site's own file is laid.
func LabelSets() (name string, src []byte) { return "labels.yaml", bytes.Clone(labels) }

// Demo returns a made-up institute, the Halden Institute of Night Sciences, so that people can try Vitrine without a
// database. COLLECTION.jsonl has one document per line in MongoDB Extended JSON, in the shapes of real records,
// including irregular ones. Only years stored as text are left out, because they would come first in every list.
// People, titles and figures are invented; DOIs begin with the prefix 10.5555, which is reserved for examples, and
// hosts end in ".example".
func Demo() fs.FS {
	files, _ := fs.Sub(demo, "demo") // fails only for malformed names
	return files
}

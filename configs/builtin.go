package configs

import (
	"bytes"
	"embed"
	"io/fs"
)

// What the program brings along. Package configs knows nothing of its meaning: others read it,
// unless the configuration names a file of its own.
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

// RenderRules returns the built-in rules for rendering activities, and the name they go by
// in errors. The bytes are the caller's own, as those of the other files.
func RenderRules() (name string, src []byte) { return "activities.yaml", bytes.Clone(activities) }

// CiteRules returns the built-in rules for citing records.
func CiteRules() (name string, src []byte) { return "cite.yaml", bytes.Clone(cite) }

// LabelSets returns the built-in label sets, over which a site's own file is laid.
func LabelSets() (name string, src []byte) { return "labels.yaml", bytes.Clone(labels) }

// Demo returns a made-up institute, the Halden Institute of Night Sciences, so that Vitrine
// can show itself on a machine without a database. COLLECTION.jsonl holds one document a line
// in MongoDB Extended JSON, in the shapes of real records, the irregular ones included. One is
// left out: years stored as text, which would come first in every list. People, titles and
// figures are invented; DOIs begin with the prefix 10.5555, which is reserved for examples,
// and hosts end in ".example".
func Demo() fs.FS {
	files, _ := fs.Sub(demo, "demo") // fails for malformed names alone
	return files
}

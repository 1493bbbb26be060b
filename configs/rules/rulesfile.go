// Package rulesfile holds the built-in rules for rendering activities and for citing
// records. It knows nothing of their meaning: cmd hands the bytes to rules/render and
// rules/cite, unless the configuration names a file of its own.
package rulesfile

import (
	"bytes"
	_ "embed"
)

//go:embed activities.yaml
var activities []byte

//go:embed cite.yaml
var cite []byte

// Default returns the built-in rules file and the name it goes by in errors. The
// bytes are the caller's own.
func Default() (name string, src []byte) {
	return "activities.yaml", bytes.Clone(activities)
}

// Cite returns the built-in mapping rules for citations and the name they go by in errors.
// The bytes are the caller's own.
func Cite() (name string, src []byte) {
	return "cite.yaml", bytes.Clone(cite)
}

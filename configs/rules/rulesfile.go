// Package rulesfile holds the built-in rules for rendering activities. It knows
// nothing of their meaning: cmd hands the bytes to rules/render, unless the
// configuration names a file of its own.
package rulesfile

import (
	"bytes"
	_ "embed"
)

//go:embed activities.yaml
var activities []byte

// Default returns the built-in rules file and the name it goes by in errors. The
// bytes are the caller's own.
func Default() (name string, src []byte) {
	return "activities.yaml", bytes.Clone(activities)
}

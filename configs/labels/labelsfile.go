// Package labelsfile holds the built-in label sets. It knows nothing of their
// meaning: cmd hands the bytes to rules/label, and lays a site's own file over them.
package labelsfile

import (
	"bytes"
	_ "embed"
)

//go:embed labels.yaml
var labels []byte

// Default returns the built-in label sets and the name they go by in errors. The
// bytes are the caller's own.
func Default() (name string, src []byte) {
	return "labels.yaml", bytes.Clone(labels)
}

package proxytest

import (
	"os"
	"path/filepath"
)

// InRepo returns the path of a file from the repository's root, whichever package is tested.
func InRepo(elem ...string) string {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || len(root) > 64 {
			return filepath.Join(append([]string{root}, elem...)...)
		}
		root = filepath.Join(root, "..")
	}
}

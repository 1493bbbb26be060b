package csl

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed styles/*.csl
var own embed.FS

// OwnStyles returns the sources of the built-in styles by name: "institute" (author and year) and "compact" (one
// line).
func OwnStyles() map[string][]byte {
	names, err := fs.Glob(own, "styles/*.csl")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := map[string][]byte{}
	for _, name := range names {
		src, err := own.ReadFile(name)
		if err != nil {
			panic(err) // an embedded file that was just listed
		}
		all[strings.TrimSuffix(path.Base(name), ".csl")] = src
	}
	return all
}

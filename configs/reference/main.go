// Command reference writes what people read about the configuration from the
// comments on its fields, so that neither can drift from the code:
//
//	config.go, lists.go ──comments──▶ docs/configuration.md       every key in a table
//	                              └─▶ configs/vitrine.sample.yml  the defaults, with comments
//
// Run it with `go generate ./configs`; its test fails while a file is out of date.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	files, err := generate("..")
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join("..", name), content, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// generate returns the files by their path below root.
func generate(root string) (map[string][]byte, error) {
	docs, err := fieldComments(filepath.Join(root, "configs", "config.go"), filepath.Join(root, "configs", "lists.go"))
	if err != nil {
		return nil, err
	}
	sample, err := sampleFile(docs)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		filepath.Join("docs", "configuration.md"):      markdown(docs),
		filepath.Join("configs", "vitrine.sample.yml"): sample,
	}, nil
}

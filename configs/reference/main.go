// Command reference writes what people read about the configuration from the
// comments on its fields, so that neither can drift from the code:
//
//	config.go ──comments──▶ docs/configuration.md       every key in a table
//	                    └─▶ configs/vitrine.sample.yml  the defaults, with comments
//
// Run it with `go generate ./configs`; its test fails while a file is out of date.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write(".."); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write writes all files of the repository at root.
func write(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files by their path below root.
func generate(root string) (map[string][]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, "configs", "config.go"))
	if err != nil {
		return nil, err
	}
	docs, err := fieldComments(source)
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

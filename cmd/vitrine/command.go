package main

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

//go:embed help.yaml
var helpSource []byte

// helpTexts are the texts of the commands by their names, which those of their parents
// precede.
var helpTexts = sync.OnceValue(func() (all map[string]struct{ Use, Short, Long, Example string }) {
	if err := yaml.Unmarshal(helpSource, &all); err != nil {
		panic(fmt.Errorf("help.yaml: %w", err)) // every test of a command finds it
	}
	return all
})

// newCommand returns the command of that name, without arguments.
func newCommand(name string) *cobra.Command {
	h := helpTexts()[name]
	return &cobra.Command{Use: h.Use, Short: h.Short, Long: h.Long, Example: h.Example, Args: cobra.NoArgs}
}

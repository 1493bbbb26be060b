package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vitrine/configs"
	"vitrine/proxy/auth"
)

// keyAddCommand makes a key. It prints the key and the lines of the configuration that accept it, and stores
// neither. The name is checked by reading the lines as a configuration: package configs alone knows which names are
// valid. Only the hash is in the configuration, so a file that others read opens nothing.
func keyAddCommand() *cobra.Command {
	cmd := newCommand("key add")
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, sum := auth.NewKey()
		lines := fmt.Sprintf("auth:\n  keys:\n    %s:\n      sha256: [%x]\n", args[0], sum)
		if _, err := configs.Load(configs.Sources{Text: []byte(lines), TextName: args[0]}); err != nil {
			return fmt.Errorf("not a name: %w", err)
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(),
			"# The key, which is not stored and not shown again:\n%s\n# Its lines in the configuration file:\n%s",
			text, lines)
		return err
	}
	return cmd
}

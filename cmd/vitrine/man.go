package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/manual"
)

// manCommand writes the manual pages. They contain the release but not the commit, so that every build of a release
// writes the same bytes.
func manCommand() *cobra.Command {
	cmd := newCommand("man")
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		release, _ := build()
		names, err := manual.Write(args[0], cmd.Root(), "Vitrine "+release)
		for _, name := range names { // ignore errors: standard output may be closed
			fmt.Fprintln(cmd.OutOrStdout(), name)
		}
		return err
	}
	return cmd
}

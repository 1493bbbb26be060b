package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by release builds (.ci/build).
//
// They are variables, because the linker's -X sets no constants. A program that the go command builds leaves them
// empty, and has both from the build info.
var version, commit string

// versionCommand prints the line that --version prints, too. It needs no configuration, so it works where that is
// broken.
func versionCommand() *cobra.Command {
	cmd := newCommand("version")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
		return err
	}
	return cmd
}

// versionLine returns what identifies a program in a report of a fault: "vitrine 1.2.0 0123456789ab go1.26
// linux/amd64".
func versionLine() string {
	release, revision := build()
	return fmt.Sprintf("vitrine %s %s %s %s/%s", release, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// build returns the version and the commit of the program.
func build() (release, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return cmp.Or(version, info.Main.Version, "unknown"), buildCommit(info)
}

// buildCommit returns the release's or the go command's commit in 12 digits; "+changes" marks a changed tree.
func buildCommit(info *debug.BuildInfo) string {
	revision, dirty := commit, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = cmp.Or(revision, s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return cmp.Or(revision[:min(12, len(revision))], "unknown") + dirty
}

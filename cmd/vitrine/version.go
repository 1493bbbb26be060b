package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"
)

// version and commit are set by release builds (.ci/build).
var version, commit string

// versionCommand prints the version, or the bill of materials.
func versionCommand() *cobra.Command {
	var sbom bool
	cmd := newCommand("version")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		info, ok := debug.ReadBuildInfo()
		if !ok {
			info = &debug.BuildInfo{}
		}
		if sbom {
			return writeSBOM(cmd.OutOrStdout(), info)
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "vitrine %s %s %s %s/%s\n",
			buildVersion(info), buildCommit(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "print every module that is linked in, as CycloneDX JSON")
	return cmd
}

// buildVersion returns the release's version, or else that of the main module.
func buildVersion(info *debug.BuildInfo) string {
	return cmp.Or(version, info.Main.Version, "unknown")
}

// buildCommit returns the release's commit, or else the one that the go command recorded,
// in 12 digits; "+changes" follows if the working tree was modified.
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

// writeSBOM lists the modules that the linker put into this program, as CycloneDX JSON. They are
// a part of those in go.mod.
func writeSBOM(w io.Writer, info *debug.BuildInfo) error {
	own := component("vitrine", buildVersion(info), "")
	own.Type, own.Properties = cyclonedx.ComponentTypeApplication, &[]cyclonedx.Property{{Name: "vitrine:commit", Value: buildCommit(info)}}
	modules := []cyclonedx.Component{component("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component(m.Path, m.Version, m.Sum))
	}
	b := cyclonedx.NewBOM()
	b.Metadata, b.Components = &cyclonedx.Metadata{Component: &own}, &modules
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cyclonedx.SpecVersion1_5)
}

// component describes a module; sum is the checksum of its source, as in go.sum.
func component(path, version, sum string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: purl, Name: path, Version: version, PackageURL: purl}
	if sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "golang:sum", Value: sum}}
	}
	return c
}

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

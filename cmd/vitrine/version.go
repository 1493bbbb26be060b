package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

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

// The parts of a CycloneDX bill of materials that say what is in a program.
type (
	bom struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Version     int         `json:"version"`
		Metadata    bomMetadata `json:"metadata"`
		Components  []component `json:"components"`
	}
	bomMetadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// writeSBOM lists the modules that the linker put into this program. They are a part of
// those in go.mod.
func writeSBOM(w io.Writer, info *debug.BuildInfo) error {
	b := bom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	b.Metadata.Component = newComponent("application", "vitrine", buildVersion(info), "")
	b.Metadata.Component.Properties = []property{{"vitrine:commit", buildCommit(info)}}
	b.Components = []component{newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, newComponent("library", m.Path, m.Version, m.Sum))
	}
	return printJSON(w, b)
}

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// newComponent describes a module; sum is the checksum of its source, as in go.sum.
func newComponent(kind, path, version, sum string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	if sum != "" {
		c.Properties = []property{{"golang:sum", sum}}
	}
	return c
}

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"vitrine/configs"
)

// intro is what stands before the tables.
//
//go:embed intro.md
var intro string

// markdown returns the reference: a table per section.
func markdown(docs comments) []byte {
	var out bytes.Buffer
	out.WriteString(intro)
	heading(&out, "The basics", "")
	section := ""
	var all []configs.Key
	for _, k := range configs.Keys() {
		all = append(append(all, k), k.Section(sectionName)...)
	}
	for _, k := range all {
		if parent := k.Path[:max(0, strings.LastIndexByte(k.Path, '.'))]; parent != section {
			section = parent
			heading(&out, "`"+section+"`", docs[section])
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s%s | %s |\n",
			k.Path, k.Type, defaultOf(k), envOf(k), flagOf(k), cell(docs[k.Path]))
	}
	return out.Bytes()
}

func heading(out *bytes.Buffer, title, doc string) {
	fmt.Fprintf(out, "\n## %s\n\n", title)
	if doc != "" {
		fmt.Fprintf(out, "%s\n\n", doc)
	}
	out.WriteString("| key | type | default | environment, flag | effect |\n| --- | --- | --- | --- | --- |\n")
}

func defaultOf(k configs.Key) string {
	if k.Default == "" {
		return "empty"
	}
	return "`" + cell(k.Default) + "`"
}

// envOf is the variable that sets a key; only a file sets those in a map of sections.
func envOf(k configs.Key) string {
	if k.Env == "" || strings.Contains(k.Path, sectionName) {
		return "file only"
	}
	return "`" + k.Env + "`"
}

func flagOf(k configs.Key) string {
	if k.Flag == "" {
		return ""
	}
	return ", `--" + k.Flag + "`"
}

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

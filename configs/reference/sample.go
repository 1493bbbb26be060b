package main

import (
	"bytes"
	"strings"

	"vitrine/configs"
)

const sampleHead = `# Vitrine: every setting with its default. Copy what you want to change; what
# you leave out keeps its default. docs/configuration.md says more.
`

// width is how long lines of comments may be.
const width = 90

// sampleFile returns the default configuration with a comment above every key.
func sampleFile(docs comments) ([]byte, error) {
	var yaml, out bytes.Buffer
	if err := configs.Default().WriteYAML(&yaml); err != nil {
		return nil, err
	}
	out.WriteString(sampleHead)
	var path []string // of the line at hand
	for line := range strings.Lines(yaml.String()) {
		name, _, _ := strings.Cut(strings.TrimLeft(line, " "), ":")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		path = append(path[:len(indent)/2], name)
		if doc := docs[strings.Join(path, ".")]; doc != "" {
			if indent == "" {
				out.WriteByte('\n')
			}
			wrap(&out, indent+"# ", strings.ReplaceAll(doc, "`", ""))
		}
		out.WriteString(line)
	}
	return out.Bytes(), nil
}

// wrap writes text in lines that begin with prefix.
func wrap(out *bytes.Buffer, prefix, text string) {
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case used == 0:
			out.WriteString(prefix)
			used = len(prefix)
		case used+1+len(word) > width:
			out.WriteString("\n" + prefix)
			used = len(prefix)
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += len(word)
	}
	out.WriteByte('\n')
}

package configs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the reference and the sample anew")

// What people read about the configuration is made from the description of its settings, so that
// neither can drift from the code:
//
//	settings.yaml ─┬─▶ docs/configuration.md       every key
//	               └─▶ configs/vitrine.sample.yml  the defaults, with comments
const (
	referenceFile = "../docs/configuration.md"
	sampleFile    = "vitrine.sample.yml"
)

func TestFilesAreUpToDate(t *testing.T) {
	docs := comments{}
	docs.add(sections, "")
	for path, doc := range docs {
		if doc == "" {
			t.Errorf("%s has no comment", path)
		}
	}
	intro, err := os.ReadFile("testdata/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	sample, err := commentedSample(docs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{referenceFile: markdown(intro, docs), sampleFile: sample} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./configs (%v)", name, err)
		}
	}
}

func TestSampleEqualsDefaults(t *testing.T) {
	got, err := Load(Sources{Environ: []string{"VITRINE_CONFIG=" + sampleFile}})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	var gotYAML, wantYAML bytes.Buffer
	if err := want.WriteYAML(&wantYAML); err != nil {
		t.Fatal(err)
	}
	if err := got.WriteYAML(&gotYAML); err != nil {
		t.Fatal(err)
	}
	if got, want := withoutComments(gotYAML.String()), wantYAML.String(); got != want {
		t.Errorf("the sample says\n%s\nwant\n%s", got, want)
	}
}

// withoutComments drops the origins that WriteYAML puts after values.
func withoutComments(yaml string) string {
	var out strings.Builder
	for line := range strings.Lines(yaml) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " # ")
		out.WriteString(line + "\n")
	}
	return out.String()
}

func TestEveryKeyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		want := "- `" + s.Path + "` ("
		if s.fields != nil {
			want = "## `" + s.Path + entryOf(&s) + "`"
		}
		if !bytes.Contains(doc, []byte(want)) {
			t.Errorf("%s is not in the documentation", want)
		}
	}
}

// entryName and entryNumber stand for the name of a section in a map of sections, and its number in a list of them.
const (
	entryName   = ".NAME"
	entryNumber = "[N]"
)

func entryOf(s *Setting) string {
	if s.typ.Kind() == reflect.Slice {
		return entryNumber
	}
	return entryName
}

// comments are the comments on settings and sections by dotted path.
type comments map[string]string

// add adds the comments on settings, and those in them.
func (docs comments) add(settings []Setting, prefix string) {
	for _, s := range settings {
		docs[prefix+s.Path] = s.Doc
		if s.fields != nil {
			docs.add(s.Settings, prefix+s.Path+entryOf(&s)+".")
		} else {
			docs.add(s.Settings, prefix)
		}
	}
}

// markdown returns the reference: a list per section.
func markdown(intro []byte, docs comments) []byte {
	var out bytes.Buffer
	out.Write(intro)
	out.WriteString("\n## The basics\n\n")
	section := ""
	var all []Setting
	for _, s := range settings {
		if s.fields == nil {
			all = append(all, s)
		}
		for _, field := range s.fields {
			field.Path = s.Path + entryOf(&s) + "." + field.Path
			all = append(all, field)
		}
	}
	for _, s := range all {
		if parent := parentOf(s.Path); parent != section {
			section = parent
			fmt.Fprintf(&out, "\n## `%s`\n\n%s\n\n", section,
				docs[strings.TrimSuffix(strings.TrimSuffix(section, entryName), entryNumber)])
		}
		fmt.Fprintf(&out, "- `%s` (%s): %s\n", s.Path, strings.Join(factsOf(s), ", "), docs[s.Path])
	}
	return out.Bytes()
}

// factsOf returns the type, default and flag of a setting.
func factsOf(s Setting) []string {
	facts := []string{typeNames[s.typ]}
	if s.Default != "" {
		facts = append(facts, "`"+s.Default+"`")
	}
	if s.Flag != "" {
		facts = append(facts, "`--"+s.Flag+"`")
	}
	if s.Live {
		facts = append(facts, "live")
	}
	return facts
}

const sampleHead = `# Vitrine: every setting with its default. Copy what you want to change; what
# you leave out keeps its default. docs/configuration.md says more.
`

// width is the maximum length of a line of comments.
const width = 90

// commentedSample returns the default configuration with a comment above every key.
func commentedSample(docs comments) ([]byte, error) {
	var yaml, out bytes.Buffer
	if err := Default().WriteYAML(&yaml); err != nil {
		return nil, err
	}
	out.WriteString(sampleHead)
	var path []string // of the current line
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

// typeNames are the types of settings, with their names in the documentation.
var typeNames = map[reflect.Type]string{
	reflect.TypeFor[string]():              "text",
	reflect.TypeFor[Secret]():              "secret",
	reflect.TypeFor[URI]():                 "address",
	reflect.TypeFor[bool]():                "true or false",
	reflect.TypeFor[int]():                 "whole number",
	reflect.TypeFor[float64]():             "number",
	reflect.TypeFor[Size]():                "size",
	reflect.TypeFor[time.Duration]():       "duration",
	reflect.TypeFor[[]string]():            "list",
	reflect.TypeFor[map[string]string]():   "map",
	reflect.TypeFor[map[string]URI]():      "map of addresses",
	reflect.TypeFor[map[string][]string](): "map of lists",
}

package cite

import (
	_ "embed"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

//go:embed formats.yaml
var formatsFile []byte

// formats says what the formats call things, as the comments of the file describe it.
var formats = func() (f struct {
	BibTeX                           map[string]struct{ Container, Publisher string }
	OpenURL                          map[string]struct{ Genre, Title, Container, Publisher string }
	Unremarkable                     map[string]struct{}
	Meta, Elements, Accents, Symbols map[string]string
}) {
	if err := yaml.Unmarshal(formatsFile, &f); err != nil {
		panic(err)
	}
	return f
}()

// appendLaTeX appends a character, one beyond ASCII by the command that LaTeX has for it, or
// as it is if there is none that needs no package.
func appendLaTeX(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, byte(r))
	}
	if command, ok := formats.Symbols[string(r)]; ok {
		return append(dst, command...)
	}
	decomposed := []rune(string(norm.NFD.PropertiesString(string(r)).Decomposition()))
	if len(decomposed) < 2 || decomposed[0] >= utf8.RuneSelf {
		return utf8.AppendRune(dst, r)
	}
	letter := string(decomposed[0])
	for _, mark := range decomposed[1:] {
		accent, ok := formats.Accents[string(mark)]
		if !ok {
			return utf8.AppendRune(dst, r)
		}
		letter = `\` + accent + "{" + letter + "}"
	}
	return append(append(append(dst, '{'), letter...), '}')
}

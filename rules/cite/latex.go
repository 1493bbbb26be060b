package cite

import (
	_ "embed"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/unicode/norm"
)

// appendLaTeX appends a character, one beyond ASCII by the command that LaTeX has for it, or
// as it is if there is none that needs no package.
func appendLaTeX(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, byte(r))
	}
	if command, ok := latex.Symbols[string(r)]; ok {
		return append(dst, command...)
	}
	decomposed := norm.NFD.PropertiesString(string(r)).Decomposition()
	if len(decomposed) == 0 {
		return utf8.AppendRune(dst, r)
	}
	base, n := utf8.DecodeRune(decomposed)
	var accents []string
	for marks := decomposed[n:]; len(marks) > 0; marks = marks[n:] {
		var mark rune
		mark, n = utf8.DecodeRune(marks)
		accent, ok := latex.Accents[string(mark)]
		if !ok {
			return utf8.AppendRune(dst, r)
		}
		accents = append(accents, accent)
	}
	if base >= utf8.RuneSelf || len(accents) == 0 {
		return utf8.AppendRune(dst, r)
	}
	dst = append(dst, '{')
	for i := len(accents) - 1; i >= 0; i-- {
		dst = append(append(append(dst, '\\'), accents[i]...), '{')
	}
	dst = append(dst, byte(base))
	for range accents {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

//go:embed latex.yaml
var latexFile []byte

// latex has the commands for combining characters, and for characters that are no accented
// letters.
var latex = func() (tables struct{ Accents, Symbols map[string]string }) {
	if err := yaml.Unmarshal(latexFile, &tables); err != nil {
		panic(err)
	}
	return tables
}()

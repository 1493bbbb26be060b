package cite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/cite"
)

// attacks are texts that make TeX run a command if one of their characters is not escaped.
var attacks = []string{
	`^^5cinput{secret}`, `^^5C^^69nput secret `, `^^5cinput^^7bsecret^^7d`, `^^^^005cinput{secret}`,
	`^^1cinput{secret}`, `\input{secret}`, `}\input{secret}{`, `%0A\input{secret}`,
	"\n\n\\input secret\n", `$\input{secret}$`, `~\input{secret}`, `#1\input{secret}`, `\\input{secret}`,
	`^^M\input{secret}`, `@input{secret}`, `|\input secret|`, `"\input secret"`,
	`\catcode126=0 ~input secret `, `^^5ccatcode64=0 @input{secret}`, `\end{thebibliography}\input{secret}`,
	"`\\input{secret}'", `\\`, `\`, `{`, `}`, `}{`, `%`, `^^`, `^^5c`,
}

// asciiTexts are texts that contain each ASCII character, and each pair of printable ones.
func asciiTexts() (all []string) {
	for a := range 128 {
		one := string(rune(a))
		all = append(all, one, "x"+one, one+"x", strings.Repeat(one, 4))
		for b := ' '; b <= '~' && a >= ' '; b += 16 {
			text := one
			for next := b; next < b+16; next++ {
				text += string(next) + one
			}
			all = append(all, text)
		}
	}
	return all
}

// texRow returns a record with the text in every field, or as much of it as the field allows. Names
// contain a part of it.
func texRow(t *testing.T, i int, text, name string) bson.Raw {
	t.Helper()
	whole := func(s string) string { // without characters that a DOI cannot have
		return strings.Map(func(r rune) rune {
			if r <= ' ' || r == 0x7f {
				return -1
			}
			return r
		}, s)
	}
	row, err := bson.Marshal(bson.D{
		{Key: "_id", Value: fmt.Sprint(i) + text}, {Key: "type", Value: "publication"},
		{Key: "subtype", Value: []string{"article", "chapter", "thesis", "software"}[i%4]},
		// styles cannot tell many of one year apart
		{Key: "title", Value: "T " + text},
		{Key: "authors", Value: bson.A{bson.D{{Key: "first", Value: "F" + name}, {Key: "last", Value: "L" + name}},
			"Group " + name}}, {Key: "year", Value: 1000 + i},
		{Key: "journal", Value: "J " + text}, {Key: "book", Value: "B " + text}, {Key: "volume", Value: text},
		{Key: "issue", Value: text}, {Key: "pages", Value: text}, {Key: "publisher", Value: text},
		{Key: "doi", Value: "10.1234/a" + whole(text)},
		{Key: "link", Value: "https://example.org/a?b=" + whole(text) + "#" + whole(text)},
		{Key: "series", Value: text}, {Key: "edition", Value: text}, {Key: "issn", Value: text},
		{Key: "isbn", Value: text}, {Key: "abstract", Value: text},
	})
	require.NoError(t, err)
	return row
}

// TestFacesInTeX makes BibTeX and pdfLaTeX typeset records with every ASCII character, and attacks:
// they produce a document, and read no file of the user.
func TestFacesInTeX(t *testing.T) {
	for _, program := range []string{"pdflatex", "bibtex"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	var rows []bson.Raw
	texts := asciiTexts()
	for i, text := range append(texts, attacks...) {
		name := text
		if i < len(texts) {
			name = text[:min(len(text), 5)] // styles cut the labels that they make from names
		}
		rows = append(rows, texRow(t, i, text, name))
	}
	r := builtIn(t)
	// Without the package, addresses are text, in which more characters need escapes.
	const plain = "\\AtBeginDocument{\\catcode`\\%=12 \\catcode`\\#=12 \\catcode`\\&=12 " +
		"\\catcode`\\$=12 \\catcode`\\_=12 }"
	for _, packages := range []string{`\usepackage{url}`, `\usepackage{hyperref}`, plain} {
		for _, latex := range []bool{false, true} {
			t.Run(fmt.Sprintf("%.20s %t", packages, latex), func(t *testing.T) {
				var bib []byte
				var it cite.Item
				for _, row := range rows {
					r.Read(row, &it)
					require.Regexp(t, `^[a-z0-9-]+$`, it.Key)
					bib = cite.AppendBibTeX(bib, &it, latex)
				}
				typeset(t, packages, bib)
			})
		}
	}
}

// typeset makes a document with a bibliography. The folder also has a file that no document names.
func typeset(t *testing.T, packages string, bib []byte) {
	t.Helper()
	dir := t.TempDir()
	document := `\documentclass{article}\usepackage[T1]{fontenc}\usepackage{natbib}` + packages +
		`\begin{document}\nocite{*}\bibliographystyle{plainnat}\bibliography{list}\end{document}`
	for name, text := range map[string]string{"list.bib": string(bib), "paper.tex": document,
		"secret.tex": "SECRET"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	const pdflatex = "pdflatex -interaction=nonstopmode -halt-on-error -recorder -no-shell-escape paper"
	call(t, dir, pdflatex)
	out := call(t, dir, "bibtex -terse paper")
	require.NotContains(t, out, "error")
	call(t, dir, pdflatex)
	read, err := os.ReadFile(filepath.Join(dir, "paper.fls"))
	require.NoError(t, err)
	require.Contains(t, string(read), "paper.bbl")
	require.NotContains(t, string(read), "secret")
	require.FileExists(t, filepath.Join(dir, "paper.pdf"))
}

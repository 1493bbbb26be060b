// Package citetest reads what package cite writes, for tests. It reads strictly: what it does not expect is an error.
// It shares no tables with cite: a mistake in a table would otherwise agree with itself.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package citetest

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Entry is an entry of BibTeX: values are still TeX, without the braces around them. Names of
// fields are as written. A field that occurs twice has its last value.
type Entry struct {
	Kind, Key string
	Fields    map[string]string
}

// ReadBibTeX reads one entry in the form that cite.AppendBibTeX writes. It knows only the layout of
// that writer: one field a line, two spaces before it, a comma after it.
//
//	@article{key,
//	title = {A {DNA} study},
//	}
//
// gives the kind "article", the key "key" and the field "title" with the value "A {DNA} study".
func ReadBibTeX(src string) (Entry, error) {
	e := Entry{Fields: make(map[string]string)}
	// The head is "@kind{key", up to the first comma.
	head, rest, ok := strings.Cut(src, ",\n")
	kind, key, ok2 := strings.Cut(head, "{")
	if !ok || !ok2 || !strings.HasPrefix(kind, "@") {
		return e, errors.New("no head")
	}
	e.Kind, e.Key = kind[1:], key
	for rest != "}\n" {
		name, value, ok := strings.Cut(rest, " = ")
		if !ok || !strings.HasPrefix(name, "  ") {
			return e, fmt.Errorf("no field at %q", rest)
		}
		// A value is in braces, or a bare word such as the name of a month.
		end := strings.Index(value, ",")
		if value[0] == '{' {
			if end = closing(value); end < 0 {
				return e, fmt.Errorf("unbalanced: %q", value)
			}
			e.Fields[name[2:]] = value[1 : end-1]
		} else {
			e.Fields[name[2:]] = value[:end]
		}
		if rest, ok = strings.CutPrefix(value[end:], ",\n"); !ok {
			return e, fmt.Errorf("no end of field at %q", value[end:])
		}
	}
	return e, nil
}

// closing returns the offset behind the brace that closes the first one of s, -1 if it is missing.
// It counts escaped braces, as BibTeX does. An escaped brace counts because BibTeX splits entries
// before TeX reads them.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// ReadNames splits a list of names and returns each as family name, suffix and given name. A name
// without a comma, such as that of an organisation, has a family name only.
func ReadNames(s string) (names [][3]string) {
	for _, name := range splitOutside(s, " and ") {
		parts := splitOutside(name, ", ")
		if len(parts) < 3 {
			parts = append([]string{parts[0], ""}, parts[1:]...)
		}
		parts = append(parts, "")
		names = append(names, [3]string{Text(parts[0]), Text(parts[1]), Text(parts[2])})
	}
	return names
}

// splitOutside splits a text at a separator outside of braces. Text in braces is never split, which
// is how the writer protects commas and "and".
func splitOutside(s, separator string) (parts []string) {
	start, depth := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], separator):
			parts = append(parts, s[start:i])
			start = i + len(separator)
			i = start - 1
		}
	}
	return append(parts, s[start:])
}

// commands are LaTeX commands and the texts they stand for. Commands for fonts print nothing
// themselves.
var commands = func() map[string]string {
	table := map[string]string{
		"textbackslash": `\`, "textasciicircum": "^", "textasciitilde": "~", "textbraceleft": "{",
		"textbraceright": "}",
		"textless":       "<", "textgreater": ">", "textbar": "|", "textit": "", "textbf": "",
		"textsubscript": "", "textsuperscript": "",
	}
	words := strings.Fields(symbols)
	for i := 0; i < len(words); i += 2 {
		table[words[i]] = words[i+1]
	}
	return table
}()

// symbols are commands and the characters they stand for. They are written down a second time on
// purpose, see the package's comment.
const symbols = `ss ß ae æ AE Æ oe œ OE Œ o ø O Ø l ł L Ł dj đ DJ Đ dh ð DH Ð th þ TH Þ i ı ng ŋ NG Ŋ textendash –
textemdash — textquoteleft ‘ textquoteright ’ textquotedblleft “ textquotedblright ” quotesinglbase ‚
quotedblbase „ guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › textellipsis …
textexclamdown ¡ textquestiondown ¿ textsection § textparagraph ¶ textdagger † textdaggerdbl ‡
textbullet • textperiodcentered · textcopyright © textregistered ® texttrademark ™ textsterling £
texteuro € textdegree ° textpm ± texttimes × textdiv ÷ leq ≤ geq ≥ neq ≠ approx ≈ infty ∞ textrightarrow →
textleftarrow ← leftrightarrow ↔ in ∈ surd √ sum ∑ partial ∂ textmu µ alpha α beta β gamma γ delta δ
epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ
phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω`

// accents are the combining characters of the accents of LaTeX. Their commands take one argument in
// braces: \'{e}.
var accents = map[string]string{
	"`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", `"`: "\u0308", "r": "\u030a", "v": "\u030c",
	"c": "\u0327", "k": "\u0328",
	".": "\u0307", "=": "\u0304", "u": "\u0306", "H": "\u030b", "d": "\u0323", "b": "\u0331",
}

// Text returns the text that TeX would print. It returns "unknown command" or "ligature" inside of
// the text for what TeX would print differently from what was meant, so that a comparison fails and
// shows where.
func Text(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		i++
		switch c {
		case '{', '}':
		case '$':
			if strings.HasPrefix(s[i:], "-$") {
				out.WriteString("−")
				i += 2
			}
		case '~':
			out.WriteString("\u00a0")
		case '\\':
			// A command is one character, or all letters up to the next other character.
			n := 1
			for isLetter(s[i]) && i+n < len(s) && isLetter(s[i+n]) {
				n++
			}
			name := s[i : i+n]
			i += n
			if mark, ok := accents[name]; ok && i < len(s) && s[i] == '{' {
				end := i + closing(s[i:])
				out.WriteString(norm.NFC.String(Text(s[i:end]) + mark))
				i = end
			} else if text, ok := commands[name]; ok {
				out.WriteString(text)
			} else if strings.Contains("$&#%_", name) {
				out.WriteString(name)
			} else {
				out.WriteString("unknown command \\" + name)
			}
		default:
			// The writer must have put {} between characters that TeX would join.
			twice := i < len(s) && s[i] == c && strings.IndexByte("-'`,", c) >= 0
			if twice || i < len(s) && s[i] == '`' && (c == '?' || c == '!') {
				out.WriteString("ligature")
			}
			out.WriteByte(c)
		}
	}
	return out.String()
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

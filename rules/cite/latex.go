package cite

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// appendLaTeX appends a character beyond ASCII by the command that LaTeX has for it, or as
// it is if there is none that needs no package.
func appendLaTeX(dst []byte, r rune) []byte {
	if command, ok := latexSymbols[r]; ok {
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
		accent, ok := latexAccents[mark]
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

// latexAccents are the commands for combining characters.
var latexAccents = map[rune]string{
	'\u0300': "`", '\u0301': "'", '\u0302': "^", '\u0303': "~", '\u0304': "=", '\u0306': "u", '\u0307': ".", '\u0308': `"`,
	'\u030a': "r", '\u030b': "H", '\u030c': "v", '\u0323': "d", '\u0327': "c", '\u0328': "k", '\u0331': "b",
}

// latexSymbols are the commands for characters that are no accented letters.
var latexSymbols = map[rune]string{
	'ß': `{\ss}`, 'æ': `{\ae}`, 'Æ': `{\AE}`, 'œ': `{\oe}`, 'Œ': `{\OE}`, 'ø': `{\o}`, 'Ø': `{\O}`, 'ł': `{\l}`, 'Ł': `{\L}`,
	'đ': `{\dj}`, 'Đ': `{\DJ}`, 'ð': `{\dh}`, 'Ð': `{\DH}`, 'þ': `{\th}`, 'Þ': `{\TH}`, 'ı': `{\i}`,
	'ŋ': `{\ng}`, 'Ŋ': `{\NG}`,
	'\u00a0': "~", '–': `\textendash{}`, '—': `\textemdash{}`, '‘': `\textquoteleft{}`, '’': `\textquoteright{}`, '“': `\textquotedblleft{}`, '”': `\textquotedblright{}`, '‚': `\quotesinglbase{}`, '„': `\quotedblbase{}`,
	'«': `\guillemotleft{}`, '»': `\guillemotright{}`, '‹': `\guilsinglleft{}`, '›': `\guilsinglright{}`, '…': `\textellipsis{}`,
	'¡': `\textexclamdown{}`, '¿': `\textquestiondown{}`, '§': `\textsection{}`, '¶': `\textparagraph{}`, '†': `\textdagger{}`, '‡': `\textdaggerdbl{}`, '•': `\textbullet{}`, '·': `\textperiodcentered{}`,
	'©': `\textcopyright{}`, '®': `\textregistered{}`, '™': `\texttrademark{}`, '£': `\textsterling{}`, '€': `\texteuro{}`,
	'°': `\textdegree{}`, '±': `\textpm{}`, '×': `\texttimes{}`, '÷': `\textdiv{}`, '−': `$-$`, '≤': `$\leq$`, '≥': `$\geq$`, '≠': `$\neq$`,
	'≈': `$\approx$`, '∞': `$\infty$`, '→': `\textrightarrow{}`, '←': `\textleftarrow{}`, '↔': `$\leftrightarrow$`, '∈': `$\in$`,
	'√': `$\surd$`, '∑': `$\sum$`, '∂': `$\partial$`, 'µ': `\textmu{}`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\epsilon$`, 'ζ': `$\zeta$`, 'η': `$\eta$`, 'θ': `$\theta$`,
	'ι': `$\iota$`, 'κ': `$\kappa$`, 'λ': `$\lambda$`, 'μ': `$\mu$`, 'ν': `$\nu$`, 'ξ': `$\xi$`, 'π': `$\pi$`, 'ρ': `$\rho$`,
	'σ': `$\sigma$`, 'τ': `$\tau$`, 'υ': `$\upsilon$`, 'φ': `$\phi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`, 'ω': `$\omega$`,
	'Γ': `$\Gamma$`, 'Δ': `$\Delta$`, 'Θ': `$\Theta$`, 'Λ': `$\Lambda$`, 'Ξ': `$\Xi$`, 'Π': `$\Pi$`, 'Σ': `$\Sigma$`, 'Φ': `$\Phi$`,
	'Ψ': `$\Psi$`, 'Ω': `$\Omega$`,
}

package csl

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number renders a cs:number.
func (c *run) number(o *op) (*box, status) {
	if o.name == "citation-number" {
		return c.variable(o)
	}
	text := c.it.texts[o.name]
	if text == "" || c.used[o.name] {
		return nil, status{called: true}
	}
	c.use(o.name)
	c.started = true
	c.size += len(text)
	if o.name == "page" {
		text = c.locale.pages(text, c.style.options.pageRange)
	} else if isNumeric(text) {
		text = c.locale.numbers(text, o.name, o.form)
	} else {
		text = dashed(text, c.locale.dash())
	}
	return c.decorate(o, rich(&c.marks, dataLeaf, text)), status{called: true, filled: true}
}

// isNumeric reports whether a text is a number, with letters around it or not ("2nd", "D2"), or a list or range of
// numbers.
func isNumeric(s string) bool {
	if s = strings.TrimSpace(s); s == "" {
		return false
	}
	for token := range numberTokens(s) {
		if !isNumber(token) {
			return false
		}
	}
	return true
}

// isNumber reports whether a text is digits with letters around them, or several numbers with slashes ("2020/17").
func isNumber(s string) bool {
	digits, letters, slashes := 0, 0, 0
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
		case r == '/' && i > 0 && i < len(s)-1:
			slashes++
		default:
			return false
		}
	}
	return digits > 0 && (slashes == 0 || letters == 0)
}

// numberTokens yields the parts of a list of numbers and the separator before each.
func numberTokens(s string) func(yield func(token, separator string) bool) {
	return func(yield func(token, separator string) bool) {
		separator := ""
		for {
			i := strings.IndexAny(s, ",&-–;")
			if i < 0 {
				yield(strings.TrimSpace(s), separator)
				return
			}
			_, size := utf8.DecodeRuneInString(s[i:])
			if !yield(strings.TrimSpace(s[:i]), separator) {
				return
			}
			separator, s = s[i:i+size], s[i+size:]
		}
	}
}

// numbers renders a list or range of numbers in a form.
func (l *Locale) numbers(s, variable, form string) string {
	var all strings.Builder
	for token, separator := range numberTokens(s) {
		switch separator {
		case "":
		case ",", ";":
			all.WriteString(separator + " ")
		case "&":
			all.WriteString(" & ")
		default:
			all.WriteString(l.dash())
		}
		if n, err := strconv.Atoi(token); err == nil {
			token = l.inForm(n, token, variable, form)
		}
		all.WriteString(token)
	}
	return all.String()
}

// inForm renders a number in a form. The gender of ordinals is that of the variable's term.
func (l *Locale) inForm(n int, text, variable, form string) string {
	gender := ""
	if t, ok := l.term(termOf(variable), "long"); ok {
		gender = t.gender
	}
	switch form {
	case "ordinal":
		return l.ordinal(n, gender)
	case "long-ordinal":
		return l.longOrdinal(n, gender)
	case "roman":
		return roman(n, text)
	}
	return text
}

// longOrdinal returns a number up to ten as a word ("first"; section Long Ordinals), and others as ordinals.
func (l *Locale) longOrdinal(n int, gender string) string {
	if n >= 1 && n <= 10 {
		name := fmt.Sprintf("long-ordinal-%02d", n)
		for _, g := range [...]string{gender, ""} {
			if t, ok := l.terms[termKey{name, "long", g}]; ok {
				return t.single
			}
		}
	}
	return l.ordinal(n, gender)
}

// ordinal returns a number with its suffix ("2nd"; section Ordinal Suffixes). Suffixes for two digits go before
// those for one.
func (l *Locale) ordinal(n int, gender string) string {
	text := strconv.Itoa(n)
	if n < 0 {
		return text
	}
	for _, g := range [...]string{gender, ""} {
		for _, digits := range [...]int{n % 100, n % 10} {
			t, ok := l.terms[termKey{fmt.Sprintf("ordinal-%02d", digits), "long", g}]
			if ok && t.matches(n, digits) {
				return text + t.single
			}
		}
		if t, ok := l.terms[termKey{"ordinal", "long", g}]; ok {
			return text + t.single
		}
	}
	return text
}

// matches reports whether an ordinal suffix for digits is the one for n.
func (t term) matches(n, digits int) bool {
	switch t.match {
	case "whole-number":
		return n == digits
	case "last-two-digits":
		return n%100 == digits
	case "last-digit":
		return n%10 == digits%10
	}
	return n%100 == digits && digits >= 10 || digits < 10 && n%10 == digits
}

// roman returns a number up to 3999 in Roman numerals, and text for others.
func roman(n int, text string) string {
	if n <= 0 || n >= 4000 {
		return text
	}
	s := ""
	for i, value := range [...]int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; n >= value; n -= value {
			s += [...]string{"m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"}[i]
		}
	}
	return s
}

// dashed returns a number with a dash in its ranges. A hyphen after a backslash is part of the number.
func dashed(s, dash string) string {
	if !strings.ContainsAny(s, "-–") {
		return s
	}
	all := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '-':
			i++
			all = append(all, '-')
		case s[i] == '-' && isRange(pageBefore(s[:i]), pageAfter(s[i+1:])):
			all = append(bytes.TrimRight(all, " "), dash...)
			for i+1 < len(s) && s[i+1] == ' ' {
				i++
			}
		default:
			all = append(all, s[i])
		}
	}
	return strings.ReplaceAll(string(all), "–", dash)
}

// pageBefore returns the last word before a hyphen.
func pageBefore(s string) string {
	s = strings.TrimRight(s, " ")
	return s[strings.LastIndexAny(s, " ,;&-")+1:]
}

// pageAfter returns the first word after a hyphen.
func pageAfter(s string) string {
	s = strings.TrimLeft(s, " ")
	if i := strings.IndexAny(s, " ,;&-"); i >= 0 {
		s = s[:i]
	}
	return s
}

// isRange reports whether two numbers are the ends of a range: they have the same prefix, or one of them has no
// digits. Numbers with different prefixes may be parts of a single number ("n11564-1568").
func isRange(first, last string) bool {
	if !isPage(first) || !isPage(last) {
		return false
	}
	prefix, from := splitPage(first)
	other, to := splitPage(last)
	return prefix == other || from == "" || to == ""
}

// isPage reports whether a word is a number with letters around it, or a Roman numeral.
func isPage(s string) bool {
	return isNumber(s) || s != "" && strings.Trim(s, "ivxlcdm") == "" || s != "" && strings.Trim(s, "IVXLCDM") == ""
}

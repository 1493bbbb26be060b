package query

import (
	"errors"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/rules"
	"vitrine/rules/label"
)

// pair is one name=value of a query string, decoded: filter[year]=2020 has the
// name filter and the brackets [year].
type pair struct{ name, brackets, value string }

// Params is a query string in the order it was written. It records which parts of it
// are read, see usage.
type Params struct {
	pairs []pair
	*usage
}

// Read copies the names and values of a query string.
func Read(args iter.Seq2[[]byte, []byte]) Params {
	pairs := make([]pair, 0, 8)
	for name, value := range args {
		p := pair{name: string(name), value: string(value)}
		if i := strings.IndexByte(p.name, '['); i >= 0 {
			p.name, p.brackets = p.name[:i], p.name[i:]
		}
		pairs = append(pairs, p)
	}
	return Params{pairs, &usage{}}
}

// of yields what was given for a parameter, with or without brackets.
func (p Params) of(name string) iter.Seq[pair] {
	p.lookFor(name)
	return func(yield func(pair) bool) {
		for _, pair := range p.pairs {
			if pair.name == name && !yield(pair) {
				return
			}
		}
	}
}

// Has reports whether a parameter was given, in whatever form.
func (p Params) Has(name string) bool {
	for range p.of(name) {
		return true
	}
	return false
}

// Text returns a parameter that has one value, "" when it was not given. Of
// several the last counts, as it does in PHP, where the API grew up.
func (p Params) Text(name string) (string, error) {
	var value string
	for pair := range p.of(name) {
		if pair.brackets != "" {
			return "", rules.Wrongf(name, "", "takes one value, not a list")
		}
		value = pair.value
	}
	return value, CheckUTF8(name, value)
}

// CheckUTF8 refuses a value of a parameter that is not valid UTF-8.
func CheckUTF8(name, value string) error {
	if !utf8.ValidString(value) {
		return rules.Wrongf(name, "", "is not valid UTF-8")
	}
	return nil
}

// Flag returns a boolean parameter: off when absent, on when given without a
// value (DESIGN.md: 6).
func (p Params) Flag(name string) (bool, error) {
	if !p.Has(name) {
		return false, nil
	}
	value, err := p.Text(name)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	default:
		return false, rules.Wrongf(name, "", "want 1 or 0, got %s", Quoted(value))
	}
}

// Integer returns an integer parameter, 0 when it is absent or empty.
func (p Params) Integer(name string) (int, error) {
	value, err := p.Text(name)
	if err != nil {
		return 0, err
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(value)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, rules.Wrongf(name, "", "%s is out of range", Quoted(value))
	case err != nil:
		return 0, rules.Wrongf(name, "", "want an integer, got %s", Quoted(value))
	}
	return n, nil
}

// Values returns a parameter with several values, as they are: name[]=a&name[]=b,
// name[0]=a, or name=a,b (DESIGN.md: 16).
func (p Params) Values(name string) ([]string, error) {
	var values []string
	for pair := range p.of(name) {
		if pair.brackets == "" {
			values = append(values, strings.Split(pair.value, ",")...)
			continue
		}
		if !isIndex(pair.brackets) {
			return nil, rules.Wrongf(name, Printable(pair.brackets), "want %s[]=value", name)
		}
		values = append(values, pair.value)
	}
	return values, nil
}

// isIndex reports whether brackets are "[]" or such as "[12]".
func isIndex(brackets string) bool {
	inside := strings.TrimSuffix(strings.TrimPrefix(brackets, "["), "]")
	return len(inside) == len(brackets)-2 && strings.Trim(inside, "0123456789") == ""
}

// list returns the values of a parameter trimmed, without the empty ones.
func (p Params) list(name string) ([]string, error) {
	values, err := p.Values(name)
	if err != nil {
		return nil, err
	}
	list := values[:0]
	for _, value := range values {
		if err := CheckUTF8(name, value); err != nil {
			return nil, err
		}
		if value = strings.TrimSpace(value); value != "" {
			list = append(list, value)
		}
	}
	return list, nil
}

// langParam names the language that an answer is to be in.
const langParam = "lang"

// CheckLanguage refuses a lang that no label has, also where an answer has no labels:
// every endpoint accepts the same languages.
func (p Params) CheckLanguage() error {
	lang, err := Params{p.pairs, &usage{}}.Text(langParam)
	if err != nil || lang == "" || label.Known(lang) {
		return err
	}
	return rules.Wrongf(langParam, "", "want one of %s, got %s", strings.Join(label.Languages(), ", "), Quoted(lang))
}

// Language returns lang, "" when it was not given. CheckLanguage has checked it.
func (p Params) Language() string {
	lang, _ := p.Text(langParam)
	return lang
}

// Quoted is a client's text in a message, shortened.
func Quoted(s string) string { return strconv.Quote(Printable(s)) }

// Printable shortens a client's text and makes it valid UTF-8.
func Printable(s string) string {
	const most = 60
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

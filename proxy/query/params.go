package query

import (
	"errors"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/label"
)

// pair is one decoded name=value of a query string: filter[year]=2020 has the name filter and the brackets [year].
type pair struct{ name, brackets, value string }

// Params is a query string, in its order. A method that cannot read its parameter returns the zero value and
// records the error, which a handler checks once. Params also records which parts are read; see usage. It belongs
// to one request. A copy shares the record of what was read.
type Params struct {
	pairs  []pair
	hidden *access.Fields // fields that no parameter may name
	*usage
}

// Read copies the names and values of a query string. It copies because Fiber reuses the memory of a request, and
// plans keep names.
func Read(args iter.Seq2[[]byte, []byte]) Params {
	pairs := make([]pair, 0, 8)
	for name, value := range args {
		p := pair{name: string(name), value: string(value)}
		if i := strings.IndexByte(p.name, '['); i >= 0 {
			p.name, p.brackets = p.name[:i], p.name[i:]
		}
		pairs = append(pairs, p)
	}
	return Params{pairs, nil, &usage{}}
}

// Hiding returns the parameters for a caller who may not see some fields. A parameter that names such a field is then
// an error.
func (p Params) Hiding(hidden *access.Fields) Params {
	p.hidden = hidden
	return p
}

// of yields the pairs of a parameter, with or without brackets.
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

// Has reports whether a parameter is present in any form. It counts as reading the parameter.
func (p Params) Has(name string) bool {
	for range p.of(name) {
		return true
	}
	return false
}

// Text returns a parameter with one value, or "". If there are several values, the last counts, as in PHP, from which
// the API comes.
func (p Params) Text(name string) string {
	var value string
	for pair := range p.of(name) {
		if pair.brackets != "" {
			p.refuse(name, "", "takes one value, not a list")
			return ""
		}
		value = pair.value
	}
	return p.UTF8(name, value)
}

// UTF8 returns a value of a parameter. If it is not valid UTF-8, it records an error and returns "".
func (p Params) UTF8(name, value string) string {
	if !utf8.ValidString(value) {
		p.refuse(name, "", "is not valid UTF-8")
		return ""
	}
	return value
}

// Flag returns a boolean parameter. It is false if absent, and true if given without a value. For example, full,
// full=1 and full=true are all true.
func (p Params) Flag(name string) bool {
	value := p.Text(name)
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "":
		return p.Has(name)
	case "1", "true", "yes", "on":
		return true
	case "0", "false", "no", "off":
	default:
		p.refuse(name, "", "want 1 or 0, got %s", Quote(value))
	}
	return false
}

// Integer returns an integer parameter, or 0 if it is absent or empty.
func (p Params) Integer(name string) int {
	value := strings.TrimSpace(p.Text(name))
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.refuse(name, "", "%s is out of range", Quote(value))
		return 0
	case err != nil:
		p.refuse(name, "", "want an integer, got %s", Quote(value))
	}
	return n
}

// Values returns the values of a parameter, unchanged: name[]=a&name[]=b, name[0]=a, or name=a,b. For example,
// type=a,b and type[]=a&type[]=b are both a and b; with brackets a comma belongs to the value.
func (p Params) Values(name string) []string {
	var values []string
	for pair := range p.of(name) {
		switch {
		case pair.brackets == "":
			values = append(values, strings.Split(pair.value, ",")...)
		case isIndex(pair.brackets):
			values = append(values, pair.value)
		default:
			p.refuse(name, Printable(pair.brackets), "want %s[]=value", name)
		}
	}
	return values
}

// isIndex reports whether brackets have the form "[]" or "[12]".
func isIndex(brackets string) bool {
	inside := strings.TrimSuffix(strings.TrimPrefix(brackets, "["), "]")
	return len(inside) == len(brackets)-2 && strings.Trim(inside, "0123456789") == ""
}

// langParam is the parameter with the language of an answer.
const langParam = "lang"

// CheckLanguage refuses a lang without labels, even if the answer has none, so that all endpoints accept the same.
func (p Params) CheckLanguage() {
	unrecorded := Params{p.pairs, nil, &usage{}} // not recorded as read: an answer without labels ignores lang
	lang := unrecorded.Text(langParam)
	p.Fail(unrecorded.err)
	if lang != "" && !label.Known(lang) {
		p.refuse(langParam, "", "want one of %s, got %s", strings.Join(label.Languages(), ", "), Quote(lang))
	}
}

// Language returns lang, or "". CheckLanguage has checked it.
func (p Params) Language() string { return p.Text(langParam) }

// Page is the shared pagination.
type Page struct {
	Limit  int // 0 if the answer is not paginated
	Offset int
}

// Page reads limit and offset. A limit of 0 or less means no pagination; a negative offset counts as 0.
func (p Params) Page() Page {
	limit, offset := p.Natural("limit"), p.Natural("offset")
	if limit == 0 {
		return Page{}
	}
	return Page{Limit: limit, Offset: offset}
}

// Natural returns an integer parameter. A negative value becomes 0 and is reported as ignored.
func (p Params) Natural(name string) int {
	n := p.Integer(name)
	if n < 0 {
		p.unknown = append(p.unknown, name+"="+strconv.Itoa(n)+" (is negative)")
	}
	return max(n, 0)
}

// Cut returns the half-open range of n rows on the page. Limit plus offset may exceed an int.
func (g Page) Cut(n int) (from, to int) {
	from = min(g.Offset, n)
	to = n
	if g.Limit > 0 && g.Limit < n-from {
		to = from + g.Limit
	}
	return from, to
}

// Quote returns a client's text, shortened and quoted for a message.
func Quote(s string) string { return strconv.Quote(Printable(s)) }

// Printable shortens a client's text and makes it valid UTF-8.
func Printable(s string) string {
	// Enough to recognise a mistake, and too little to fill the log or a header.
	const most = 60
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…" // the cut may split a character
}

// refuse records an error for a parameter, at a place in it.
func (p Params) refuse(param, where, format string, args ...any) {
	p.Fail(rules.Wrongf(param, where, format, args...))
}

// Complete returns the mistakes in the parameters, for callers that accept no others: a parameter that was not read
// is a mistake, too.
func (p Params) Complete() error {
	if unread := p.Ignored(); unread != "" {
		p.Fail(rules.Wrongf("", "", "unknown parameters: %s", unread))
	}
	return p.Err()
}

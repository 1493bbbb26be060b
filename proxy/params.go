package proxy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"vitrine/rules"
)

// pair is one name=value of a query string, decoded.
type pair struct{ name, value string }

// params is a query string in the order it was written. It takes down what is read of
// it, see ignored.
type params struct {
	pairs []pair
	*reading
}

// readParams copies a query out of Fiber's buffers.
func readParams(args *fasthttp.Args) params {
	p := params{make([]pair, 0, args.Len()), &reading{}}
	for name, value := range args.All() {
		p.pairs = append(p.pairs, pair{string(name), string(value)})
	}
	return p
}

// has reports whether a parameter was given, in whatever form.
func (p params) has(name string) bool {
	p.note(name)
	return slices.ContainsFunc(p.pairs, func(pair pair) bool { return pair.name == name || bracketed(pair.name, name) })
}

// bracketed reports whether full is name followed by an opening bracket.
func bracketed(full, name string) bool {
	return len(full) > len(name) && full[len(name)] == '[' && full[:len(name)] == name
}

// text returns a parameter that has one value, "" when it was not given. Of
// several the last counts, as it does in PHP, where the API grew up.
func (p params) text(name string) (string, error) {
	p.note(name)
	var value string
	for _, pair := range p.pairs {
		switch {
		case pair.name == name:
			value = pair.value
		case bracketed(pair.name, name):
			return "", rules.Wrongf(name, "", "takes one value, not a list")
		}
	}
	return value, checkUTF8(name, value)
}

func checkUTF8(name, value string) error {
	if !utf8.ValidString(value) {
		return rules.Wrongf(name, "", "is not valid UTF-8")
	}
	return nil
}

// flag returns a boolean parameter: off when absent, on when given without a
// value (DESIGN.md: 6).
func (p params) flag(name string) (bool, error) {
	if !p.has(name) {
		return false, nil
	}
	value, err := p.text(name)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	default:
		return false, rules.Wrongf(name, "", "want 1 or 0, got %s", quoted(value))
	}
}

// integer returns an integer parameter, 0 when it is absent or empty.
func (p params) integer(name string) (int, error) {
	value, err := p.text(name)
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
		return 0, rules.Wrongf(name, "", "%s is out of range", quoted(value))
	case err != nil:
		return 0, rules.Wrongf(name, "", "want an integer, got %s", quoted(value))
	}
	return n, nil
}

// list returns a parameter with several values: name[]=a&name[]=b,
// name[0]=a, or name=a,b (DESIGN.md: 16). Values are trimmed, empty ones left out.
func (p params) list(name string) ([]string, error) {
	var values []string
	add := func(value string) error {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
		return checkUTF8(name, value)
	}
	p.note(name)
	for _, pair := range p.pairs {
		var parts []string
		switch {
		case pair.name == name:
			parts = strings.Split(pair.value, ",")
		case bracketed(pair.name, name):
			if err := checkIndex(name, pair.name[len(name):]); err != nil {
				return nil, err
			}
			parts = []string{pair.value}
		}
		for _, part := range parts {
			if err := add(part); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// checkIndex accepts "[]" and "[12]".
func checkIndex(name, brackets string) error {
	inside := strings.TrimSuffix(strings.TrimPrefix(brackets, "["), "]")
	if len(inside) != len(brackets)-2 || strings.Trim(inside, "0123456789") != "" {
		return rules.Wrongf(name, printable(brackets), "want %s[]=value", name)
	}
	return nil
}

// page is the shared pagination (API.md: Shared pagination).
type page struct {
	limit  int // 0: not paginated
	offset int
}

// page reads limit and offset. A limit of 0 or less does not paginate, a
// negative offset is 0 (DESIGN.md: 2).
func (p params) page() (page, error) {
	limit, err := p.integer("limit")
	if err != nil {
		return page{}, err
	}
	offset, err := p.integer("offset")
	if err != nil {
		return page{}, err
	}
	if limit <= 0 {
		return page{}, nil
	}
	return page{limit: limit, offset: max(offset, 0)}, nil
}

// cut returns the half-open range of n rows that the page shows. No sum of
// limit and offset is ever formed: both may be as large as an int gets.
func (g page) cut(n int) (from, to int) {
	from = min(g.offset, n)
	to = n
	if g.limit > 0 && g.limit < n-from {
		to = from + g.limit
	}
	return from, to
}

// quoted shows a client's text in a message, shortened.
func quoted(s string) string { return strconv.Quote(printable(s)) }

// printable shortens a client's text and makes it valid UTF-8.
func printable(s string) string {
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

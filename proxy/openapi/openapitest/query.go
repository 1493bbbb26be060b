package openapitest

import (
	"net/url"
	"strings"
)

// query is a query string as the API reads it: names as they are, brackets and
// all, and what cannot be unescaped taken as it stands.
type query []parameter

type parameter struct{ name, value string }

func readQuery(text string) query {
	var q query
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		q = append(q, parameter{plain(name), plain(value)})
	}
	return q
}

func plain(text string) string {
	if unescaped, err := url.QueryUnescape(text); err == nil {
		return unescaped
	}
	return text
}

// of returns the values of a parameter: name=a, name[]=a, name[0]=a.
func (q query) of(name string) []string {
	var all []string
	for _, p := range q {
		if p.name == name || strings.HasPrefix(p.name, name+"[") {
			all = append(all, p.value)
		}
	}
	return all
}

// without leaves a parameter out.
func (q query) without(name string) query {
	var rest query
	for _, p := range q {
		if p.name != name && !strings.HasPrefix(p.name, name+"[") {
			rest = append(rest, p)
		}
	}
	return rest
}

// meets reports whether every parameter is in the state that x-when asks for.
func (q query) meets(when object) bool {
	for name, state := range when {
		if !q.is(name, state) {
			return false
		}
	}
	return true
}

func (q query) is(name string, state any) bool {
	values := q.of(name)
	switch state {
	case "present":
		return len(values) > 0
	case "filled":
		return filled(values)
	case "empty":
		return !filled(values)
	case "on":
		return len(values) > 0 && !off(values[len(values)-1])
	}
	return false
}

func filled(values []string) bool {
	for _, v := range values {
		if strings.Trim(v, ", \t\n") != "" {
			return true
		}
	}
	return false
}

func off(flag string) bool {
	switch strings.ToLower(strings.TrimSpace(flag)) {
	case "0", "false", "no", "off":
		return true
	}
	return false
}

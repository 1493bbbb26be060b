package openapitest

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// query is a query string as the API reads it: values by the name in front of brackets
// (name=a, name[]=a, name[0]=a), and what cannot be unescaped as it stands.
type query map[string][]string

// readQuery reads the text behind the question mark.
func readQuery(text string) query {
	q := query{}
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, _, _ = strings.Cut(plain(name), "[")
		q[name] = append(q[name], plain(value))
	}
	return q
}

// plain returns a text without escapes, or as it stands if an escape is malformed.
func plain(text string) string {
	if unescaped, err := url.QueryUnescape(text); err == nil {
		return unescaped
	}
	return text
}

// without leaves a parameter out.
func (q query) without(name string) query {
	rest := maps.Clone(q)
	delete(rest, name)
	return rest
}

// meets reports whether every parameter is in the state that x-when asks for.
func (q query) meets(when any) bool {
	states, _ := when.(map[string]any)
	for name, state := range states {
		values := q[name]
		filled := slices.ContainsFunc(values, func(v string) bool { return strings.Trim(v, ", \t\n") != "" })
		met := false
		switch state {
		case "present":
			met = len(values) > 0
		case "filled":
			met = filled
		case "empty":
			met = !filled
		case "on":
			met = len(values) > 0 && !off(values[len(values)-1])
		}
		if !met {
			return false
		}
	}
	return true
}

// off reports whether the value of a flag switches it off.
func off(flag string) bool {
	switch strings.ToLower(strings.TrimSpace(flag)) {
	case "0", "false", "no", "off":
		return true
	}
	return false
}

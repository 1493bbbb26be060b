package csl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// parse moves particles and suffixes from the family and given name to their own members, unless these are set:
// most data has "van der Berg" as a family name and "Ludwig van" as a given name (section Name Particles).
func (n *Name) parse() {
	if quoted, ok := strings.CutPrefix(n.Family, `"`); ok && strings.HasSuffix(quoted, `"`) {
		n.Family = strings.TrimSuffix(quoted, `"`)
		return
	}
	if n.Literal != "" || n.Given == "" || n.Parse != nil && !bool(*n.Parse) {
		return
	}
	if n.Suffix == "" {
		if given, suffix, ok := strings.Cut(n.Given, ","); ok {
			rest, comma := strings.CutPrefix(suffix, "!")
			n.CommaSuffix = n.CommaSuffix || flag(comma)
			n.Given, n.Suffix = strings.TrimSpace(given), strings.TrimSpace(rest)
		}
	}
	if n.NonDropping == "" {
		n.NonDropping, n.Family = leading(n.Family)
	}
	if n.Dropping == "" {
		n.Given, n.Dropping = trailing(n.Given)
	}
}

// leading splits the leading words in lower case from a family name: the non-dropping particle.
func leading(s string) (particle, rest string) {
	end := 0
	for {
		i := strings.IndexAny(s[end:], " '’-ʻ")
		if i < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(s[end+i:])
		next := end + i + size
		if !lower(s[end:]) || next >= len(s) {
			break
		}
		for next < len(s) && s[next] == ' ' {
			next++
		}
		end = next
	}
	return strings.TrimSpace(s[:end]), s[end:]
}

// trailing splits the trailing words in lower case from a given name: the dropping particle.
func trailing(s string) (rest, particle string) {
	start := len(s)
	for {
		i := strings.LastIndexByte(s[:start], ' ')
		if i <= 0 || !lower(s[i+1:]) {
			break
		}
		start = i
	}
	return s[:start], strings.TrimSpace(s[start:])
}

// lower reports whether the first letter of s is in lower case.
func lower(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "-'’ʻ "))
	return unicode.IsLower(r)
}

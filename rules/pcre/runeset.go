package pcre

import (
	"slices"
	"strings"
	"unicode"
)

// runeRange is a closed range of characters.
type runeRange struct{ lo, hi rune }

// runeSet is a set of characters: once normal, its ranges are sorted and apart.
type runeSet []runeRange

// The ASCII classes of PCRE2 without UCP, and its kinds of white space.
var (
	digitSet      = runeSet{{'0', '9'}}
	wordSet       = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaceSet      = runeSet{{'\t', '\r'}, {' ', ' '}}
	horizontalSet = runeSet{{'\t', '\t'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x180e, 0x180e},
		{0x2000, 0x200a}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	verticalSet = runeSet{{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}
	newlineSet  = runeSet{{'\n', '\n'}}
	anySet      = runeSet{{0, unicode.MaxRune}}
)

// normal returns the set with its ranges sorted and joined.
func (s runeSet) normal() runeSet {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b runeRange) int { return int(a.lo - b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// negated returns all other characters.
func (s runeSet) negated() runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s.normal() {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, runeRange{next, unicode.MaxRune})
	}
	return out
}

// folded returns the set with all other cases of its characters.
func (s runeSet) folded() runeSet {
	out := slices.Clone(s)
	for _, r := range s {
		for _, cased := range unicode.CaseRanges {
			for c := max(r.lo, rune(cased.Lo)); c <= min(r.hi, rune(cased.Hi)); c++ {
				for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
					out = append(out, runeRange{f, f})
				}
			}
		}
	}
	return out.normal()
}

// setOf returns the characters of a Unicode table.
func setOf(table *unicode.RangeTable) runeSet {
	var out runeSet
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, runeRange{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			out = append(out, runeRange{c, c})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return out.normal()
}

// property returns the characters of a Unicode property as \p{name} gives it: a
// general category, a script or one of PCRE's own. Case, spaces, hyphens and
// underscores in the name do not count.
func property(name string) (runeSet, bool) {
	if table, ok := unicode.Categories[name]; ok && !strings.HasPrefix(name, "C") {
		return setOf(table), true // the usual case, without a search
	}
	name = looseName(name)
	if set, ok := ownProperty(name); ok {
		return set, true
	}
	script := strings.TrimPrefix(strings.TrimPrefix(name, "script="), "sc:")
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		for known, table := range tables {
			if loose := looseName(known); loose == name || loose == script && len(loose) > 2 {
				return setOf(table), true
			}
		}
	}
	return nil, false
}

func looseName(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(name))
}

// ownProperty returns what the tables do not hold, by its loose name.
func ownProperty(name string) (runeSet, bool) {
	switch name {
	case "any":
		return anySet, true
	case "l&", "lc":
		return union(unicode.Lu, unicode.Ll, unicode.Lt), true
	case "xan":
		return union(unicode.L, unicode.N), true
	case "xwd":
		return append(union(unicode.L, unicode.N), runeRange{'_', '_'}).normal(), true
	case "xsp", "xps":
		return append(append(setOf(unicode.Z), horizontalSet...), verticalSet...).normal(), true
	case "cn":
		return union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C).negated(), true
	case "c":
		return union(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z).negated(), true
	}
	return nil, false
}

func union(tables ...*unicode.RangeTable) runeSet {
	var out runeSet
	for _, t := range tables {
		out = append(out, setOf(t)...)
	}
	return out.normal()
}

// posix returns the characters of a POSIX class such as [:alpha:].
func posix(name string) (runeSet, bool) {
	switch name {
	case "alpha":
		return runeSet{{'A', 'Z'}, {'a', 'z'}}, true
	case "lower":
		return runeSet{{'a', 'z'}}, true
	case "upper":
		return runeSet{{'A', 'Z'}}, true
	case "alnum":
		return runeSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, true
	case "ascii":
		return runeSet{{0, 0x7f}}, true
	case "blank":
		return runeSet{{'\t', '\t'}, {' ', ' '}}, true
	case "cntrl":
		return runeSet{{0, 0x1f}, {0x7f, 0x7f}}, true
	case "digit":
		return digitSet, true
	case "graph":
		return runeSet{{'!', '~'}}, true
	case "print":
		return runeSet{{' ', '~'}}, true
	case "punct":
		return runeSet{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, true
	case "space":
		return spaceSet, true
	case "word":
		return wordSet, true
	case "xdigit":
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, true
	}
	return nil, false
}

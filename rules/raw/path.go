package raw

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/rules"
)

// maxPathParts bounds the length of a path, as MongoDB bounds nesting.
const maxPathParts = 200

// Path is a parsed dotted path such as "authors.0.user". The zero Path has no parts and leads to the value itself.
type Path struct {
	text  string
	parts []part
}

// part is one step of a path.
type part struct {
	name  string
	index int // the name as an array index, or -1
}

// ParsePath splits a dotted path. It refuses paths that no stored field has: with a zero byte, with positional
// operators ("$", "$[]", "$[x]") or with too many parts.
func ParsePath(s string) (Path, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return Path{}, rules.Wrongf("", "", "a field name may not contain a zero byte")
	}
	if strings.Count(s, ".") >= maxPathParts {
		return Path{}, rules.Wrongf("", "", "a path may not have more than %d parts", maxPathParts)
	}
	p := PathOf(s)
	for _, part := range p.parts {
		if part.name == "$" || strings.HasPrefix(part.name, "$[") {
			return Path{}, rules.Wrongf("", "", "the positional operator %q has no meaning in a filter", part.name)
		}
	}
	return p, nil
}

// PathOf splits a valid path.
func PathOf(s string) Path {
	names := strings.Split(s, ".")
	p := Path{text: s, parts: make([]part, len(names))}
	for i, name := range names {
		p.parts[i] = part{name: name, index: arrayIndex(name)}
	}
	return p
}

// arrayIndex returns the index that a name denotes, or -1. Indexes have no sign and no leading zeros.
func arrayIndex(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || len(name) > 9 || strconv.Itoa(n) != name {
		return -1
	}
	return n
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// Parts returns the path's steps.
func (p Path) Parts() []string {
	names := make([]string, len(p.parts))
	for i, part := range p.parts {
		names[i] = part.name
	}
	return names
}

// Equal reports whether two paths are the same.
func (p Path) Equal(q Path) bool { return slices.Equal(p.parts, q.parts) }

// First returns the path's first n parts.
func (p Path) First(n int) Path {
	return Path{text: strings.Join(p.Parts()[:n], "."), parts: p.parts[:n]}
}

// Nowhere is a name that no field has.
const Nowhere = "\x00"

// Absent returns the path's first n parts followed by a field that no document has. Matching treats all paths with
// these n parts and an unknown field alike.
func (p Path) Absent(n int) Path {
	return PathOf(strings.Join(append(p.Parts()[:n], Nowhere), "."))
}

// Len returns the number of the path's parts.
func (p Path) Len() int { return len(p.parts) }

// Name returns part i of the path.
func (p Path) Name(i int) string { return p.parts[i].name }

// Index returns the array index that part i of the path denotes, or -1.
func (p Path) Index(i int) int { return p.parts[i].index }

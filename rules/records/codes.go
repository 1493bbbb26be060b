package records

import (
	"cmp"
	"maps"
	"slices"

	"vitrine/rules/suggest"
)

// Codes are the codes of types and subtypes that mean something. By the zero Codes every code does.
type Codes struct {
	Types    []string            // in the order in which a suggestion is looked for
	Subtypes map[string][]string // by type
	// Works are the kinds of works that citations know, by the codes of subtypes, which count under any type.
	Works map[string]string
}

// check reports whether the codes of a kind are known. If not, unknown is the kind, without its subtype if its type
// is unknown.
func (c Codes) check(of Kind) (unknown Kind, ok bool) {
	switch {
	case len(c.Types) == 0:
		return Kind{}, true
	case !slices.Contains(c.Types, of.Type):
		return Kind{Type: of.Type}, false
	case of.Subtype == "" || slices.Contains(c.Subtypes[of.Type], of.Subtype):
		return Kind{}, true
	}
	_, ok = c.Works[of.Subtype]
	return of, ok
}

// near returns the known codes that an unknown kind probably stands for, as "type" or "type/subtype", or "".
func (c Codes) near(of Kind) string {
	if of.Subtype != "" {
		all := append(slices.Clone(c.Subtypes[of.Type]), slices.Sorted(maps.Keys(c.Works))...)
		if code := suggest.Near(of.Subtype, all); code != "" {
			return Kind{of.Type, code}.String()
		}
		return ""
	}
	if code := suggest.Near(of.Type, c.Types); code != "" {
		return code
	}
	return cmp.Or(c.asSubtype(of.Type), c.asWork(of.Type))
}

// asSubtype returns the type and subtype for a code of a subtype that a record has as its type, or "".
func (c Codes) asSubtype(code string) string {
	for _, t := range c.Types {
		if sub := suggest.Near(code, c.Subtypes[t]); sub != "" {
			return Kind{t, sub}.String()
		}
	}
	return ""
}

// asWork is asSubtype for codes that only citations know: it returns a subtype that means the same kind of work.
func (c Codes) asWork(code string) string {
	code = suggest.Near(code, slices.Sorted(maps.Keys(c.Works)))
	kind := c.Works[code]
	if kind == "" {
		return ""
	}
	for _, t := range c.Types {
		for _, sub := range c.Subtypes[t] {
			if c.Works[sub] == kind {
				return Kind{t, sub}.String()
			}
		}
	}
	return ""
}

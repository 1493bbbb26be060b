package records

import (
	"cmp"
	"maps"
	"slices"

	"vitrine/rules/suggest"
)

// Kind has the codes of a record's type and subtype.
type Kind struct{ Type, Subtype string }

// String returns the codes as pages and files write them: "publication/article".
func (k Kind) String() string {
	if k.Subtype == "" {
		return k.Type
	}
	return k.Type + "/" + k.Subtype
}

// Known has the codes that mean something. The zero Known does not say, and no code is unknown by it.
type Known struct {
	Types    []string            // in the order in which a suggestion is looked for
	Subtypes map[string][]string // by type
	// Works are the kinds of works that citations know, by the codes of subtypes, which count under any type.
	Works map[string]string
}

// unknown returns the kind without its subtype if the type is unknown, the kind if only the subtype is, or ok.
func (k Known) unknown(of Kind) (wrong Kind, ok bool) {
	switch {
	case len(k.Types) == 0:
		return Kind{}, true
	case !slices.Contains(k.Types, of.Type):
		return Kind{Type: of.Type}, false
	case of.Subtype == "" || slices.Contains(k.Subtypes[of.Type], of.Subtype):
		return Kind{}, true
	}
	_, ok = k.Works[of.Subtype]
	return of, ok
}

// near returns the codes that an unknown kind was perhaps meant to be, as "type" or "type/subtype", or "".
func (k Known) near(of Kind) string {
	if of.Subtype != "" {
		all := append(slices.Clone(k.Subtypes[of.Type]), slices.Sorted(maps.Keys(k.Works))...)
		if code := suggest.Near(of.Subtype, all); code != "" {
			return Kind{of.Type, code}.String()
		}
		return ""
	}
	if code := suggest.Near(of.Type, k.Types); code != "" {
		return code
	}
	return cmp.Or(k.asSubtype(of.Type), k.asWork(of.Type))
}

// asSubtype returns the type and subtype that a code names which stands in place of a type.
func (k Known) asSubtype(code string) string {
	for _, t := range k.Types {
		if sub := suggest.Near(code, k.Subtypes[t]); sub != "" {
			return Kind{t, sub}.String()
		}
	}
	return ""
}

// asWork is asSubtype for codes that only citations know: the subtype that means the same kind of work.
func (k Known) asWork(code string) string {
	code = suggest.Near(code, slices.Sorted(maps.Keys(k.Works)))
	kind := k.Works[code]
	if kind == "" {
		return ""
	}
	for _, t := range k.Types {
		for _, sub := range k.Subtypes[t] {
			if k.Works[sub] == kind {
				return Kind{t, sub}.String()
			}
		}
	}
	return ""
}

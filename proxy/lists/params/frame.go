package params

import (
	"maps"
	"slices"
	"strings"
)

// A list has a frame: the selectors of its address, which an editor wrote. Readers narrow it by parameters of their
// own (And), which hold beside the frame. So a link that changes only these cannot lead out of the list, and one that
// has none of them leads back to the frame.

// Frame returns the parameters of the query that make the frame.
func (q Query) Frame() Query { return q.Only(Framing()...) }

// Choices returns the choices of the reader under the names of the selectors, so that package selection reads frame
// and choices in one way. Deep holds for them, too.
func (q Query) Choices() Query {
	choices := q.Only(Deep)
	for _, name := range Narrowing() {
		if values := q[name]; len(values) > 0 {
			choices[strings.TrimPrefix(name, And(""))] = values
		}
	}
	return choices
}

// Both returns the values of a parameter in the frame and those that the reader chose.
func (q Query) Both(name string) []string { return slices.Concat(q[name], q[And(name)]) }

// Order returns the requested ids in the order of the list: the reader's, or else those of the frame.
func (q Query) Order() []string {
	if chosen := q[And(IDs)]; len(chosen) > 0 {
		return chosen
	}
	return q[IDs]
}

// Reset returns the query on its first page without the reader's choices.
func (q Query) Reset() Query {
	reset := maps.Clone(q)
	maps.DeleteFunc(reset, func(name string, _ []string) bool {
		p, _ := lookup(name)
		return p.reader || name == Page
	})
	return reset.searchable()
}

// Simplify returns the query without choices that the frame has already.
func (q Query) Simplify() Query {
	simple := maps.Clone(q)
	maps.DeleteFunc(simple, func(name string, values []string) bool {
		own, narrows := strings.CutPrefix(name, And(""))
		return narrows && slices.Equal(values, q[own])
	})
	return simple
}

// Merge returns a query for the same entries whose frame has the reader's choices, as far as one parameter can say
// it. It is the same for all ways to narrow a frame to these entries, so that an answer without choices is kept
// once.
//
//	year=2018..2022&and.year=2020   year=2020
//	unit=A&and.unit=B               stays: records of both units
func (q Query) Merge() Query {
	merged := q
	for _, name := range append(exact(), Words) {
		if chosen := q[And(name)]; len(chosen) > 0 {
			if values, ok := intersect(name, q[name], chosen); ok {
				merged = merged.With(And(name)).With(name, values...)
			}
		}
	}
	return merged
}

// intersect returns the values that select the rows which values in the frame select, and chosen ones too. It returns
// false if there are none: a row may have several units, persons, projects and topics, one of the frame and one
// chosen.
func intersect(name string, frame, chosen []string) ([]string, bool) {
	common := slices.DeleteFunc(slices.Clone(chosen), func(v string) bool { return !slices.Contains(frame, v) })
	switch {
	case len(frame) == 0 || slices.Equal(frame, chosen):
		return chosen, true
	case strings.HasPrefix(name, Not("")) || name == Exclude:
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(frame, chosen))))
		return all, len(all) <= maxValues
	case slices.Contains([]string{Type, Subtype, OA, IDs}, name):
		return common, len(common) > 0
	case name == Year:
		outside := slices.ContainsFunc(chosen, func(v string) bool {
			return !slices.ContainsFunc(frame, func(f string) bool { return within(v, f) })
		})
		return chosen, !outside
	}
	return nil, false
}

// within reports whether a value of Year certainly has only years of another one.
func within(value, other string) bool {
	from, to, ok := Years(value)
	first, last, known := Years(other)
	return value == other || ok && known && first <= from && to <= last
}

// isRange reports whether a value of Year stands for several years: 2018..2022, 2020.. or last3.
func isRange(value string) bool {
	_, rolls := lastYears(value)
	return rolls || strings.Contains(value, "..")
}

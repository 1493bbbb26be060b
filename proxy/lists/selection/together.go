package selection

import (
	"context"
	"maps"
	"slices"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Counting says that the answer will show entries, and which facets: with all others in which the reader has chosen
// values if chosen is set. A store then counts the rows, the facets and the groups of a list by one query, see
// together.
func (m *Matches) Counting(chosen bool, names ...string) {
	m.entries = true
	for _, name := range slices.Concat(names, params.Filters()) {
		other := !slices.Contains(names, name)
		if name != params.None && !slices.Contains(m.counting, name) && (!other || chosen && m.chosen[name] != nil) {
			m.counting = append(m.counting, name)
		}
	}
}

// Dividing adds the name of a filter by whose values Names will count the rows.
func (m *Matches) Dividing(name string) { m.dividing = append(m.dividing, name) }

// under has the counts of a facet that ignores what the reader has chosen in it.
type under struct {
	found []index.Group
	rows  int
}

// together counts all that the list needs of a view in the store by one query. It returns the number of selected
// rows, or view.Uncounted if nothing else is to be counted: then the search counts them.
func together(ctx context.Context, m *Matches) (count int, err error) {
	t := newTally(m)
	asked := t.facets()
	if len(asked) == 1 {
		return view.Uncounted, nil
	}
	found, err := facetsOf(ctx, m, t.base, asked)
	if err != nil {
		return 0, err
	}
	return t.keep(found), nil
}

// tally is what one query counts for a list. The facets in which the reader has chosen values ignore these: then the
// query reads the rows that at most one choice excludes, and each facet has a filter.
type tally struct {
	matches *Matches
	base    *filter.Filter // selects the rows that the query reads
	all     *filter.Filter // selects the rows of the list among them; nil if these are all
	known   []string       // the paths of the facets of all selected rows
	own     []string       // the facets with chosen values
	levels  []level        // by whose values the list is divided, see divided
}

func newTally(m *Matches) *tally {
	t := &tally{matches: m, base: m.always, all: m.under(""), levels: m.divided()}
	var near []*filter.Filter // each selects the rows of a facet in own
	for _, name := range m.counting {
		if m.chosen[name] != nil {
			t.own, near = append(t.own, name), append(near, m.under(name))
		}
	}
	switch {
	case len(t.own) == 0:
		t.base, t.all = filter.And(m.always, t.all), nil
	case !slices.Contains(near, nil): // else a single choice excludes rows, and its facet needs all
		t.base = filter.And(m.always, filter.Or(near...))
	}
	// A path is asked for once, though a chart and a facet may both need it.
	for _, name := range m.dividing {
		t.known = append(t.known, paths[name])
	}
	for _, name := range m.counting {
		if path := pathOf(m.Query, name); m.chosen[name] == nil && !slices.Contains(t.known, path) {
			t.known = append(t.known, path)
		}
	}
	_, sorts := m.sorts(m.levels())
	if m.entries && sorts && m.levels()[0].titled && !slices.Contains(t.known, paths[params.Year]) {
		t.known = append(t.known, paths[params.Year]) // whose counts tell where each group ends, see walk.sorted
	}
	return t
}

// facets returns the facets of the query, in the order in which keep reads their counts: those of all selected rows,
// the number of these, the combinations of values and the outermost of them, and for each of own its values and the
// number of its rows.
func (t *tally) facets() (asked []index.Facet) {
	for _, f := range index.FacetsAt(t.known...) {
		f.Under = t.all
		asked = append(asked, f)
	}
	// A facet without paths counts rows.
	asked = append(asked, index.Facet{Under: t.all})
	if len(t.levels) > 0 {
		asked = append(asked, combinations(t.levels, t.all), combinations(t.levels[:1], t.all))
	}
	for _, name := range t.own {
		f := index.FacetsAt(pathOf(t.matches.Query, name))[0]
		f.Under = t.matches.under(name)
		asked = append(asked, f, index.Facet{Under: f.Under})
	}
	return asked
}

// keep keeps the counts of the facets for the methods of Matches that need them, and returns the number of selected
// rows.
func (t *tally) keep(found [][]index.Group) (count int) {
	m := t.matches
	for i, path := range t.known {
		m.counts[path] = found[i]
	}
	found = found[len(t.known):]
	count, found = total(found[0]), found[1:]
	if len(t.levels) > 0 {
		m.combined, m.outer, found = found[0], found[1], found[2:]
	}
	for i, name := range t.own {
		m.others[name] = under{found[2*i], total(found[2*i+1])}
	}
	return count
}

// combinations returns the facet of the combinations of the values of some levels, with those in which values are
// missing.
func combinations(levels []level, under *filter.Filter) index.Facet {
	f := index.Facet{Rest: true, Under: under}
	for _, l := range levels {
		f.Paths = append(f.Paths, paths[l.name])
	}
	return f
}

func total(all []index.Group) (rows int) {
	for _, g := range all {
		rows += g.Count
	}
	return rows
}

// under returns the filter of what the reader has chosen, except in one facet, or nil if that is nothing. The order
// of its conditions is fixed, so that equal requests to a store are equal.
func (m *Matches) under(except string) *filter.Filter {
	var all []*filter.Filter
	for _, name := range slices.Sorted(maps.Keys(m.chosen)) {
		if name != except {
			all = append(all, m.chosen[name])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return filter.And(all...)
}

// facetsOf counts facets of rows, which it need not count. It asks for the fields of all facets and of their
// filters, since the rows are read once for all.
func facetsOf(ctx context.Context, m *Matches, base *filter.Filter, asked []index.Facet) ([][]index.Group, error) {
	var fields []string
	for _, f := range asked {
		for _, path := range f.Paths {
			fields = append(fields, facetFields(path)...)
		}
		if f.Under != nil {
			// The store tests the conditions of a facet on what it has read.
			read, _ := filter.Paths(f.Under.Root()) // the filters of parameters name what they read
			for _, path := range read {
				at := raw.PathOf(path)
				fields = append(fields, at.First(min(2, at.Len())).String())
			}
		}
	}
	slices.Sort(fields)
	rows, err := m.snap.SelectUncounted(ctx, base, m.searches...)
	if err != nil {
		return nil, err
	}
	return rows.Facets(ctx, asked, slices.Compact(fields)...)
}

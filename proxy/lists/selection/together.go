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

// together counts all that the list needs of a view in the store by one query. The facets in which the reader has
// chosen values ignore these: then the query reads the rows that at most one choice excludes, and each facet has a
// filter. It returns the number of selected rows, or view.Uncounted if nothing else is to be counted.
func together(ctx context.Context, m *Matches) (count int, err error) {
	base, all := m.always, m.under("")
	var near []*filter.Filter
	var asked []index.Facet
	var own []string // facets with chosen values
	for _, name := range m.counting {
		if m.chosen[name] != nil {
			own, near = append(own, name), append(near, m.under(name))
		}
	}
	if len(own) > 0 { // and not m.under for each: the rows of all facets
		if !slices.ContainsFunc(near, func(f *filter.Filter) bool { return f == nil }) {
			base = filter.And(m.always, filter.Or(near...))
		}
	} else {
		base, all = filter.And(m.always, all), nil
	}
	var known []string // the paths of the facets of all selected rows
	for _, name := range m.dividing {
		known = append(known, paths[name])
	}
	for _, name := range m.counting {
		if path := pathOf(m.Query, name); m.chosen[name] == nil && !slices.Contains(known, path) {
			known = append(known, path)
		}
	}
	levels := m.divided()
	_, sorts := m.sorts(m.levels())
	if m.entries && sorts && m.levels()[0].titled && !slices.Contains(known, paths[params.Year]) {
		known = append(known, paths[params.Year])
	}
	for _, f := range index.FacetsAt(known...) {
		f.Under = all
		asked = append(asked, f)
	}
	asked = append(asked, index.Facet{Under: all})
	if len(levels) > 0 {
		asked = append(asked, combinations(levels, all), combinations(levels[:1], all))
	}
	for _, name := range own {
		f := index.FacetsAt(pathOf(m.Query, name))[0]
		f.Under = m.under(name)
		asked = append(asked, f, index.Facet{Under: f.Under})
	}
	if len(asked) == 1 {
		return view.Uncounted, nil
	}
	found, err := facetsOf(ctx, m, base, asked)
	if err != nil {
		return 0, err
	}
	for i, path := range known {
		m.counts[path] = found[i]
	}
	found = found[len(known):]
	count, found = total(found[0]), found[1:]
	if len(levels) > 0 {
		m.combined, m.outer, found = found[0], found[1], found[2:]
	}
	for i, name := range own {
		m.others[name] = under{found[2*i], total(found[2*i+1])}
	}
	return count, nil
}

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

// under returns the filter of what the reader has chosen, except in one facet, or nil.
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

// facetsOf counts facets of rows, which it need not count.
func facetsOf(ctx context.Context, m *Matches, base *filter.Filter, asked []index.Facet) ([][]index.Group, error) {
	var fields []string
	for _, f := range asked {
		for _, path := range f.Paths {
			fields = append(fields, facetFields(path)...)
		}
		if f.Under != nil {
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

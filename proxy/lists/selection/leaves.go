package selection

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// A list in the store is divided by the counts of the combinations of values by which it is divided: they tell which
// parts are on a page, and where in the list each begins. One query then reads all parts of a page. A query for each
// part, as in memory, would be two commands for each.

// mostTogether is the most entries of parts that are read by one query, and so the most rows in memory: as many as
// the largest page has. A larger part is read by itself, without the rows beside the page.
const mostTogether = 500

// leaf is an innermost part of a list: the rows with one combination of values.
type leaf struct {
	groups []Group
	starts []int // first entry of each group
	count  int
	where  *filter.Filter
}

// divided returns the levels by whose values a list in the store is divided, all but the texts by which it is
// sorted, since each row may have a text of its own. It returns none in memory, or if the store sorts instead, or
// if the rows come in the order of ids.
func (m *Matches) divided() []level {
	if _, resident := m.snap.Resident(); resident || !m.entries || len(m.Query.Order()) > 0 && !m.Sorted {
		return nil
	}
	levels := m.levels()
	if _, sorts := m.sorts(levels); sorts {
		return nil
	}
	return slices.DeleteFunc(levels, func(l level) bool { return l.name == byTitle || l.name == byAuthor })
}

// leavesOf returns the parts of the list in their order, or false if they are not known: in memory, or if there are
// too many. Then below reads part by part.
func leavesOf(ctx context.Context, m *Matches) ([]leaf, bool, error) {
	if m.combined == nil {
		return nil, false, nil
	}
	if m.parted == nil {
		// parted is kept, because Size and Entries may both ask, and dividing sorts labels.
		d := divider{Matches: m, levels: m.divided()}
		if err := d.divide(ctx, m.combined, 0, leaf{}); err != nil {
			return nil, false, err
		}
		m.parted = d.leaves
	}
	return m.parted, true, nil
}

// divider puts the combinations of values in the order of their parts. The store counts combinations in the order
// of values, while parts come in the order of labels.
type divider struct {
	*Matches
	levels []level
	leaves []leaf
	place  int // entries of the leaves
}

// divide adds the leaves of combinations that have the first values in common, at a depth, within a part.
func (d *divider) divide(ctx context.Context, all []index.Group, depth int, within leaf) error {
	if depth == len(d.levels) {
		within.count = total(all)
		d.place += within.count
		d.leaves = append(d.leaves, within)
		return nil
	}
	by := d.levels[depth]
	repeats := slices.ContainsFunc(d.levels[depth+1:], level.repeats)
	var found []index.Group // by value
	inner := map[int][]index.Group{}
	rest := index.Group{}
	var without []index.Group
	// Combinations with one value at this depth follow each other, because they are sorted by their values.
	for from, to := 0, 0; from < len(all); from = to {
		value := elementOf(all[from].Value, depth)
		for to = from + 1; to < len(all) && raw.Compare(elementOf(all[to].Value, depth), value) == 0; to++ {
		}
		one := index.Group{Value: value, Count: total(all[from:to]), Sample: all[from].Sample}
		// The sum of the combinations would count a row once for each of its inner values.
		if repeats { // rows have several entries: only the outer level has others within
			i, found := slices.BinarySearchFunc(d.outer, value, func(g index.Group, value bson.RawValue) int {
				return raw.Compare(elementOf(g.Value, 0), value)
			})
			if found {
				one.Count = d.outer[i].Count
			}
		}
		if raw.BracketOf(value.Type) == raw.BracketNull {
			rest, without = one, all[from:to]
			continue
		}
		inner[len(found)] = all[from:to]
		found = append(found, one)
	}
	parts, err := d.arranged(ctx, found, by)
	if err != nil {
		return err
	}
	// The rows without a value come last, whatever the direction.
	for _, p := range append(parts, restOf(d.Matches, by)) {
		below := without
		if p.at >= 0 {
			below = inner[p.at]
		} else if p.Count = rest.Count; len(without) == 0 {
			continue
		}
		// The groups of the leaves share a prefix; Clip makes append copy it.
		next := leaf{within.groups, within.starts, 0, filter.And(within.where, p.where())}
		if by.titled {
			group := Group{By: by.name, Value: p.Value, Label: p.Label, Count: p.Count}
			next.groups = append(slices.Clip(next.groups), group)
			next.starts = append(slices.Clip(next.starts), d.place)
		}
		if err := d.divide(ctx, below, depth+1, next); err != nil {
			return err
		}
	}
	return nil
}

// elementOf returns an element of the value of a combination, which is an array with a value for each level. A
// missing element is null, like a missing value.
func elementOf(array bson.RawValue, i int) bson.RawValue {
	at := 0
	for e := range raw.All(array.Value) {
		if at++; at > i {
			return e.Value()
		}
	}
	return bson.RawValue{Type: bson.TypeNull}
}

// storedWalk yields the entries of a page from a view in the store: with as few queries as possible, where walk has
// a set of rows for each part.
type storedWalk struct{ at *walk }

// divide yields the entries of the page from the leaves.
func (w storedWalk) divide(ctx context.Context, selected view.Selection, leaves []leaf) error {
	// Groups with entries before the page are continued on it, and their headings say so.
	first := w.at.skip // entries before the page
	for len(leaves) > 0 && w.at.left != 0 {
		if leaves[0].count <= w.at.skip {
			w.at.skip -= leaves[0].count
			leaves = leaves[1:]
			continue
		}
		// n leaves are read together: as many as fit, or one that is too large by itself.
		n, entries := 0, 0
		for n < len(leaves) && entries+leaves[n].count <= mostTogether {
			// Small parts are read together, but none behind the page.
			if w.at.left >= 0 && entries-w.at.skip >= w.at.left {
				break // the page ends before
			}
			entries += leaves[n].count
			n++
		}
		read := leaves[:max(n, 1)]
		for i := range read {
			read[i].groups = slices.Clone(read[i].groups) // leaves of one group share it
			for j, start := range read[i].starts {
				read[i].groups[j].Continued = start < first
			}
		}
		var err error
		if n <= 1 {
			err = w.leaf(ctx, selected, read[0])
		} else {
			err = w.several(ctx, selected, read)
		}
		if err != nil || w.at.stopped {
			return err
		}
		leaves = leaves[len(read):]
	}
	return nil
}

// leaf yields the entries of one leaf on the page.
func (w storedWalk) leaf(ctx context.Context, selected view.Selection, l leaf) error {
	part, err := selected.Narrow(ctx, l.where, l.count)
	if err != nil {
		return err
	}
	_, err = w.texts(ctx, part, l.groups)
	w.at.skip = 0
	return err
}

// several yields the entries of leaves that are read by one query, of which the page may begin in the first and end
// in the last. The query sorts all rows as within a leaf; here each row goes to every leaf that it is in, since a
// row may be in several groups.
func (w storedWalk) several(ctx context.Context, selected view.Selection, leaves []leaf) error {
	var any []*filter.Filter
	most := 0
	for _, l := range leaves {
		any, most = append(any, l.where), most+l.count
	}
	part, err := selected.Narrow(ctx, filter.Or(any...), most)
	if err != nil {
		return err
	}
	field, _ := w.at.matches.order()
	rows := make([][]index.Row, len(leaves))
	for row, err := range w.at.matches.rows(ctx, part, nil, 0, most) {
		if err != nil {
			return err
		}
		for i, l := range leaves {
			// The store has not said which of the conditions a row met.
			there, err := l.where.Match(row.Doc())
			if err != nil {
				return err
			}
			if there {
				rows[i] = append(rows[i], row)
			}
		}
	}
	for i, l := range leaves {
		for _, row := range withoutLast(field, rows[i]) {
			if w.at.skip > 0 {
				w.at.skip--
			} else if !w.at.entry(row, l.groups) {
				return nil
			}
		}
	}
	return nil
}

// withoutLast puts rows without a text to sort by behind the others. In the store's order they come first if texts
// ascend, because a missing value is less than any text.
func withoutLast(field string, rows []index.Row) []index.Row {
	if field != byTitle && field != byAuthor {
		return rows
	}
	var there, rest []index.Row
	missing := without(field)
	for _, row := range rows {
		if none, err := missing.Match(row.Doc()); err == nil && none {
			rest = append(rest, row)
		} else {
			there = append(there, row)
		}
	}
	return append(there, rest...)
}

// texts yields the entries of rows in the store on the page, sorted without division by values. Rows without a text
// to sort by come last, in either direction. They are looked for only if the others do not fill the page.
func (w storedWalk) texts(ctx context.Context, selected view.Selection, groups []Group) (more bool, err error) {
	field, _ := w.at.matches.order()
	if field != byTitle && field != byAuthor {
		return w.all(ctx, selected, w.at.skip, groups)
	}
	missing := without(field)
	there, err := selected.Narrow(ctx, filter.Not(missing), selected.Count())
	if err != nil {
		return false, err
	}
	before := w.at.position
	more, err = w.all(ctx, there, w.at.skip, groups)
	read := w.at.position - before
	if !more || err != nil || w.at.skip+read >= selected.Count() {
		return more, err
	}
	// The number of rows without a text is known only if the rows with one were read to their end.
	count := selected.Count() - w.at.skip - read // at most so many; all of the others before the page were read
	if read == 0 && w.at.skip > 0 {
		count = view.Uncounted
	}
	rest, err := selected.Narrow(ctx, missing, count)
	if err != nil {
		return false, err
	}
	first := 0
	if count == view.Uncounted {
		first = max(w.at.skip-(selected.Count()-rest.Count()), 0)
	}
	return w.all(ctx, rest, first, groups)
}

// all yields the entries of rows after some, and reports whether to go on.
func (w storedWalk) all(ctx context.Context, rows view.Selection, skip int, groups []Group) (more bool, err error) {
	for row, err := range w.at.matches.rows(ctx, rows, nil, skip, max(w.at.left, 0)) {
		if err != nil || !w.at.entry(row, groups) {
			return false, err
		}
	}
	return true, nil
}

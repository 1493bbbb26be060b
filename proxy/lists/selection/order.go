package selection

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Entry is an item's place in a list. An item has one under each of its persons, units or projects that are groups.
type Entry struct {
	index.Row
	Groups   []Group // the groups that contain it, the outermost first; nil if the list has none
	Position int     // position in the list, from 1
}

// Group is a group of a list, or a group in a group.
type Group struct {
	By        string // the parameter by which the list is divided
	Value     string // empty for the rows without a value
	Label     string
	Count     int  // number of records
	Continued bool // the group began on an earlier page
}

// part has the rows with one value at a path of marks. where is a function, because most parts before a page need
// no filter.
type part struct {
	Choice
	at    int                   // place among the values; -1 for the rows without
	where func() *filter.Filter // returns the filter that selects the rows
}

// parts divides a selection, in the order of the labels; types come in the order of the rules. The rows without a
// value come last; they are counted only if they are one of two parts. Otherwise Narrow counts them if a page
// reaches them.
func (m *Matches) parts(ctx context.Context, selected view.Selection, by level) ([]part, error) {
	missing := restOf(m, by)
	if by.name == byTitle || by.name == byAuthor { // two parts: rows with a text to sort by, and rows without
		rest, err := selected.Narrow(ctx, missing.where(), view.Uncounted)
		if err != nil {
			return nil, err
		}
		missing.Count = rest.Count()
		there := part{Choice: Choice{Count: selected.Count() - missing.Count},
			where: func() *filter.Filter { return filter.Not(missing.where()) }}
		return []part{there, missing}, nil
	}
	found, err := m.facet(ctx, selected, paths[by.name])
	if err != nil {
		return nil, err
	}
	all, err := m.arranged(ctx, found, by)
	return append(all, missing), err
}

// restOf returns the part of the rows without a value, not counted.
func restOf(m *Matches, by level) part {
	where := func() *filter.Filter { return without(by.name) }
	return part{Choice{Label: m.missingLabel(by.name), Count: view.Uncounted}, -1, where}
}

// arranged returns the parts of values in the order of a level.
func (m *Matches) arranged(ctx context.Context, found []index.Group, by level) (all []part, err error) {
	choices, err := m.choices(ctx, found, by.name)
	if err != nil {
		return nil, err
	}
	for i, choice := range choices {
		where := func() *filter.Filter { return filter.OneOf(paths[by.name], found[i].Value) }
		all = append(all, part{choice, i, where})
	}
	return all, fair.Sort(ctx, all, func(a, b part) int {
		if !by.ascending {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.SortKey, b.SortKey))
	})
}

// level is one way to divide a list, or each part of it.
type level struct {
	name      string // name of a filter, or of a text by which rows are sorted
	ascending bool
	titled    bool // the parts are groups with titles
}

// repeats reports whether a row may be in several parts: it may have several units, but only one year and one type.
func (l level) repeats() bool {
	return slices.Contains([]string{params.Unit, params.Person, params.Project, params.Keyword}, l.name)
}

// order returns the sort of the query: -title is title, and down.
func (m *Matches) order() (field string, down bool) {
	return strings.CutPrefix(m.Query.Text(params.Sort), "-")
}

// levels returns how to divide the listing: by the years in the marks, because stored years may have any type. Rows
// without a text to sort by come last in both directions.
func (m *Matches) levels() (all []level) {
	groups := m.Query[params.Group]
	field, down := m.order()
	// Years descend, unless the list is sorted by ascending years. Other groups are in the order of their labels.
	for _, group := range groups {
		if group != params.None {
			all = append(all, level{group, group != params.Year || field == params.Year && !down, true})
		}
	}
	if field == params.Relevance || field == params.Added {
		return all
	}
	if field != params.Year && !slices.Contains(groups, field) {
		all = append(all, level{field, !down, false})
	}
	// Rows within a type are sorted by year, the newest first.
	if !slices.Contains(groups, params.Year) && (field == params.Year || field == params.Type) {
		all = append(all, level{params.Year, field == params.Year && !down, false})
	}
	return all
}

// sorts returns what a store can sort rows by instead of dividing them: descending years, where rows without one come
// last. One query then answers a page that would need one for each of its years. In memory, parts cost nothing. A
// store does not sort by relevance, which is computed.
func (m *Matches) sorts(levels []level) (order raw.Sort, ok bool) {
	field, _ := m.order()
	if _, resident := m.snap.Resident(); resident || len(levels) != 1 || field == params.Relevance {
		return nil, false
	}
	l := levels[0]
	return raw.Sort{{Path: raw.PathOf(mark.Year), Desc: true}}, l.name == params.Year && !l.ascending
}

// rows yields up to limit rows of a part, or all for 0, in order, by lead at first. Rows with equal texts stay in
// the view's order, so that pages neither repeat nor lose a row.
func (m *Matches) rows(
	ctx context.Context, part view.Selection, lead raw.Sort, offset, limit int,
) iter.Seq2[index.Row, error] {
	field, down := m.order()
	order := slices.Clone(lead)
	if order == nil {
		order = raw.Sort{}
	}
	by := func(path string, down bool) {
		order = append(order, raw.SortField{Path: raw.PathOf(path), Desc: down})
	}
	switch field {
	case params.Relevance:
		return part.ByRelevance().Rows(ctx, offset, limit)
	case byTitle, byAuthor:
		by(paths[field], down)
		by(mark.Year, true)
		by(mark.Day, true)
	case params.Added: // records entered at the same time are sorted by their own dates
		by(mark.Entered, down)
		by(mark.Year, down)
		by(mark.Day, down)
	default:
		if m.View == rules.ViewPersons { // persons have no dates
			by(mark.ByAuthor, false)
		} else {
			by(mark.Day, down || field == params.Type)
		}
	}
	return part.By(order).Rows(ctx, offset, limit)
}

// walk yields the entries of one page, and is used once. It does not read the entries that it skips: their counts
// are enough.
type walk struct {
	matches    *Matches // whose entries they are
	skip, left int      // left is negative if there is no limit
	position   int      // position of the last entry
	yield      func(Entry, error) bool
	stopped    bool // the page is full, or the caller has enough
}

// Entries yields the entries of the requested page. Without a limit the first page has all entries, and others have
// none. An error is yielded last, with a zero Entry. Each call reads the rows again.
func (m *Matches) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		// The offset is in entries, of which a record may have several.
		number, limit := m.Query.Number(params.Page), m.Query.Number(params.Limit)
		if limit == 0 && number > 1 {
			return
		}
		offset := (number - 1) * limit
		w := walk{matches: m, skip: offset, left: cmp.Or(limit, -1), position: offset, yield: yield}
		selected, err := m.Selected(ctx, "")
		switch {
		case err != nil:
		// Requested ids are at most as many as a parameter may have, so all their rows fit into memory.
		case len(m.Query.Order()) > 0 && !m.Sorted:
			err = w.inOrderOfIDs(ctx, selected)
		default:
			err = w.page(ctx, selected)
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// entry yields a row, and reports whether to go on.
func (w *walk) entry(row index.Row, groups []Group) bool {
	w.position++
	w.left--
	w.stopped = !w.yield(Entry{row, groups, w.position}, nil) || w.left == 0
	return !w.stopped
}

// page yields the entries of the page: by leaves, by texts or part by part, whichever needs the fewest queries.
func (w *walk) page(ctx context.Context, selected view.Selection) error {
	leaves, known, err := leavesOf(ctx, w.matches)
	if err != nil {
		return err
	}
	if known {
		return storedWalk{w}.divide(ctx, selected, leaves)
	}
	levels := w.matches.levels()
	_, resident := w.matches.snap.Resident()
	byText := len(levels) == 1 && (levels[0].name == byTitle || levels[0].name == byAuthor)
	if byText && !resident {
		_, err = storedWalk{w}.texts(ctx, selected, nil)
	} else {
		_, err = w.below(ctx, selected, levels, nil)
	}
	return err
}

// below yields the entries of selected rows in groups, and reports whether to go on.
func (w *walk) below(ctx context.Context, selected view.Selection, levels []level,
	groups []Group) (more bool, err error) {
	lead, sorts := w.matches.sorts(levels)
	if sorts && levels[0].titled {
		return w.sorted(ctx, selected, levels[0], lead, groups)
	}
	if sorts || len(levels) == 0 {
		for row, err := range w.matches.rows(ctx, selected, lead, w.skip, max(w.left, 0)) {
			if err != nil || !w.entry(row, groups) {
				return false, err
			}
		}
		w.skip = 0 // rows has skipped the entries
		return true, nil
	}
	parts, err := w.matches.parts(ctx, selected, levels[0])
	if err != nil {
		return false, err
	}
	// If rows repeat below, a part has more entries than rows, and skipping it needs their number.
	once := !slices.ContainsFunc(levels[1:], level.repeats) // a part has an entry for each of its rows
	for _, p := range parts {
		// The whole part is before the page, and its count is enough to skip it.
		if once && 0 <= p.Count && p.Count <= w.skip {
			w.skip -= p.Count
			continue
		}
		part, err := selected.Narrow(ctx, p.where(), p.Count)
		if err != nil {
			return false, err
		}
		n := part.Count()
		if !once && w.skip > 0 {
			if n, err = w.matches.size(ctx, part, levels[1:]); err != nil {
				return false, err
			}
		}
		if n <= w.skip {
			w.skip -= n
			continue
		}
		// inner is a new slice for each part, because the entries that were yielded keep theirs.
		inner := groups
		if levels[0].titled {
			inner = append(slices.Clip(groups), Group{levels[0].name, p.Value, p.Label, part.Count(), w.skip > 0})
		}
		if more, err := w.below(ctx, part, levels[1:], inner); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sorted is below for rows that the store sorts in the order of the parts. The counts of the parts tell where each
// ends.
func (w *walk) sorted(
	ctx context.Context, selected view.Selection, by level, lead raw.Sort, groups []Group,
) (more bool, err error) {
	parts, err := w.matches.parts(ctx, selected, by)
	if err != nil {
		return false, err
	}
	rest := &parts[len(parts)-1].Count // of the rows without a value
	*rest = selected.Count()
	for _, p := range parts[:len(parts)-1] {
		*rest -= p.Count
	}
	// The rows come without the values by which they are grouped; their places tell the part.
	at, i, before := w.skip, 0, 0 // place of the row, its part, and the rows of earlier parts
	for row, err := range w.matches.rows(ctx, selected, lead, w.skip, max(w.left, 0)) {
		if err != nil {
			return false, err
		}
		for i < len(parts)-1 && at >= before+parts[i].Count {
			before += parts[i].Count
			i++
		}
		p := parts[i]
		inner := append(slices.Clip(groups), Group{by.name, p.Value, p.Label, p.Count, before < w.skip})
		if !w.entry(row, inner) {
			return false, nil
		}
		at++
	}
	w.skip = 0 // rows has skipped the entries
	return true, nil
}

// inOrderOfIDs yields the selected records in the order of the requested ids.
func (w *walk) inOrderOfIDs(ctx context.Context, selected view.Selection) error {
	// An id that no selected row has is left out here; Missing names it.
	found := map[string]index.Row{}
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return err
		}
		found[IDText(row.Doc())] = row
	}
	for _, id := range w.matches.Query.Order() {
		row, ok := found[id]
		switch {
		case !ok:
		case w.skip > 0:
			w.skip--
		case !w.entry(row, nil):
			return nil
		}
	}
	return nil
}

// Size returns the number of records, entries and pages in the listing. A list without entries has one page.
// Without a limit the number of pages means nothing.
func (m *Matches) Size(ctx context.Context) (records, entries, pages int, err error) {
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return 0, 0, 0, err
	}
	if m.combined != nil {
		entries = total(m.combined)
	} else {
		entries, err = m.size(ctx, selected, m.levels())
	}
	limit := max(m.Query.Number(params.Limit), 1)
	return selected.Count(), entries, max((entries+limit-1)/limit, 1), err
}

// size returns the number of entries of selected rows below some levels: their number, unless a level repeats rows.
func (m *Matches) size(ctx context.Context, selected view.Selection, levels []level) (entries int, err error) {
	i := slices.IndexFunc(levels, level.repeats)
	if i < 0 {
		return selected.Count(), nil
	}
	parts, err := m.parts(ctx, selected, levels[i])
	if err != nil {
		return 0, err
	}
	below := levels[i+1:]
	once := !slices.ContainsFunc(below, level.repeats)
	for _, p := range parts {
		n := p.Count
		if !once || n == view.Uncounted {
			part, err := selected.Narrow(ctx, p.where(), n)
			if err != nil {
				return 0, err
			}
			if n, err = m.size(ctx, part, below); err != nil {
				return 0, err
			}
		}
		entries += n
	}
	return entries, nil
}

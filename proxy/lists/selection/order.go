package selection

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/raw"
)

// Entry is an item's place in a list: an item with several persons has one under each where
// the list is grouped by them.
type Entry struct {
	index.Row
	Group string // the title of its group; empty: the list has no groups
}

// part is the rows with one value of what a list is divided by.
type part struct {
	label, key string        // key is the label as it is sorted
	value      bson.RawValue // null: the rows without one
	count      int
}

// counted returns the parts of a selection by the values at a path of a filter.
func (l *Selection) counted(ctx context.Context, selected view.Selection, name, path string) ([]part, error) {
	found, err := selected.Facet(ctx, path)
	all := make([]part, 0, len(found)+1)
	for _, v := range found {
		label := l.Label(name, display.Text(v.Value), v.Sample)
		all = append(all, part{label, strings.Join(fold.Words(label), " "), v.Value, v.Count})
	}
	return all, err
}

// parts divide a selection by the values of a filter, in the order of their labels. What has
// no value comes last.
func (l *Selection) parts(ctx context.Context, selected view.Selection, name string, ascending bool) ([]part, error) {
	all, err := l.counted(ctx, selected, name, Paths[name])
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b part) int {
		if ascending {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(b.key, a.key)
	})
	missing := part{label: l.without(name), value: bson.RawValue{Type: bson.TypeNull}}
	where, err := l.having(name, missing.value)
	if err != nil {
		return nil, err
	}
	rest, err := selected.Narrow(ctx, where)
	if err != nil || rest.Count() == 0 {
		return all, err
	}
	missing.count = rest.Count()
	return append(all, missing), nil
}

// having selects the rows of a part.
func (l *Selection) having(name string, value bson.RawValue) (*filter.Filter, error) {
	return l.o.Reader.Compile(bson.D{{Key: Paths[name], Value: value}}, "")
}

// level is how a list, or each part of it, is divided.
type level struct {
	name      string // of a filter
	ascending bool
	titled    bool // the parts are groups with titles
}

// reader yields up to limit rows of a part, all if it is 0, from an offset on in an order.
type reader func(ctx context.Context, part view.Selection, offset, limit int) iter.Seq2[index.Row, error]

// order returns how the listing is divided, and the order within each part. Rows of a view
// are in the order of its stored years, which the records may have in any type, so that
// lists by year are divided by those of the marks.
func (l *Selection) order() (levels []level, within reader) {
	sort, group := l.query.Text(params.Sort), l.query.Text(params.Group)
	if group != params.None {
		levels = append(levels, level{group, group != params.Year || sort == params.Year, true})
	}
	field, down := strings.CutPrefix(sort, "-")
	if field == params.Relevance {
		return levels, func(ctx context.Context, part view.Selection, offset, limit int) iter.Seq2[index.Row, error] {
			return part.ByRelevance().Rows(ctx, offset, limit)
		}
	}
	if path, ok := sortPaths[field]; ok {
		return levels, l.byText(path, down)
	}
	if field == params.Type {
		if group != field {
			levels = append(levels, level{field, !down, false})
		}
		down = true
	}
	if group != params.Year {
		levels = append(levels, level{params.Year, !down, false})
	}
	days := raw.Sort{}
	for _, path := range dayPaths[l.about.View] {
		days = append(days, raw.SortField{Path: path, Desc: down})
	}
	return levels, func(ctx context.Context, part view.Selection, offset, limit int) iter.Seq2[index.Row, error] {
		return part.By(days).Rows(ctx, offset, limit)
	}
}

// dayPaths are the paths by which rows of one year are ordered, by view.
var dayPaths = map[string][]raw.Path{
	rules.ViewActivities: {mustPath("month"), mustPath("day")},
	rules.ViewProjects:   {mustPath("start_date")},
	rules.ViewEvents:     {mustPath("start")},
}

func mustPath(text string) raw.Path {
	path, err := raw.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return path
}

// walk yields entries. It skips as many as are to be skipped without reading them.
type walk struct {
	*Selection
	within     reader
	skip, left int // left is negative without a limit
	yield      func(Entry, error) bool
}

// Entries yields up to limit of the listing's entries from an offset on; all of them if the
// limit is 0.
func (l *Selection) Entries(ctx context.Context, offset, limit int) iter.Seq2[Entry, error] {
	if asked := l.query[params.IDs]; len(asked) > 0 && !l.about.Sorted {
		return l.asGiven(ctx, asked, offset, limit)
	}
	levels, within := l.order()
	return func(yield func(Entry, error) bool) {
		w := walk{l, within, offset, limit, yield}
		if limit == 0 {
			w.left = -1
		}
		selected, err := l.Selected(ctx, "")
		if err == nil {
			_, err = w.below(ctx, selected, levels, "")
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// below yields the entries of selected rows, and reports whether more are wanted.
func (w *walk) below(ctx context.Context, selected view.Selection, levels []level, group string) (more bool, err error) {
	if len(levels) == 0 {
		return w.rows(ctx, selected, group)
	}
	parts, err := w.parts(ctx, selected, levels[0].name, levels[0].ascending)
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		if w.skip >= p.count {
			w.skip -= p.count
			continue
		}
		title := group
		if levels[0].titled {
			title = p.label
		}
		where, err := w.having(levels[0].name, p.value)
		if err != nil {
			return false, err
		}
		part, err := selected.Narrow(ctx, where)
		if err != nil {
			return false, err
		}
		if more, err := w.below(ctx, part, levels[1:], title); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// rows yields the rows of a part.
func (w *walk) rows(ctx context.Context, selected view.Selection, group string) (more bool, err error) {
	for row, err := range w.within(ctx, selected, w.skip, max(w.left, 0)) {
		if w.left == 0 || err != nil {
			return false, err
		}
		w.left--
		if !w.yield(Entry{row, group}, nil) {
			return false, nil
		}
	}
	w.skip = max(w.skip-selected.Count(), 0)
	return w.left != 0, nil
}

// asGiven yields the records of ids in that order.
func (l *Selection) asGiven(ctx context.Context, asked []string, offset, limit int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		selected, err := l.Selected(ctx, "")
		if err != nil {
			yield(Entry{}, err)
			return
		}
		found := map[string]index.Row{}
		for row, err := range selected.Rows(ctx, 0, 0) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			found[IDText(row.Doc())] = row
		}
		there := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { _, ok := found[id]; return !ok })
		from, to := query.Page{Limit: limit, Offset: offset}.Cut(len(there))
		for _, id := range there[from:to] {
			if !yield(Entry{Row: found[id]}, nil) {
				return
			}
		}
	}
}

// Size returns how many records and how many entries the listing has.
func (l *Selection) Size(ctx context.Context) (records, entries int, err error) {
	selected, err := l.Selected(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	records, entries = selected.Count(), selected.Count()
	if l.query.Text(params.Group) == params.Person {
		parts, err := l.parts(ctx, selected, params.Person, true)
		if err != nil {
			return 0, 0, err
		}
		entries = 0
		for _, p := range parts {
			entries += p.count
		}
	}
	return records, entries, nil
}

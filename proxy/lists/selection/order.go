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
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Entry is an item's place in a list: an item with several persons has one under each where
// the list is grouped by them.
type Entry struct {
	index.Row
	Group string // the title of its group; empty: the list has no groups
}

// parts divide a selection by the values of a filter, in the order of their labels. What has
// no value comes last.
func (l *Selection) parts(ctx context.Context, selected view.Selection, name string, ascending bool) ([]Value, error) {
	all, err := l.counted(ctx, selected, name, paths[name])
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Value) int {
		if ascending {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(b.key, a.key)
	})
	missing := Value{Label: l.without(name), mark: bson.RawValue{Type: bson.TypeNull}}
	rest, err := l.part(ctx, selected, name, missing)
	if err != nil || rest.Count() == 0 {
		return all, err
	}
	missing.Count = rest.Count()
	return append(all, missing), nil
}

// part narrows a selection to the rows with a value of a filter.
func (l *Selection) part(ctx context.Context, selected view.Selection, name string, v Value) (view.Selection, error) {
	where, err := l.Reader.Compile(bson.D{{Key: paths[name], Value: v.mark}}, "")
	if err != nil {
		return nil, err
	}
	return selected.Narrow(ctx, where)
}

// level is how a list, or each part of it, is divided.
type level struct {
	name      string // of a filter
	ascending bool
	titled    bool // the parts are groups with titles
}

// levels returns how the listing is divided. Rows of a view are in the order of its stored
// years, which the records may have in any type, so that lists by year are divided by those
// of the marks.
func (l *Selection) levels() (all []level) {
	group := l.Query.Text(params.Group)
	field, down := strings.CutPrefix(l.Query.Text(params.Sort), "-")
	if group != params.None {
		all = append(all, level{group, group != params.Year || field == params.Year && !down, true})
	}
	if _, byText := sortPaths[field]; byText || field == params.Relevance {
		return all
	}
	if field == params.Type && group != field {
		all = append(all, level{field, !down, false})
	}
	if group != params.Year {
		all = append(all, level{params.Year, field == params.Year && !down, false})
	}
	return all
}

// rows yields up to limit rows of a part, all if it is 0, from an offset on: in the order of
// the listing.
func (l *Selection) rows(ctx context.Context, part view.Selection, offset, limit int) iter.Seq2[index.Row, error] {
	field, down := strings.CutPrefix(l.Query.Text(params.Sort), "-")
	if field == params.Relevance {
		return part.ByRelevance().Rows(ctx, offset, limit)
	}
	if path, ok := sortPaths[field]; ok {
		return l.byText(ctx, part, path, down, offset, limit)
	}
	days := raw.Sort{}
	for _, path := range dayPaths[l.View] {
		days = append(days, raw.SortField{Path: path, Desc: down || field == params.Type})
	}
	return part.By(days).Rows(ctx, offset, limit)
}

// sortPaths are where marks have the texts that rows are sorted by, as readers see them.
var sortPaths = map[string]raw.Path{"title": raw.PathOf(mark.ByTitle), "author": raw.PathOf(mark.ByAuthor)}

// byText reads a page of rows in the order of a text. Rows without one come last in both
// directions. Rows with equal texts stay in the order of the view.
func (l *Selection) byText(ctx context.Context, part view.Selection, path raw.Path, down bool, offset, limit int) iter.Seq2[index.Row, error] {
	return func(yield func(index.Row, error) bool) {
		order := raw.Sort{{Path: path, Desc: down}}
		if v, _ := rules.ViewNamed(l.View); v.Order != "" {
			order = append(order, raw.SortField{Path: raw.PathOf(v.Order), Desc: true})
		}
		left := cmp.Or(limit, -1)
		for _, there := range []bson.D{{{Key: path.String(), Value: bson.D{{Key: "$ne", Value: nil}}}}, {{Key: path.String(), Value: nil}}} {
			where, err := l.Reader.Compile(there, "")
			some := part
			if err == nil {
				some, err = part.Narrow(ctx, where)
			}
			if err != nil {
				yield(index.Row{}, err)
				return
			}
			from, to := query.Page{Limit: max(left, 0), Offset: offset}.Cut(some.Count())
			offset = max(offset-some.Count(), 0)
			if left == 0 || from == to {
				continue
			}
			left -= to - from
			for row, err := range some.By(order).Rows(ctx, from, to-from) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// dayPaths are the paths by which rows of one year are ordered, by view.
var dayPaths = map[string][]raw.Path{
	rules.ViewActivities: {raw.PathOf("month"), raw.PathOf("day")},
	rules.ViewProjects:   {raw.PathOf("start_date")},
	rules.ViewEvents:     {raw.PathOf("start")},
}

// walk yields entries. It skips as many as are to be skipped without reading them.
type walk struct {
	*Selection
	skip, left int // left is negative without a limit
	yield      func(Entry, error) bool
}

// Entries yields up to limit of the listing's entries from an offset on; all of them if the
// limit is 0.
func (l *Selection) Entries(ctx context.Context, offset, limit int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := walk{l, offset, cmp.Or(limit, -1), yield}
		selected, err := l.Selected(ctx, "")
		switch {
		case err != nil:
		case len(l.Query[params.IDs]) > 0 && !l.Sorted:
			err = w.asGiven(ctx, selected)
		default:
			_, err = w.below(ctx, selected, l.levels(), "")
		}
		if err != nil {
			yield(Entry{}, err)
		}
	}
}

// below yields the entries of selected rows, and reports whether more are wanted.
func (w *walk) below(ctx context.Context, selected view.Selection, levels []level, group string) (more bool, err error) {
	if len(levels) == 0 {
		return w.entries(ctx, selected, group)
	}
	parts, err := w.parts(ctx, selected, levels[0].name, levels[0].ascending)
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		if w.skip >= p.Count {
			w.skip -= p.Count
			continue
		}
		if levels[0].titled {
			group = p.Label
		}
		part, err := w.part(ctx, selected, levels[0].name, p)
		if err != nil {
			return false, err
		}
		if more, err := w.below(ctx, part, levels[1:], group); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// entries yields the rows of a part.
func (w *walk) entries(ctx context.Context, part view.Selection, group string) (more bool, err error) {
	for row, err := range w.rows(ctx, part, w.skip, max(w.left, 0)) {
		if w.left == 0 || err != nil {
			return false, err
		}
		w.left--
		if !w.yield(Entry{row, group}, nil) {
			return false, nil
		}
	}
	w.skip = max(w.skip-part.Count(), 0)
	return w.left != 0, nil
}

// asGiven yields the selected records in the order of the ids that were asked for.
func (w *walk) asGiven(ctx context.Context, selected view.Selection) error {
	found := map[string]index.Row{}
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return err
		}
		found[IDText(row.Doc())] = row
	}
	there := slices.DeleteFunc(slices.Clone(w.Query[params.IDs]), func(id string) bool { _, ok := found[id]; return !ok })
	from, to := query.Page{Limit: max(w.left, 0), Offset: w.skip}.Cut(len(there))
	for _, id := range there[from:to] {
		if !w.yield(Entry{Row: found[id]}, nil) {
			break
		}
	}
	return nil
}

// Size returns how many records and how many entries the listing has.
func (l *Selection) Size(ctx context.Context) (records, entries int, err error) {
	selected, err := l.Selected(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	records = selected.Count()
	if l.Query.Text(params.Group) != params.Person {
		return records, records, nil
	}
	parts, err := l.parts(ctx, selected, params.Person, true)
	for _, p := range parts {
		entries += p.Count
	}
	return records, entries, err
}

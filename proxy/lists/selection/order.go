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
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Entry is an item's place in a list: an item with several persons has one under each where
// the list is grouped by them.
type Entry struct {
	index.Row
	Group    string // the title of its group; empty: the list has no groups
	Position int    // in the list, from 1 on
}

// part is the rows with one value at a path of marks.
type part struct {
	page.FacetValue
	key   string // the label as it is sorted
	where any    // what selects the rows at the path; nil: those without a value
}

// parts divide a selection, in the order of their labels. What has no value comes last.
func (l *Selection) parts(ctx context.Context, selected view.Selection, by level) ([]part, error) {
	missing := part{FacetValue: page.FacetValue{Label: l.missing(by.name)}}
	rest, err := l.part(ctx, selected, by.name, missing)
	if err != nil {
		return nil, err
	}
	missing.Count = rest.Count()
	if by.name == byTitle || by.name == byAuthor { // rows with a text to sort by and those without
		there := part{FacetValue: page.FacetValue{Count: selected.Count() - missing.Count}, where: bson.D{{Key: "$ne", Value: nil}}}
		return []part{there, missing}, nil
	}
	found, err := selected.Facet(ctx, paths[by.name])
	if err != nil {
		return nil, err
	}
	all, err := l.labelled(ctx, found, by.name)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b part) int {
		if by.ascending {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Compare(b.key, a.key)
	})
	return append(all, missing), nil
}

// part narrows a selection to a part of it.
func (l *Selection) part(ctx context.Context, selected view.Selection, name string, p part) (view.Selection, error) {
	where, err := l.Reader.Compile(bson.D{{Key: paths[name], Value: p.where}}, "")
	if err != nil {
		return nil, err
	}
	return selected.Narrow(ctx, where)
}

// level is how a list, or each part of it, is divided.
type level struct {
	name      string // of a filter, or of a text that rows are sorted by
	ascending bool
	titled    bool // the parts are groups with titles
}

// Entered is a value of params.Sort that no request has: when records were entered.
const Entered = "entered"

// order returns what the listing is sorted by.
func (l *Selection) order() (field string, down bool) {
	return strings.CutPrefix(l.Query.Text(params.Sort), "-")
}

// levels returns how the listing is divided. Rows of a view are in the order of its stored
// years, which the records may have in any type, so that lists by year are divided by those
// of the marks. Rows without a text to sort by come last in both directions.
func (l *Selection) levels() (all []level) {
	group := l.Query.Text(params.Group)
	field, down := l.order()
	if group != params.None {
		all = append(all, level{group, group != params.Year || field == params.Year && !down, true})
	}
	if field == params.Relevance || field == Entered {
		return all
	}
	if field != params.Year && field != group {
		all = append(all, level{field, !down, false})
	}
	if group != params.Year && (field == params.Year || field == params.Type) {
		all = append(all, level{params.Year, field == params.Year && !down, false})
	}
	return all
}

// rows yields up to limit rows of a part, all if it is 0, from an offset on: in the order of
// the listing. Rows with equal texts stay in the order of the view.
func (l *Selection) rows(ctx context.Context, part view.Selection, offset, limit int) iter.Seq2[index.Row, error] {
	field, down := l.order()
	order := raw.Sort{}
	switch field {
	case params.Relevance:
		return part.ByRelevance().Rows(ctx, offset, limit)
	case byTitle, byAuthor:
		order = append(order, raw.SortField{Path: raw.PathOf(paths[field]), Desc: down})
		if v, _ := rules.ViewNamed(l.View); v.Order != "" {
			order = append(order, raw.SortField{Path: raw.PathOf(v.Order), Desc: true})
		}
	case Entered: // of those on one day or at one time, what appeared last comes first
		order = append(order, raw.SortField{Path: raw.PathOf(mark.Entered), Desc: down}, raw.SortField{Path: raw.PathOf(mark.Year), Desc: down})
		fallthrough
	default:
		for _, path := range dayPaths[l.View] {
			order = append(order, raw.SortField{Path: raw.PathOf(path), Desc: down || field == params.Type})
		}
	}
	return part.By(order).Rows(ctx, offset, limit)
}

// dayPaths are the paths by which rows of one year are ordered, by view.
var dayPaths = map[string][]string{
	rules.ViewActivities: {"month", "day"}, rules.ViewProjects: {"start_date"}, rules.ViewEvents: {"start"},
}

// walk yields entries. It skips as many as are to be skipped without reading them.
type walk struct {
	*Selection
	skip, left int // left is negative without a limit
	position   int // of the last entry
	yield      func(Entry, error) bool
}

// Entries yields the entries of the page that is asked for; without a limit, all are on the
// first.
func (l *Selection) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		number, limit := l.Query.Number(params.Page), l.Query.Number(params.Limit)
		if limit == 0 && number > 1 {
			return
		}
		offset := (number - 1) * limit
		w := walk{l, offset, cmp.Or(limit, -1), offset, yield}
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

// entry yields a row, and reports whether more are wanted.
func (w *walk) entry(row index.Row, group string) bool {
	w.position++
	w.left--
	return w.yield(Entry{row, group, w.position}, nil) && w.left != 0
}

// below yields the entries of selected rows, and reports whether more are wanted.
func (w *walk) below(ctx context.Context, selected view.Selection, levels []level, group string) (more bool, err error) {
	if len(levels) == 0 {
		for row, err := range w.rows(ctx, selected, w.skip, max(w.left, 0)) {
			if err != nil || !w.entry(row, group) {
				return false, err
			}
		}
		w.skip = 0 // of the parts, those that are skipped whole are not read
		return true, nil
	}
	parts, err := w.parts(ctx, selected, levels[0])
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

// asGiven yields the selected records in the order of the ids that were asked for.
func (w *walk) asGiven(ctx context.Context, selected view.Selection) error {
	found := map[string]index.Row{}
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return err
		}
		found[IDText(row.Doc())] = row
	}
	for _, id := range w.Query[params.IDs] {
		row, ok := found[id]
		switch {
		case !ok:
		case w.skip > 0:
			w.skip--
		case !w.entry(row, ""):
			return nil
		}
	}
	return nil
}

// Size returns how many records and how many pages the listing has.
func (l *Selection) Size(ctx context.Context) (records, pages int, err error) {
	selected, err := l.Selected(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	records = selected.Count()
	entries, limit := records, max(l.Query.Number(params.Limit), 1)
	if l.Query.Text(params.Group) == params.Person {
		parts, err := l.parts(ctx, selected, level{name: params.Person})
		if err != nil {
			return 0, 0, err
		}
		entries = 0
		for _, p := range parts {
			entries += p.Count
		}
	}
	return records, max((entries+limit-1)/limit, 1), nil
}

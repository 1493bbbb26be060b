package api

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
)

// searchable configures a collection of /api/search.
type searchable struct {
	view     string
	columns  []string          // default columns, after the generated id; activities have those of /api/activities
	rendered bool              // values are rendered like those of projects, unless raw is present
	needed   access.Permission // without this permission callers find only their own records; empty if none is needed
	order    raw.Sort          // nil means the view's own order
}

// searches returns the collections by the last part of their path.
func searches() map[string]searchable {
	byYear := raw.Sort{{Path: raw.PathOf("year"), Desc: true}}
	return map[string]searchable{
		"proposals": {
			view: rules.ViewProposals, columns: []string{"name", "title", "type"}, rendered: true,
			needed: access.ProposalsView,
		},
		"projects": {
			view: rules.ViewProjects, columns: []string{"name", "title", "type"}, rendered: true,
			needed: access.ProjectsView,
		},
		"journals":   {view: rules.ViewJournals, columns: []string{"journal", "issn", "publisher"}},
		"persons":    {view: rules.ViewPersons, columns: []string{"first", "last", "username"}, order: byYear},
		"activities": {view: rules.ViewActivities},
		// Databases of OSIRIS have the name of a conference in title, but OSIRIS's own rows have name.
		"conferences": {view: rules.ViewEvents,
			columns: []string{"name", "title", "type", "start", "end", "location"}, order: byYear},
	}
}

// search returns the handler of a collection. The generated id leads every row. With aggregate the rows are groups
// (search_groups.go); with a column below an array they are elements of it; all other rows are records.
func (e *Env) search(of searchable) Handler {
	return func(_ context.Context, r Request) (response.Plan, error) {
		p := r.Params
		list := listing{view: of.view, filter: e.query.SearchFilter(p)}.ownOnly(e, r, of.needed)
		if of.view == rules.ViewActivities {
			list = e.activitiesOf(r, list.filter)
		}
		list = e.searched(list, r)
		list.page = p.Page()
		by, err := e.aggregation(p)
		if err != nil {
			return response.Plan{}, err
		}
		if by.field != "" {
			return by.plan(list), nil
		}
		list = e.sorted(list, r) // groups have an order of their own
		if of.view == rules.ViewActivities {
			return list.foundActivities(p, e.translator(p)), nil
		}
		row := recordRow{columns: p.StoredColumns(of.columns...)}
		if of.rendered {
			row.style = e.styleOf(p)
		}
		list.order = of.order
		return list.found(row, nil), nil
	}
}

// foundActivities plans rows of activities: those of /api/activities, or chosen columns, some of them rendered.
func (l listing) foundActivities(p query.Params, in *translator) response.Plan {
	rendered := slices.Concat(renderedColumns, []string{"editors", "supervisors"})
	row := recordRow{columns: p.Columns(rendered...), rendered: rendered}
	if len(row.columns) == 0 {
		return l.rows("activities"+in.key(), in.rows(activityRow))
	}
	return l.found(row, in)
}

// found plans rows of columns: records, or elements of the arrays that columns lead into.
func (l listing) found(row recordRow, in *translator) response.Plan {
	var paths []string
	for _, c := range row.columns {
		if !row.shows(c) {
			paths = append(paths, c.Name)
		}
	}
	if arrays := unwindingOf(paths...); len(arrays) > 0 {
		return l.unwound(row, arrays, in)
	}
	return l.rows("search "+row.key()+in.key(), in.rows(row.row))
}

// unwound plans the rows of unwound arrays, one for each element. It counts them first, then makes one after the
// other, because several large arrays in one record multiply.
func (l listing) unwound(row recordRow, arrays unwindPaths, in *translator) response.Plan {
	appendRow := func(dst []byte, r *unwoundRow) []byte {
		return row.appendFields(dst, in.translate(r.doc), r.field)
	}
	return l.plan("search "+row.key()+in.key(),
		func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
			count, err := arrays.count(ctx, selected.Rows(ctx, 0, 0))
			if err != nil {
				return nil, err
			}
			from, to := l.page.Cut(count)
			rows := func(ctx context.Context) iter.Seq2[*unwoundRow, error] {
				return arrays.each(ctx, selected.Rows(ctx, 0, 0), from, to)
			}
			b := response.Join(response.List(count, l.page), rows, appendRow)
			if l.page.Limit > 0 {
				b.Selected.Rows = response.Documents(rows)
			}
			for r, err := range arrays.each(ctx, selected.Rows(ctx, 0, 1), 0, 1) {
				// estimate the size of all rows by the first
				if err != nil {
					return nil, err
				}
				b.SizeHint = (to - from) * len(appendRow(nil, r)) / 2
			}
			return b, nil
		})
}

// maxUnwound is the most rows that unwinding may make. It bounds answers without a limit, which have all rows: a
// few large arrays in one record multiply to as many.
const maxUnwound = 20_000_000

// unwindPaths names arrays of a record. Unwinding makes a row for each combination of their elements, and none of a
// record that lacks one.
type unwindPaths []string

// unwindingOf returns the arrays that paths begin with. Only these fields are unwound: they are the arrays that the
// interface describes. Other arrays stay in one cell.
func unwindingOf(paths ...string) unwindPaths {
	var u unwindPaths
	for _, path := range paths {
		top, _, _ := strings.Cut(path, ".")
		switch top {
		case "authors", "editors", "supervisors", "persons", "collaborators", "topics", "metrics", "impact", "units":
			if !slices.Contains(u, top) {
				u = append(u, top)
			}
		}
	}
	return u
}

// unwoundRow is one of the rows that unwinding makes of a record. It is valid until the next step of the iterator.
type unwoundRow struct {
	arrays   unwindPaths
	doc      bson.Raw
	rows     int               // number of rows of the record
	elements [][]bson.RawValue // the values of each array in the rows
	number   int               // number of this row among those of the record, from 0
}

// field looks up a top-level field of the row. In place of an array it returns an element. The last array changes
// fastest: [a, b] and [1, 2] make the rows a1, a2, b1, b2.
func (r *unwoundRow) field(name string) bson.RawValue {
	rest := r.number
	for i, elements := range slices.Backward(r.elements) {
		if r.arrays[i] == name {
			return elements[rest%len(elements)]
		}
		rest /= len(elements)
	}
	return r.doc.Lookup(name)
}

// Doc returns the record.
func (r *unwoundRow) Doc() bson.Raw { return r.doc }

// read begins a record. It makes no row if an array is empty, null or missing, as in OSIRIS.
func (r *unwoundRow) read(doc bson.Raw, pace func() error) error {
	r.doc, r.rows = doc, 1
	for i, name := range r.arrays {
		r.elements[i] = r.elements[i][:0]
		array := doc.Lookup(name)
		for element := range elementsOf(array, true) {
			if raw.IsNone(array) || element.IsZero() {
				break
			}
			r.elements[i] = append(r.elements[i], element)
			if err := pace(); err != nil {
				return err
			}
		}
		// Bounded, because the product of several arrays could overflow; walk refuses far fewer.
		r.rows = min(r.rows*len(r.elements[i]), math.MaxInt32)
	}
	return nil
}

// elementsOf yields the values that unwinding puts in place of one: the elements of an array, nothing as the only
// value of an empty one, or the value itself if it is no array or is not unwound.
func elementsOf(v bson.RawValue, unwound bool) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		if !unwound || v.Type != bson.TypeArray {
			yield(v)
			return
		}
		empty := true
		for element := range raw.Elements(v) {
			if empty = false; !yield(element) {
				return
			}
		}
		if empty {
			yield(bson.RawValue{})
		}
	}
}

// walk makes rows of records, one at a time. It calls visit for the rows in [from, to), until visit returns false,
// and looks at the turn before each, because a record may make thousands. It returns the number of rows of the
// records read so far. More than maxUnwound rows are an error.
func (u unwindPaths) walk(ctx context.Context, records iter.Seq2[index.Row, error], from, to int,
	visit func(*unwoundRow) bool) (rows int, err error) {
	row, pace, turn := &unwoundRow{arrays: u,
		elements: make([][]bson.RawValue, len(u))}, fair.Pace(ctx), fair.TurnOf(ctx)
	for record, err := range records {
		if err == nil {
			err = row.read(record.Doc(), pace)
		}
		// Rows outside of the page are counted by multiplication alone and never made.
		begin := rows
		if rows += row.rows; rows > maxUnwound && err == nil {
			err = rules.Wrongf("columns", "", "make more than %d rows of the records found", maxUnwound)
		}
		for i := max(from-begin, 0); err == nil && i < min(row.rows, to-begin); i++ {
			if err = turn.Check(ctx); err != nil {
				break
			}
			if row.number = i; !visit(row) {
				return rows, nil
			}
		}
		if err != nil || rows >= to {
			return rows, err
		}
	}
	return rows, nil
}

// count returns the number of rows of all records.
func (u unwindPaths) count(ctx context.Context, records iter.Seq2[index.Row, error]) (int, error) {
	return u.walk(ctx, records, math.MaxInt, math.MaxInt, nil) // visits no row
}

// each yields the rows in [from, to), and the error of walk.
func (u unwindPaths) each(ctx context.Context, records iter.Seq2[index.Row, error], from,
	to int) iter.Seq2[*unwoundRow, error] {
	return func(yield func(*unwoundRow, error) bool) {
		if _, err := u.walk(ctx, records, from, to, func(row *unwoundRow) bool { return yield(row, nil) }); err !=
			nil {
			yield(nil, err)
		}
	}
}

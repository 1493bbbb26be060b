package selection

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/mark"
)

// Question is what a request asks of a list.
type Question struct {
	Reader query.Reader
	Labels label.Sets
	Public *filter.Filter // the rows that lists show

	View     string
	Where    *filter.Filter // the rows of the list
	Kind, ID string         // a parameter and its value that all rows have; empty: none
	Query    params.Query   // all parameters that are in force
	Sorted   bool           // an order was asked for
}

// Selection is the rows of a snapshot that a question asks for. It is for one goroutine.
type Selection struct {
	Question
	Snap   *view.Snapshot
	always *filter.Filter            // applies to every facet
	chosen map[string]*filter.Filter // the filters of Query by parameter; a facet does without its own
	whole  view.Selection            // all selected rows, once Selected has found them
}

// On returns the selection of the rows of a snapshot.
func (q Question) On(snap *view.Snapshot) (l *Selection, err error) {
	l = &Selection{Question: q, Snap: snap, chosen: map[string]*filter.Filter{}}
	if q.Kind != "" {
		l.always, err = q.Reader.Compile(l.among(q.Kind, []string{q.ID}), "")
	}
	for _, name := range append(params.Filters(), params.IDs, params.Exclude) {
		if values := q.Query[name]; len(values) > 0 && err == nil {
			l.chosen[name], err = q.Reader.Compile(l.among(name, values), name)
		}
	}
	l.always = filter.And(q.Public, q.Where, l.always)
	return l, err
}

// pathOf is where marks have what a filter compares.
func (l *Selection) pathOf(name string) string {
	if name == params.Unit && l.Query.Flag(params.Deep) {
		return mark.In
	}
	return paths[name]
}

// among selects the rows with one of some values of a filter.
func (l *Selection) among(name string, values []string) bson.D {
	switch name {
	case params.Year:
		return years(values)
	case params.IDs:
		return IDs("$in", values)
	case params.Exclude:
		return IDs("$nin", values)
	}
	one := bson.D{{Key: l.pathOf(name), Value: bson.D{{Key: "$in", Value: values}}}}
	if name != params.Person || !slices.ContainsFunc(values, func(v string) bool { return mark.NormalORCID(v) == v }) {
		return one
	}
	return bson.D{{Key: "$or", Value: bson.A{one, bson.D{{Key: mark.ORCID, Value: bson.D{{Key: "$in", Value: values}}}}}}}
}

// years selects the rows of years and ranges of them.
func years(values []string) bson.D {
	var any bson.A
	for _, value := range values {
		if value == params.Missing {
			any = append(any, bson.D{{Key: mark.Year, Value: nil}})
			continue
		}
		from, to, _ := params.Years(value) // checked when it was read
		any = append(any, bson.D{{Key: mark.Year, Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lte", Value: to}}}})
	}
	return bson.D{{Key: "$or", Value: any}}
}

// Selected selects the rows of the listing, as if a filter were not chosen.
func (l *Selection) Selected(ctx context.Context, except string) (view.Selection, error) {
	whole := l.chosen[except] == nil
	if whole && l.whole != nil {
		return l.whole, nil // for another facet
	}
	filters := []*filter.Filter{l.always}
	for name, chosen := range l.chosen {
		if name != except {
			filters = append(filters, chosen)
		}
	}
	selected, err := l.Snap.Select(ctx, filter.And(filters...))
	if terms := fold.Terms(l.Query.Text(params.Words)); err == nil && len(terms) > 0 {
		selected, err = selected.Search(ctx, terms)
	}
	if whole && err == nil {
		l.whole = selected
	}
	return selected, err
}

// Held is about how many bytes the rows hold while their entries are read: the sets of the
// selection, and of a part on each level. Of views in the store it is not known.
func (l *Selection) Held() int64 {
	rows, resident := l.Snap.Resident()
	if !resident {
		return 0
	}
	sets := 2 + len(l.levels()) + len(fold.Terms(l.Query.Text(params.Words)))
	return int64(sets*rows.Len()/8) + 4*int64(min(l.whole.Count(), index.SortAlone))
}

// IDText is the _id of a row as URLs have it.
func IDText(row bson.Raw) string { return ejson.IDText(row.Lookup("_id")) }

// IDs selects records by their _id, which URLs have as text whatever its type is.
func IDs(operator string, texts []string) bson.D {
	var all bson.A
	for _, text := range texts {
		all = append(all, text) // of 24 hexadecimal digits, the ObjectID as well
		doc, err := ejson.Parse([]byte(`{"_id":`+text+`}`), ejson.Options{})
		if v := doc.Lookup("_id"); err == nil && v.Type != bson.TypeRegex && ejson.IDText(v) == text { // what else an _id may be
			all = append(all, v)
		}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: operator, Value: all}}}}
}

// Values of params.Sort that are texts, as readers see them.
const byTitle, byAuthor = "title", "author"

// paths are where marks have what facets count, filters compare and rows are sorted by.
var paths = map[string]string{
	params.Year: mark.Year, params.Type: mark.Type, params.Subtype: mark.Subtype, params.Unit: mark.Unit,
	params.Person: mark.Person, params.Project: mark.Project, params.Topic: mark.Topic,
	byTitle: mark.ByTitle, byAuthor: mark.ByAuthor,
}

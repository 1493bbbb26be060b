package selection

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/label"
	"vitrine/rules/mark"
)

// Question describes the rows that a request selects from a list. It is immutable, and has no snapshot: a plan asks
// it again for each one.
type Question struct {
	Labels label.Sets
	Public *filter.Filter // selects the rows that lists show

	View     string
	Where    *filter.Filter // selects the rows of the list
	Kind, ID string         // a parameter and its value that all rows have; empty if there is none
	Fixed    params.Query   // selectors of the configuration, which hold beside those of Query
	Query    params.Query   // all effective parameters: the frame of the request and what its reader chose
	Sorted   bool           // the request specifies an order
	Year     int            // the calendar year, for values of params.Year such as last3
}

// Matches are the rows of a snapshot that a Question selects. Only one goroutine may use them. What one method
// counts is kept for the others, so that a list, its facets and its number of pages need few passes over the rows.
type Matches struct {
	Question
	snap     *view.Snapshot
	frame    params.Query              // the selectors of Query within which readers narrow the list
	narrowed params.Query              // what the reader chose, under the names of selectors
	always   *filter.Filter            // applies to every facet: the list and its frame
	chosen   map[string]*filter.Filter // the filters of narrowed by parameter; a facet ignores its own
	searches [][]string                // terms of words to search: those of the frame, then those of the reader
	whole    view.Selection            // all selected rows, once Selected has found them
	filter   *filter.Filter            // that has found whole
	counts   map[string][]index.Group  // the facets of whole by path

	// What together has counted, for a view in the store.
	entries  bool             // the answer shows entries
	counting []string         // names of the facets that the answer shows
	dividing []string         // names of filters by whose values it counts rows
	others   map[string]under // facets in which the reader has chosen values
	combined []index.Group    // by the combinations of values by which the list is divided; nil if not known
	outer    []index.Group    // by the values of the outermost level
	parted   []leaf           // made from combined
}

// On returns the matching rows of a snapshot. It reads nothing yet. The names of parameters are the origins of
// their filters, by which an explanation says what excludes a record (filter.As).
func (q Question) On(snap *view.Snapshot) *Matches {
	m := &Matches{
		Question: q, snap: snap, frame: q.Query.Frame(), narrowed: q.Query.Choices(), always: q.ofList(),
		chosen: map[string]*filter.Filter{}, counts: map[string][]index.Group{}, others: map[string]under{},
	}
	for _, name := range params.Framing() {
		if framed := m.having(m.frame, name); framed != nil {
			m.always = filter.And(m.always, framed.As(name))
		}
		if chosen := m.having(m.narrowed, name); chosen != nil {
			m.chosen[name] = chosen.As(params.And(name))
		}
	}
	return m
}

// having is among for all selectors and words. Words that are no DOI become terms to search. It returns nil for
// what is no filter.
func (m *Matches) having(given params.Query, name string) *filter.Filter {
	if name != params.Words {
		return m.among(given, name)
	}
	words := given.Text(name)
	if doi := params.DOI(words); doi != "" {
		return filter.OneOf(mark.DOI, doi)
	}
	if terms := cite.Terms(words); len(terms) > 0 {
		m.searches = append(m.searches, terms)
	}
	return nil
}

// ofList returns the filter for the rows of the list, or of an item's page, that lists show.
func (q Question) ofList() *filter.Filter {
	from := "the list"
	if q.Kind == params.IDs {
		from = "the path"
	}
	return filter.And(q.Public, q.Own().As(from))
}

// Own returns the filter for the rows of the list, whether or not lists show them: Lists.Diff compares by it.
func (q Question) Own() *filter.Filter {
	own := q.Where
	if q.Kind != "" {
		own = filter.And(own, q.among(q.Query.With(q.Kind, q.ID), q.Kind))
	}
	for _, name := range params.Selectors() {
		own = filter.And(own, q.among(q.Fixed, name))
	}
	return own
}

// pathOf returns the path in marks that a filter of a query compares.
func pathOf(q params.Query, name string) string {
	if name == params.Unit && q.Flag(params.Deep) {
		return mark.In
	}
	return paths[name]
}

// among returns a filter for the rows that a selector of a query selects, or nil if the query does not have it.
// Values of one selector are alternatives. Deep selects nothing by itself; it changes the path of Unit.
func (q Question) among(given params.Query, name string) *filter.Filter {
	values := given[name]
	not, excludes := strings.CutPrefix(name, params.Not(""))
	switch {
	case len(values) == 0 || name == params.Deep:
		return nil
	case excludes:
		return filter.Not(q.among(given.With(not, values...), not))
	case name == params.Year:
		return q.years(values)
	case name == params.IDs:
		return IDs(values...)
	case name == params.Exclude:
		return filter.Not(IDs(values...))
	}
	// An ORCID stands under a path of its own in marks, beside the username.
	one := oneOf(pathOf(given, name), values)
	isORCID := func(v string) bool { return identifier.FindORCID(v) == v }
	if name != params.Person || !slices.ContainsFunc(values, isORCID) {
		return one
	}
	return filter.Or(one, oneOf(mark.ORCID, values))
}

func oneOf(path string, texts []string) *filter.Filter {
	values := make([]any, len(texts))
	for i, text := range texts {
		values[i] = text
	}
	return filter.OneOf(path, values...)
}

// years returns the filter for rows in any of some years and ranges.
func (q Question) years(values []string) *filter.Filter {
	var ranges []*filter.Filter
	for _, value := range values {
		if value == params.Missing {
			ranges = append(ranges, without(params.Year))
			continue
		}
		from, to, _ := params.Years(params.Calendar(value, q.Year)) // Parse has checked the value
		// Years in marks are 32-bit integers, whatever the record has.
		ranges = append(ranges, filter.And(filter.Compared(mark.Year, filter.Gte, int32(from)),
			filter.Compared(mark.Year, filter.Lte, int32(to))))
	}
	return filter.Or(ranges...)
}

// without returns the filter for rows without a value. Equality with null is true for a missing field, as in
// MongoDB.
func without(name string) *filter.Filter { return filter.OneOf(paths[name], nil) }

// Selected selects the rows of the listing, ignoring the filter of one parameter unless except is "". The selection
// of all filters is made once, and in a store after together has counted what the list needs.
func (m *Matches) Selected(ctx context.Context, except string) (selected view.Selection, err error) {
	whole := m.chosen[except] == nil
	if whole && m.whole != nil {
		return m.whole, nil // except is a parameter without a filter
	}
	count := view.Uncounted
	if _, resident := m.snap.Resident(); whole && !resident {
		if count, err = together(ctx, m); err != nil {
			return nil, err
		}
	}
	f := filter.And(m.always, m.under(except))
	selected, err = m.snap.Search(ctx, f, count, m.searches...)
	if whole && err == nil {
		m.whole, m.filter = selected, f
	}
	return selected, err
}

// Filter returns the filter and the terms of each search by which Selected has found the rows of the listing. The
// filter is nil before.
func (m *Matches) Filter() (f *filter.Filter, searches [][]string) { return m.filter, m.searches }

// Missing returns the requested ids that no public record of the list has, in order, hidden records like unknown
// ones.
func (m *Matches) Missing(ctx context.Context) ([]string, error) {
	ids := slices.Clone(m.Query.Order())
	if len(ids) == 0 {
		return nil, nil
	}
	there, err := m.snap.SelectUncounted(ctx, filter.And(m.ofList(), IDs(ids...)))
	if err != nil {
		return nil, err
	}
	for row, err := range there.Only("_id").Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		// An id in another spelling than that of URLs counts as missing.
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == IDText(row.Doc()) })
	}
	return ids, nil
}

// Memory estimates the bytes of the sets and the order in memory while entries are read, 0 for views in the store.
// A set has a bit for each row of the view: one for each level, each term and two for the filters.
func (m *Matches) Memory() int64 {
	// A store holds the sets and the order itself.
	rows, resident := m.snap.Resident()
	if !resident {
		return 0
	}
	sets := 2 + len(m.levels()) + len(slices.Concat(m.searches...))
	return int64(sets*rows.Len()/8) + index.SortBytes*int64(min(m.whole.Count(), index.SortAlone))
}

// IDText returns the _id of a row in the form that URLs have.
func IDText(row bson.Raw) string { return ejson.IDText(row.Lookup("_id")) }

// IDs returns a filter for records by their _id, which URLs have as text for every type: 17 may be a text or a
// number, and 24 hexadecimal digits a text or an ObjectID. A regular expression is no value to compare.
func IDs(texts ...string) *filter.Filter {
	var all []any
	for _, text := range texts {
		all = append(all, text)
		if id, err := bson.ObjectIDFromHex(text); err == nil {
			all = append(all, id)
		}
		// The text may be another _id in extended JSON, such as a number or a UUID. It counts only in the spelling
		// of URLs.
		doc, err := ejson.Parse([]byte(`{"_id":`+text+`}`), ejson.Options{})
		if v := doc.Lookup("_id"); err == nil && v.Type != bson.TypeRegex && ejson.IDText(v) == text {
			all = append(all, v)
		}
	}
	return filter.OneOf("_id", all...)
}

// Values of params.Sort that name a text of the rows.
const byTitle, byAuthor = "title", "author"

// paths are the paths in marks by which facets count, filters compare and rows are sorted.
var paths = map[string]string{
	params.Year: mark.Year, params.Type: mark.Type, params.Subtype: mark.Subtype, params.Unit: mark.Unit,
	params.Person: mark.Person, params.Project: mark.Project, params.Topic: mark.Topic,
	params.Keyword: mark.Keyword, params.OA: mark.OA,
	byTitle: mark.ByTitle, byAuthor: mark.ByAuthor,
}

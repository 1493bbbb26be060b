package selection

import (
	"context"
	"slices"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/suggest"
)

// Values replaces the labels that pages show by the values that records have, and finds values that no record has. It
// knows the values of public rows alone, so that it suggests no others. It is safe for concurrent use.
//
//	unit=Moth Ecology     unit=MOTH                 a label in any language, compared by fold.Key
//	type=LECTURE          type=lecture              a value wins over a label
//	person=Moe, Anna      person=amoe,moe2          several values have the label; its comma separates two texts
//	unit=MOHT             unit=MOHT, unknown        selects nothing
//
// What it knows of a view it reads once for each snapshot, when the first request needs it.
type Values struct {
	labels label.Sets
	public *filter.Filter // selects the rows that lists show

	tables Tables[table] // by parameter
}

// NewValues returns Values for the rows that a filter selects. labels has the labels of types and subtypes; it may
// be nil. It reads nothing.
func NewValues(labels label.Sets, public *filter.Filter) *Values {
	return &Values{labels: labels, public: public}
}

// mostSuggested bounds the unknown values of a query for which Resolve looks for a near one. Each takes a
// comparison with thousands of words.
const mostSuggested = 3

// labelled are the filters whose values Resolve looks up, each with the parameters that have them.
var labelled = func() (all [][]string) {
	for _, name := range params.Filters() {
		if name != params.Year && name != params.OA { // Parse knows all their values
			not := params.Not(name)
			all = append(all, []string{name, not, params.And(name), params.And(not)})
		}
	}
	return all
}()

// Compares reports whether queries have a value that Resolve looks up. uncertain says that a list may have rows
// though no row has the value: it is one of several, or excludes.
func Compares(queries ...params.Query) (compares, uncertain bool) {
	for _, q := range queries {
		for _, names := range labelled {
			for i, name := range names {
				n, excludes := len(q[name]), i%2 == 1
				compares = compares || n > 0
				uncertain = uncertain || n > 1 || n > 0 && excludes
			}
		}
	}
	return compares, uncertain
}

// Resolve returns a query with the values that rows of a snapshot have in place of their labels, and the values that
// no public row has, which stay, each with the nearest value or label that some row has. It returns the query itself
// if it has no labels.
func (v *Values) Resolve(
	ctx context.Context, snap *view.Snapshot, q params.Query,
) (resolved params.Query, unknown []query.Unknown, err error) {
	// A Query is immutable, and With copies it.
	resolved = q
	for _, names := range labelled {
		for _, name := range names {
			if len(q[name]) == 0 {
				continue
			}
			t, err := v.table(ctx, snap, names[0])
			if err != nil {
				return nil, nil, err
			}
			values, strange := t.resolve(q[name])
			if !slices.Equal(values, q[name]) {
				resolved = resolved.With(name, values...)
			}
			for _, value := range strange {
				one := query.Unknown{Param: name, Value: value}
				if len(unknown) < mostSuggested {
					if one.Near, err = t.near(ctx, value); err != nil {
						return nil, nil, err
					}
				}
				unknown = append(unknown, one)
			}
		}
	}
	return resolved, unknown, nil
}

// Named returns the values of a filter for which a text stands that is none itself: those in any of some snapshots
// that have its key, or else the label. They are sorted.
func (v *Values) Named(ctx context.Context, snaps []*view.Snapshot, name, text string) ([]string, error) {
	var alike, labelled []string
	key := fold.Key(text)
	for _, snap := range snaps {
		t, err := v.table(ctx, snap, name)
		if err != nil {
			return nil, err
		}
		alike, labelled = append(alike, t.keys[key]...), append(labelled, t.labels[key]...)
	}
	// A value in another case wins over a label, as in requests.
	if len(alike) == 0 {
		alike = labelled
	}
	slices.Sort(alike)
	return slices.Compact(alike), nil
}

// Near returns the value of a filter in a snapshot, or the label, that is nearest to an unknown text, or "".
func (v *Values) Near(ctx context.Context, snap *view.Snapshot, name, text string) (string, error) {
	t, err := v.table(ctx, snap, name)
	if err != nil {
		return "", err
	}
	return t.near(ctx, text)
}

// table returns the values of a filter in a snapshot. One request makes them in its turn; concurrent requests wait
// without theirs, and one of them makes them if that request leaves.
func (v *Values) table(ctx context.Context, snap *view.Snapshot, name string) (*table, error) {
	return v.tables.Of(ctx, snap, name, func() (*table, error) { return v.read(ctx, snap, name) })
}

// table has the values of a filter that public rows of a snapshot have, and texts that stand for them. It is
// immutable. The zero table takes every text for a value.
type table struct {
	values map[string]bool
	keys   map[string][]string // values by their own key
	labels map[string][]string // values by the key of a label
	words  []string            // values and labels, to suggest one

	phrases  []string        // the fold.Key of each value or label of several words, sorted
	commas   map[string]bool // the phrases that are written with a comma
	keywords bool            // values are compared by keyword.Key
}

// Bounds of a table: its values, beyond which it is zero; the words with which it compares an unknown text; and the
// bytes of such a word.
const mostTabled, mostWords, longestWord = 50_000, 5_000, 100

// add adds a text that stands for a value.
func add(to map[string][]string, text, value string) {
	key := fold.Key(text)
	if key != "" && !slices.Contains(to[key], value) {
		to[key] = append(to[key], value)
	}
}

// of returns the values for which a text stands, or none: the text itself if it is a value, or else values that
// differ from it in case or accents, or else those of a label.
func (t *table) of(text string) []string {
	if t.values == nil || t.values[text] {
		return []string{text}
	}
	key := fold.Key(text)
	if same := t.keys[key]; len(same) > 0 {
		return same
	}
	return t.labels[key]
}

// resolve returns the values for which texts stand, sorted, and with them the texts that are unknown.
func (t *table) resolve(texts []string) (values, unknown []string) {
	found := make([][]string, len(texts))
	for i, text := range texts {
		found[i] = t.of(text)
	}
	values, used := t.joined(texts, found)
	for i, text := range texts {
		switch {
		case used[i]:
		case len(found[i]) > 0:
			values = append(values, found[i]...)
		default:
			values, unknown = append(values, text), append(unknown, text)
		}
	}
	slices.Sort(values)
	return slices.Compact(values), unknown
}

// near returns the value or label that is nearest to an unknown text, or "". It checks its turn often, because a
// comparison takes time with the square of a text.
func (t *table) near(ctx context.Context, text string) (best string, err error) {
	for words := range slices.Chunk(t.words, 16) {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return "", err
		}
		// The best so far competes with the next words; an empty one never wins.
		best = suggest.Near(text, append([]string{best}, words...))
	}
	return best, nil
}

package view

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"strings"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Trace records how an answer selects rows of a snapshot, and why one row is or is not among them. The answer writes
// to the trace in its context: see SelectTraced, FirstTraced and Listed.
type Trace struct {
	Record *filter.Filter // selects the row in question; nil if there is none

	Views    []string  // where the row was looked up
	Snapshot *Snapshot // that the answer selects from; the first that has the row if there are several
	Row      bson.Raw  // the row in question; nil if Snapshot does not have it
	Selected *Selected // nil if the answer is not made from a selection

	listed, shown atomic.Bool // rows, and the row in question
}

// Selected describes the selection of an answer.
type Selected struct {
	Rows    int      `json:"rows"`
	Of      int      `json:"of"`
	Clauses []Clause `json:"clauses"` // the conditions that all selected rows satisfy
	Has     bool     `json:"has"`     // the row in question is selected
}

// Clause is a condition on rows, and what it found of the row in question.
type Clause struct {
	Clause  string   `json:"clause"`
	From    string   `json:"from,omitempty"` // the parameter, setting or permission that it comes from
	How     string   `json:"how,omitempty"`  // how it was evaluated; empty if the others had decided
	Rows    int      `json:"rows"`
	Of      int      `json:"of"` // the rows that it was evaluated on
	Millis  float64  `json:"ms"`
	Path    string   `json:"path,omitempty"`
	Values  []string `json:"values,omitempty"`  // what the row has at the path, as Extended JSON
	Holds   *bool    `json:"holds,omitempty"`   // nil without a row
	Error   string   `json:"error,omitempty"`   // why it could not decide
	Clauses []Clause `json:"clauses,omitempty"` // the conditions that it combines

	Node filter.Node `json:"-"`
}

type traceKey struct{}

// With returns a context in which an answer writes to the trace.
func (t *Trace) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// ResetTrace empties the trace in a context, if there is one, for an answer that selects anew.
func ResetTrace(ctx context.Context) {
	if t := traceOf(ctx); t != nil {
		t.Views, t.Selected = nil, nil
	}
}

func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// On looks the row in question up in a snapshot, unless an answer has selected from one.
func (t *Trace) On(ctx context.Context, s *Snapshot) error {
	if t.Selected != nil {
		return nil
	}
	_, err := t.find(ctx, s)
	return err
}

// find looks the row in question up. It keeps the snapshot of an earlier call unless only this one has the row.
func (t *Trace) find(ctx context.Context, s *Snapshot) (row index.Row, err error) {
	if t.Record != nil {
		found, err := s.Select(ctx, t.Record)
		if err != nil {
			return row, err
		}
		for row, err = range found.Rows(ctx, 0, 1) {
			if err != nil {
				return row, err
			}
			t.Row = row.Doc()
		}
	}
	if t.Views = append(t.Views, s.meta.View); t.Snapshot == nil || t.Row != nil {
		t.Snapshot = s
	}
	return row, nil
}

// SelectTraced selects the rows of an answer by a filter and by the terms of each search. It writes to the
// trace in the context, if there is one: the first selection counts, or the first from a snapshot that has the row in
// question.
func (s *Snapshot) SelectTraced(ctx context.Context, f *filter.Filter,
	searches ...[]string) (selected Selection, err error) {
	t := traceOf(ctx)
	if t == nil || t.Selected != nil && (t.Record == nil || t.Row != nil) {
		return s.search(ctx, f, searches)
	}
	steps := &index.Trace{}
	if steps.Row, err = t.find(ctx, s); err != nil {
		return nil, err
	}
	if selected, err = s.search(steps.With(ctx), f, searches); err != nil || t.Snapshot != s {
		return selected, err
	}
	r := &Selected{Of: s.Len(), Rows: selected.Count()}
	if t.Row != nil {
		has, err := selected.Narrow(ctx, t.Record, Uncounted)
		if err != nil {
			return nil, err
		}
		r.Has = has.Count() > 0
	}
	for _, n := range f.Conditions() {
		r.Clauses = append(r.Clauses, ClauseOf(n, t.Row, fair.Backtracking(ctx), func(c *Clause) {
			c.From = f.Origin(c.Node)
			s.evaluated(c, steps, c.Node)
		}))
	}
	for _, terms := range searches {
		for i, term := range terms {
			if term != "" {
				c := s.term(t.Row, term, i == len(terms)-1)
				s.evaluated(&c, steps, term)
				r.Clauses = append(r.Clauses, c)
			}
		}
	}
	t.Selected = r
	return selected, nil
}

// SelectSized is SelectTraced for callers that know the number of rows: a view in the store is not asked to count.
func (s *Snapshot) SelectSized(
	ctx context.Context, f *filter.Filter, count int, searches ...[]string,
) (Selection, error) {
	if rows, ok := s.rows.(*storedRows); ok && traceOf(ctx) == nil {
		return rows.search(ctx, f, searches, count)
	}
	return s.SelectTraced(ctx, f, searches...)
}

// SelectUncounted selects rows for callers that do not need Count, by a filter and by the terms of each search. A
// view in the store is not asked to count. It does not write to a trace.
func (s *Snapshot) SelectUncounted(ctx context.Context, f *filter.Filter, searches ...[]string) (Selection, error) {
	if rows, ok := s.rows.(*storedRows); ok {
		return rows.search(ctx, f, searches, rows.size)
	}
	return s.search(ctx, f, searches)
}

// search selects rows by a filter and by the terms of each search.
func (s *Snapshot) search(ctx context.Context, f *filter.Filter, searches [][]string) (Selection, error) {
	if rows, ok := s.rows.(*storedRows); ok {
		return rows.search(ctx, f, searches, Uncounted)
	}
	selected, err := s.Select(ctx, f)
	for i := 0; i < len(searches) && err == nil; i++ {
		if len(searches[i]) > 0 {
			selected, err = selected.Search(ctx, searches[i])
		}
	}
	return selected, err
}

// FirstTraced is First for an answer made of one row, see SelectTraced.
func (s *Snapshot) FirstTraced(ctx context.Context, f *filter.Filter) (bson.Raw, error) {
	if traceOf(ctx) == nil {
		return s.First(ctx, f) // which need not count
	}
	selected, err := s.SelectTraced(ctx, f)
	if err != nil {
		return nil, err
	}
	return first(ctx, selected)
}

// ClauseOf describes a condition, and matches it with a row unless that is nil. more, if it is not nil, adds to it
// and to its parts.
func ClauseOf(n filter.Node, row bson.Raw, budget *pcre.Budget, more func(*Clause)) Clause {
	c := Clause{Clause: strings.ReplaceAll(filter.Text(n), rules.FieldList+".", ""), Node: n}
	c.Path, c.Values = filter.Values(n, row)
	if row != nil {
		if holds, err := filter.Match(n, row, budget); err != nil {
			c.Error = err.Error()
		} else {
			c.Holds = &holds
		}
	}
	if more != nil {
		more(&c)
	}
	for _, part := range filter.Parts(n) {
		c.Clauses = append(c.Clauses, ClauseOf(part, row, budget, more))
	}
	return c
}

// evaluated adds to a clause how it, or its term, was evaluated. For rows in the store it says how the store takes
// part.
func (s *Snapshot) evaluated(c *Clause, steps *index.Trace, of any) {
	if step, known := steps.Steps[of]; known {
		c.How, c.Rows, c.Of, c.Millis = step.How, step.Rows, step.Of, float64(step.Took.Microseconds())/1000
		c.Holds = cmp.Or(step.Has, c.Holds)
	} else if _, resident := s.Resident(); !resident && c.Node != nil {
		query, exact := filter.Query(c.Node, HiddenField)
		switch {
		case exact:
			c.How = "the store"
		case len(query) <= raw.MinDocument:
			c.How = "rows one by one"
		default:
			c.How = "the store, then rows one by one"
		}
	}
}

// term describes a search term; the last one stands for all words that begin with it.
func (s *Snapshot) term(row bson.Raw, term string, last bool) Clause {
	c := Clause{Clause: "has the word " + term, From: "q"}
	alone := []string{term, ""}
	if last {
		c.Clause, alone = "has a word that begins with "+term, alone[:1]
	}
	if row != nil {
		_, has := s.definition().Match(row, alone)
		c.Holds = &has
	}
	return c
}

// definition returns the definition of the view.
func (s *Snapshot) definition() *index.Definition {
	if table, resident := s.Resident(); resident {
		return table.Definition()
	}
	return s.rows.(*storedRows).def
}

// Listed returns the rows that an answer lists. It records in the trace in the context whether the row in question is
// among those that the caller has read.
func Listed[T interface{ Doc() bson.Raw }](ctx context.Context, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	t := traceOf(ctx)
	if t == nil {
		return rows
	}
	t.listed.Store(true)
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if err == nil && t.Row != nil && bytes.Equal(row.Doc().Lookup("_id").Value, t.Row.Lookup("_id").Value) {
				t.shown.Store(true)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// Shown reports whether the answer lists rows, and whether the row in question is among those read so far.
func (t *Trace) Shown() (listed, shown bool) { return t.listed.Load(), t.shown.Load() }

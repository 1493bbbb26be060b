package view

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Trace records how an answer selects rows of a snapshot, and why one row is or is not among them.
type Trace struct {
	index.Trace
	Record *filter.Filter // selects the row in question; nil if there is none

	Selected *Selected // nil if the answer is not made from a selection
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
	Clause string            `json:"clause"`
	From   string            `json:"from,omitempty"` // the parameter, setting or permission that it comes from
	How    string            `json:"how,omitempty"`  // how it was evaluated; empty if the others had decided
	Rows   int               `json:"rows"`
	Of     int               `json:"of"` // the rows that it was evaluated on
	Millis float64           `json:"ms"`
	Path   string            `json:"path,omitempty"`
	Values []json.RawMessage `json:"values,omitempty"` // what the row has at the path
	Holds  *bool             `json:"holds,omitempty"`  // nil without a row
	Error  string            `json:"error,omitempty"`  // why it could not decide
	// Kind is and, or and not for a condition on others, Clauses.
	Kind    string   `json:"kind,omitempty"`
	Clauses []Clause `json:"clauses,omitempty"`

	Node filter.Node `json:"-"`
}

type traceKey struct{}

// With returns a context in which an answer reports its selection to the trace. It looks the row in question up.
func (t *Trace) With(ctx context.Context, s *Snapshot) (context.Context, error) {
	if t.Record != nil {
		found, err := s.Select(ctx, t.Record)
		if err != nil {
			return nil, err
		}
		for t.Row, err = range found.Rows(ctx, 0, 1) {
			if err != nil {
				return nil, err
			}
			t.Found = true
		}
	}
	return context.WithValue(t.Trace.With(ctx), traceKey{}, t), nil
}

// Report reports the selection by a filter, then by search terms, to the trace in the context. If selected is nil, Report
// selects. It does nothing without a trace, or if an answer has reported a selection before.
func (s *Snapshot) Report(ctx context.Context, f *filter.Filter, terms []string, selected Selection) (err error) {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	if t == nil || t.Selected != nil {
		return nil
	}
	if selected == nil {
		if selected, err = s.Select(ctx, f); err != nil {
			return err
		}
	}
	r := &Selected{Of: s.Len(), Rows: selected.Count()}
	if t.Found {
		if selected, err = selected.Narrow(ctx, t.Record, Uncounted); err != nil {
			return err
		}
		r.Has = selected.Count() > 0
	}
	var doc bson.Raw
	var verdicts map[filter.Node]filter.Verdict
	if t.Found {
		doc = t.Row.Doc()
		verdicts = filter.Verdicts(f.Root(), doc, fair.Backtracking(ctx))
	}
	root := ClauseOf(f.Root(), doc, verdicts, func(c *Clause) {
		c.From = f.Origin(c.Node)
		s.evaluated(c, t.Step(c.Node))
	})
	if r.Clauses = root.Clauses; root.Kind != "and" {
		r.Clauses = []Clause{root}
	}
	for i, term := range terms {
		if term != "" {
			r.Clauses = append(r.Clauses, s.term(t, term, i == len(terms)-1))
		}
	}
	t.Selected = r
	return nil
}

// ClauseOf describes a condition by the verdicts of a tree on a row. more, if it is not nil, adds to it and to its parts.
func ClauseOf(n filter.Node, doc bson.Raw, verdicts map[filter.Node]filter.Verdict, more func(*Clause)) Clause {
	c := Clause{Clause: strings.ReplaceAll(filter.Text(n), rules.FieldList+".", ""), Node: n}
	c.Path, c.Values = ValuesOf(n, doc)
	if v, known := verdicts[n]; known && v.Err != nil {
		c.Error = v.Err.Error()
	} else if known {
		c.Holds = &v.Holds
	}
	if more != nil {
		more(&c)
	}
	var parts []filter.Node
	switch n := n.(type) {
	case *filter.AndNode:
		c.Kind, parts = "and", n.Nodes
	case *filter.OrNode:
		c.Kind, parts = "or", n.Nodes
	case *filter.NotNode:
		c.Kind, parts = "not", []filter.Node{n.Node}
	}
	for _, part := range parts {
		c.Clauses = append(c.Clauses, ClauseOf(part, doc, verdicts, more))
	}
	return c
}

// ValuesOf returns the path of a condition and the first values of a document there, as Extended JSON.
func ValuesOf(n filter.Node, doc bson.Raw) (path string, all []json.RawMessage) {
	const most = 10
	path, values := filter.Values(n, doc, most)
	for _, v := range values {
		text := filter.ValueText(v)
		if !json.Valid([]byte(text)) { // it was cut
			text = string(ejson.AppendString(nil, text))
		}
		all = append(all, json.RawMessage(text))
	}
	return path, all
}

// evaluated adds to a clause how it was evaluated. For rows in the store it says how the store takes part.
func (s *Snapshot) evaluated(c *Clause, step *index.Step) {
	if step != nil {
		c.How, c.Rows, c.Of, c.Millis = step.How, step.Rows, step.Of, float64(step.Took.Microseconds())/1000
		c.Holds = cmp.Or(step.Has, c.Holds)
	} else if _, resident := s.Resident(); !resident && c.Node != nil {
		query, exact := filter.Query(c.Node, hiddenField)
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
func (s *Snapshot) term(t *Trace, term string, last bool) Clause {
	c := Clause{Clause: "has the word " + term, From: "q"}
	alone := []string{term, ""}
	if last {
		c.Clause, alone = "has a word that begins with "+term, alone[:1]
	}
	if t.Found {
		_, has := s.definition().Match(t.Row.Doc(), alone)
		c.Holds = &has
	}
	s.evaluated(&c, t.Step(term))
	return c
}

// definition returns the definition of the view.
func (s *Snapshot) definition() *index.Definition {
	if table, resident := s.Resident(); resident {
		return table.Definition()
	}
	return s.rows.(*storedRows).def
}

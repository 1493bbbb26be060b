package index

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
)

// Trace records how filters are evaluated, and what becomes of one row. The evaluation reports to the trace in its
// context; without one it does no more than look for it.
type Trace struct {
	Row   Row  // the row in question; zero if there is none in the view
	Found bool // Row is set

	mu     sync.Mutex // guards the rest
	steps  map[any]*Step
	listed bool // an answer lists rows
	shown  bool // one of them is the row in question
}

// Step is the evaluation of a condition or of a search term. If it was evaluated several times, the first counts.
type Step struct {
	How  string
	Rows int // rows that it selects
	Of   int // rows that it was evaluated on
	Took time.Duration
	// Has reports whether it selects the row in question. It is nil if the evaluation did not need to know.
	Has *bool

	values, scanned int  // distinct values, and rows matched one by one
	built           bool // an index was built for it
}

type traceKey struct{}

// With returns a context whose evaluations report to the trace.
func (t *Trace) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace in a context, or nil.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Step returns the evaluation of a filter.Node or a term, or nil.
func (t *Trace) Step(of any) *Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps[of]
}

// Show records that an answer lists rows, and a row unless it is nil. The nil trace does nothing.
func (t *Trace) Show(row bson.Raw) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed = true
	t.shown = t.shown || row != nil && t.Found && bytes.Equal(row.Lookup("_id").Value, t.Row.Doc().Lookup("_id").Value)
}

// Shown reports whether an answer lists rows, and whether the row in question is among those seen so far.
func (t *Trace) Shown() (listed, shown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.listed, t.shown
}

// begin returns the step of a condition on the rows of a table and a function that ends it with its result. The step is
// not kept if there is one already.
func (t *Trace) begin(table *Table, of any, within *bitset.BitSet, everywhere bool) (*Step, func(*bitset.BitSet)) {
	step, began := &Step{}, time.Now()
	if everywhere {
		within = table.live
	}
	return step, func(set *bitset.BitSet) {
		step.Took, step.Of, step.Rows = time.Since(began), int(within.Count()), int(set.IntersectionCardinality(within))
		if t.Found && t.Row.Table == table && within.Test(uint(t.Row.Slot)) {
			has := set.Test(uint(t.Row.Slot))
			step.Has = &has
		}
		switch {
		case step.How != "":
		case step.values > 0 || everywhere:
			step.How = fmt.Sprintf("index of %d values", step.values)
		case step.scanned > 0:
			step.How = fmt.Sprintf("%d rows one by one", step.scanned)
		default:
			step.How = "sets of rows"
		}
		if step.built {
			step.How += ", built for this"
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.steps == nil {
			t.steps = map[any]*Step{}
		}
		if t.steps[of] == nil {
			t.steps[of] = step
		}
	}
}

// traced evaluates a node and reports it.
func (e evaluation) traced(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	_, leaf := n.(*filter.Leaf)
	_, foreign := n.(*filter.ForeignNode)
	step, end := e.trace.begin(e.Table, n, within, leaf || foreign)
	e.step = step
	if foreign {
		step.How = "the database"
	}
	set, err := e.decide(ctx, n, within)
	if _, elem := n.(*filter.Elem); elem {
		step.How = fmt.Sprintf("indexes, then %d rows one by one", step.scanned)
	}
	if err == nil {
		end(set)
	}
	return set, err
}

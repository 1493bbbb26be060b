package index

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/filter"
)

// Trace records how a selection is evaluated, and what becomes of one row. The evaluation writes to the trace in its
// context; without one it does no more than look for it. Only one goroutine may evaluate with a trace.
type Trace struct {
	Row   Row          // the row in question; zero if there is none
	Steps map[any]Step // by filter.Node and search term
}

// Step is the evaluation of a condition or of a search term.
type Step struct {
	How  string
	Rows int // rows that it selects
	Of   int // rows that it was evaluated on
	Took time.Duration
	// Has reports whether it selects the row in question. It is nil if the evaluation did not need to know.
	Has *bool
}

type traceKey struct{}

// With returns a context whose evaluations write to the trace.
func (t *Trace) With(ctx context.Context) context.Context {
	t.Steps = map[any]Step{}
	return context.WithValue(ctx, traceKey{}, t)
}

func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// add adds the step in which a condition on some rows of a table, or a term, has found a set. The nil trace does
// nothing.
func (t *Trace) add(of any, step Step, table *Table, within, set *bitset.BitSet) {
	if t == nil {
		return
	}
	step.Of, step.Rows = int(within.Count()), int(set.IntersectionCardinality(within))
	if slot := uint(t.Row.Slot); t.Row.Table == table && within.Test(slot) {
		has := set.Test(slot)
		step.Has = &has
	}
	t.Steps[of] = step
}

// traced evaluates a node and adds it to the trace.
func (e evaluation) traced(ctx context.Context, n filter.Node, within *bitset.BitSet) (*bitset.BitSet, error) {
	began := time.Now()
	e.step = &Step{}
	set, err := e.decide(ctx, n, within)
	if err != nil {
		return nil, err
	}
	e.step.How, e.step.Took = cmp.Or(e.step.How, "sets of rows"), time.Since(began)
	switch n.(type) {
	case *filter.Leaf, *filter.ForeignNode: // whose index knows all rows
		within = e.live
	}
	e.trace.add(n, *e.step, e.Table, within, set)
	return set, nil
}

// how says how the node is evaluated, if there is a trace.
func (e evaluation) how(format string, args ...any) {
	if e.step != nil {
		e.step.How = fmt.Sprintf(format, args...)
	}
}

package materialize

import (
	"context"
	"fmt"
	"runtime/debug"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// renderer renders the stale records of a run. Its functions are pure, so a batch can be split over goroutines, which
// share nothing but the batch, of which each has a part of its own.
type renderer struct {
	row     RowFunc
	form    func(record bson.Raw) bson.Raw        // see change.prepare
	finish  func(mark bson.Raw) (bson.Raw, error) // see Marks.Finish; may be nil
	workers int                                   // goroutines that render
	rest    func()                                // see build
}

// render fills in row or err of every change of a batch, on several processors. When ctx ends it returns early.
func (r *renderer) render(ctx context.Context, batch []change) {
	parallel.Split(len(batch), min(r.workers, len(batch)), func(_, from, to int) {
		for i := from; i < to && ctx.Err() == nil; i++ {
			c := &batch[i]
			c.row, c.err = guard(func() (bson.Raw, error) { return c.render(ctx, r.form, r.row) })
			if r.finish != nil && c.mark != nil && c.err == nil {
				c.mark, c.err = guard(func() (bson.Raw, error) { return r.finish(c.mark) })
			}
			r.rest()
		}
	})
}

// render makes the row of one record. It refuses a malformed record or row, which, if stored, would stop the whole
// view. A row that is the record itself has been checked already.
func (c *change) render(ctx context.Context, form func(bson.Raw) bson.Raw, row RowFunc) (bson.Raw, error) {
	if c.check(); c.err != nil {
		return nil, c.err
	}
	c.prepare(form)
	r, err := row(ctx, c.prepared)
	if err != nil || r == nil {
		return nil, err
	}
	if !c.isRecord(r) {
		if err := raw.Check(r); err != nil {
			return nil, fmt.Errorf("malformed row: %w", err)
		}
	}
	if len(r) > maxRow {
		return nil, fmt.Errorf("row of %d bytes is longer than %d", len(r), maxRow)
	}
	if id := r.Lookup("_id"); !id.Equal(c.id()) {
		return nil, fmt.Errorf("row has the _id %s", ejson.IDText(id))
	}
	return r, nil
}

// panicError is a panic of a job's function. The runner logs its stack; the view's health has the text alone.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard calls fn and returns its panic as an error.
func guard[T any](fn func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{value: v, stack: debug.Stack()}
		}
	}()
	return fn()
}

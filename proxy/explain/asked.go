package explain

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// Selected describes the selection of an answer. Counts are rows of the snapshot, before paging.
type Selected struct {
	Rows    int      `json:"rows"`
	Of      int      `json:"of"`
	Clauses []Clause `json:"clauses"` // the conditions that all selected rows satisfy
	// Order is what the request sorts rows by, without fields that no row has; empty if rows have the list's own order.
	Order string `json:"order,omitempty"`
	Has   bool   `json:"has"` // the record in question is selected
}

// asked is what was asked about an answer. One explanation has one asked, which belongs to its goroutine. inspect
// may run more than once: if the view is published meanwhile, the responder evaluates the answer again.
type asked struct {
	id     string         // of the record in question; empty if there is none
	record *filter.Filter // selects the record; nil if there is none

	answer    response.Evaluated // zero if the request fails
	views     []string           // where the record was looked up
	snapshot  *view.Snapshot     // that the answer selects from; of several, the first that has the record
	row       bson.Raw           // of the record; nil if snapshot does not have it
	selected  *Selected          // nil if the answer is not made from a selection
	elsewhere bool               // the answer selects the record, but has it on another page
}

// inspect asks about an evaluated answer. If the answer selects the record, it reads the page up to the record.
func (a *asked) inspect(ctx context.Context, answer response.Evaluated) error {
	*a = asked{id: a.id, record: a.record, answer: answer} // the last one, if the view was published meanwhile
	// An answer that is no selection still says whether the view has the record.
	made := answer.Selected
	if made.On == nil {
		return a.find(ctx, answer.Snapshot)
	}
	if err := a.find(ctx, made.On); err != nil {
		return err
	}
	if err := a.ask(ctx, made); err != nil {
		return err
	}
	if made.Rows == nil || !a.selected.Has {
		return nil
	}
	// The record satisfies all clauses. Whether it is on the page only reading the page can say, because that
	// depends on the order of all selected rows.
	for doc, err := range made.Rows(ctx) {
		if err != nil || doc.Lookup("_id").Equal(a.row.Lookup("_id")) {
			return err
		}
	}
	a.elsewhere = true
	return nil
}

// find looks the record up. It keeps the snapshot of an earlier call unless only this one has the record.
func (a *asked) find(ctx context.Context, s *view.Snapshot) (err error) {
	if a.record != nil {
		if a.row, err = s.First(ctx, a.record); err != nil {
			return err
		}
	}
	if a.views = append(a.views, s.Meta().View); a.snapshot == nil || a.row != nil {
		a.snapshot = s
	}
	return nil
}

// ask asks about a selection and each of its clauses, after find.
func (a *asked) ask(ctx context.Context, of response.Selected) (err error) {
	// The verdict about the whole selection comes first: the clauses then explain it.
	q := counting{snap: of.On}
	a.selected = &Selected{Rows: of.Count, Of: of.On.Len()}
	if of.Order != nil {
		a.selected.Order = of.Order.Total().String()
	}
	// The verdicts about the record.
	if a.row != nil {
		if q.one, err = of.On.Select(ctx, a.record); err != nil {
			return err
		}
		if a.selected.Has, err = q.has(ctx, of.Filter, of.Searches...); err != nil {
			return err
		}
	}
	// The conditions of the filter, in its order.
	for _, n := range of.Filter.Conditions() {
		c := clauseOf(n, a.row, fair.Backtracking(ctx), func(c *Clause) {
			c.From = of.Filter.Origin(c.node)
			c.How, _ = howOf(of.On, c.node)
		})
		if err := q.condition(ctx, &c, of.Filter.Alone(n)); err != nil {
			return err
		}
		a.selected.Clauses = append(a.selected.Clauses, c)
	}
	// The words of searches come last, as in the evaluation. An empty term says that the one before it is a whole
	// word.
	for _, terms := range of.Searches {
		for i, term := range terms {
			if term == "" {
				continue
			}
			c, err := q.term(ctx, term, i == len(terms)-1)
			if err != nil {
				return err
			}
			a.selected.Clauses = append(a.selected.Clauses, c)
		}
	}
	return nil
}

// counting counts the rows of clauses, one after the other. What indexes or the store decide it counts among all
// rows. What takes reading rows it counts among those that the clauses before have left, because otherwise an
// explanation could take much longer than the answer. For example, of year=2024 and a regular expression the first
// is counted by its index among all rows, and the second is read among the rows of 2024 alone. pending keeps the
// first until then, so that a selection without any such clause costs no more than its counts.
type counting struct {
	snap *view.Snapshot
	one  view.Selection // the record in question; nil if the view does not have it

	left    view.Selection   // the rows that clauses have left, but for those in pending; nil: all rows
	pending []*filter.Filter // clauses that left does not reflect yet
}

// has reports whether the record satisfies a filter and has the terms of each search. It selects from the record
// alone, so that the way of the answer decides and not a second one, at the cost of one row.
func (q *counting) has(ctx context.Context, f *filter.Filter, searches ...[]string) (bool, error) {
	found, err := q.one.Narrow(ctx, f, view.Uncounted)
	for i := 0; i < len(searches) && err == nil; i++ {
		if len(searches[i]) > 0 {
			found, err = found.Search(ctx, searches[i])
		}
	}
	return err == nil && found.Count() > 0, err
}

// condition counts the rows of a condition. If the reference matcher has not decided about the record, as of what
// only the database evaluates, it asks for that, too.
func (q *counting) condition(ctx context.Context, c *Clause, f *filter.Filter) (err error) {
	if c.Holds == nil && q.one != nil {
		if has, err := q.has(ctx, f); err == nil {
			c.Holds, c.Error = &has, ""
		}
	}
	if _, reads := howOf(q.snap, c.node); reads {
		return q.among(ctx, c, func(left view.Selection) (view.Selection, error) {
			return left.Narrow(ctx, f, view.Uncounted)
		})
	}
	// The clause restricts later ones, but it is counted by itself.
	q.pending = append(q.pending, f)
	_, err = q.count(c, q.snap.Len(), func() (view.Selection, error) { return q.snap.Select(ctx, f) })
	return err
}

// term counts the rows with a word of a search; the last term stands for all words that begin with it.
func (q *counting) term(ctx context.Context, term string, last bool) (c Clause, err error) {
	c = Clause{Clause: "has the word " + term, From: params.Words}
	alone := []string{term, ""}
	if last {
		c.Clause, alone = "has a word that begins with "+term, alone[:1]
	}
	// A term has no node of a filter, so the reference matcher cannot decide about it.
	if q.one != nil {
		has, err := q.has(ctx, filter.All(), alone)
		if err != nil {
			return c, err
		}
		c.Holds = &has
	}
	// With rows in the store no index has the words, and rows are read.
	having := func(rows view.Selection) (view.Selection, error) { return rows.Search(ctx, alone) }
	if _, resident := q.snap.Resident(); !resident {
		c.How = "the store"
		return c, q.among(ctx, &c, having)
	}
	c.How = "index of words"
	all, err := q.snap.Select(ctx, filter.All())
	if err == nil {
		_, err = q.count(&c, q.snap.Len(), func() (view.Selection, error) { return having(all) })
	}
	return c, err
}

// among counts a clause among the rows that the clauses before have left, unless there are none.
func (q *counting) among(
	ctx context.Context, c *Clause, narrow func(left view.Selection) (view.Selection, error),
) (err error) {
	// Bring left up to date with the clauses that were counted by themselves.
	switch before := filter.And(q.pending...); {
	case q.left == nil:
		q.left, err = q.snap.Select(ctx, before)
	case len(q.pending) > 0:
		q.left, err = q.left.Narrow(ctx, before, view.Uncounted)
	}
	// Nothing is left to read: then the clause has no count, which says so.
	q.pending = nil
	if err != nil || q.left.Count() == 0 {
		return err
	}
	found, err := q.count(c, q.left.Count(), func() (view.Selection, error) { return narrow(q.left) })
	if found != nil {
		q.left = found
	}
	return err
}

// count sets the count of a clause to the rows that are found of others. A clause that ends with an error of its
// own, such as an expression that runs out of time, has that error instead. found is nil for a clause with an
// error. The time is that of the clause alone.
func (q *counting) count(c *Clause, of int, find func() (view.Selection, error)) (view.Selection, error) {
	began := time.Now()
	found, err := find()
	switch {
	case errors.Is(err, rules.ErrWrongCall):
		c.Error = err.Error()
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.Count = &Count{Rows: found.Count(), Of: of, Millis: millis(time.Since(began))}
	return found, nil
}

package index

import (
	"context"
	"sort"
	"time"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// checkEvery is the most values or rows tested between two checks of the turn: an expression may take long for each.
const checkEvery = 16

// query is one lookup in an index. It adds to the set the slots (base + row) of rows with a value that passes the
// test. It is used by one goroutine; decideAll shares only the tests.
type query struct {
	seg   *segment
	path  raw.Path
	index *pathIndex
	base  Slot
	into  *bitset.BitSet

	backtracking *pcre.Budget
}

// lookup narrows the values by the kind of test, and tests the remaining ones.
//
// Errors are the context's, and those of an expression that runs out of its budget.
func (q *query) lookup(ctx context.Context, test filter.Test) error {
	if err := fair.TurnOf(ctx).Check(ctx); err != nil {
		return err
	}
	switch t := test.(type) {
	case *filter.Compare:
		s, texts := q.index.stretch(t), q.index.texts
		if raw.IsText(t.Value.Type) && texts.from < texts.to { // true for all texts in the stretch
			// A comparison with a text is decided by the order alone: no text in the stretch needs a test. An index
			// with symbols has no texts, and tests every value.
			s.from, s.to, test = max(s.from, texts.from), min(s.to, texts.to), nil
		}
		return q.decide(ctx, test, s)
	case *filter.In: // the union of its equalities and expressions
		for _, v := range t.Values {
			if err := q.lookup(ctx, &filter.Compare{Op: filter.Eq, Value: v}); err != nil {
				return err
			}
		}
		for _, re := range t.Regexes {
			if err := q.lookup(ctx, re); err != nil {
				return err
			}
		}
		return nil
	case *filter.Regex:
		return q.lookupRegex(ctx, t)
	}
	return q.decide(ctx, test, stretch{0, len(q.index.values)})
}

// decide tests each value of a stretch. A nil test is true for all values: it saves reading them from their rows,
// which are scattered in memory and take the most time. Few values are tested here, without goroutines, and each
// time checkEvery of them with a check of the turn.
func (q *query) decide(ctx context.Context, test filter.Test, s stretch) error {
	n := s.to - s.from
	if test != nil && n >= worthSharing {
		return q.decideAll(ctx, n, checkEvery, func(i int) int { return s.from + i }, func(i int) (bool, error) {
			return test.Match(q.index.values[s.from+i].Value, q.backtracking)
		})
	}
	for i := s.from; i < s.to; i++ {
		if (i-s.from)%checkEvery == checkEvery-1 {
			if err := fair.TurnOf(ctx).Check(ctx); err != nil {
				return err
			}
		}
		ok := test == nil
		if !ok {
			var err error
			if ok, err = test.Match(q.index.values[i].Value, q.backtracking); err != nil {
				return err
			}
		}
		if ok {
			q.add(i)
		}
	}
	return nil
}

// add adds the rows with the value at a position.
func (q *query) add(value int) {
	d := &q.index.values[value]
	if d.dense != nil && q.base == 0 { // with another base the set's words would have to be shifted
		q.into.InPlaceUnion(d.dense)
		return
	}
	for _, row := range q.index.rowsOf(value) {
		q.into.Set(uint(q.base) + uint(row))
	}
}

// stretch returns the range of values for which a comparison can be true. The range may include values of other
// types, which the test rejects. It is not narrowed for operands that compare across types (null also means missing
// and undefined; MinKey and MaxKey compare with all types), except for null, whose matches sort to the front.
func (x *pathIndex) stretch(c *filter.Compare) stretch {
	switch c.Value.Type {
	case bson.TypeMinKey, bson.TypeMaxKey, bson.TypeUndefined:
		return stretch{0, len(x.values)}
	// A missing value and null sort before all others, but MinKey.
	case bson.TypeNull:
		return stretch{0, x.after(c.Value)}
	}
	switch c.Op {
	case filter.Eq:
		return stretch{x.before(c.Value), x.after(c.Value)}
	case filter.Gt:
		return stretch{x.after(c.Value), len(x.values)}
	case filter.Gte:
		return stretch{x.before(c.Value), len(x.values)}
	case filter.Lt:
		return stretch{0, x.before(c.Value)}
	}
	return stretch{0, x.after(c.Value)} // $lte
}

// before returns the number of values that sort before v.
func (x *pathIndex) before(v bson.RawValue) int { return x.first(v, 0) }

// after returns the number of values that sort before v or equal it.
func (x *pathIndex) after(v bson.RawValue) int { return x.first(v, 1) }

// first returns the number of values before the first one that compares with v as order or more. The missing value
// sorts before every other and compares with none.
func (x *pathIndex) first(v bson.RawValue, order int) int {
	return sort.Search(len(x.values), func(i int) bool {
		d := &x.values[i]
		return !d.Missing && raw.Compare(d.Raw, v) >= order
	})
}

// names are the steps that lead further from a path in a segment: fields of documents and positions in arrays.
type names struct {
	fields  map[string]struct{}
	longest int  // length of the longest array
	nested  bool // an array contains another, which grouping opens and matching does not
	bytes   int64
}

// Memory implements derived.
func (n *names) Memory() int64 { return n.bytes }

// names returns the steps below a path. They are collected in one pass over all rows, and only if a client asks for
// a path that no probed row has.
func (s *segment) names(path raw.Path) *names {
	return derive(s, derivedKey{kind: kindNames, path: path.String()}, func() *names {
		n := &names{fields: map[string]struct{}{}}
		field := func(name []byte) {
			if _, known := n.fields[string(name)]; !known {
				n.fields[string(name)] = struct{}{}
				n.bytes += int64(len(name)) + 48
			}
		}
		array := func(elements int, nested bool) {
			n.longest, n.nested = max(n.longest, elements), n.nested || nested
		}
		for _, row := range s.rows {
			raw.Below(row, path, field, array)
			s.rest()
		}
		return n
	})
}

// probedRows is how many rows are checked before the steps of all rows are collected.
const probedRows = 256

// existing returns the path itself if a row has it. Otherwise it returns one path for all paths that no row has from
// the same step on, so that paths that clients make up take no memory. open says that nested arrays are opened.
//
// With made-up paths, every request would otherwise index all rows by a path with one value, the missing one, and
// drop useful indexes from the budget. The path that stands for them, raw.Path.Absent, has the same answer.
func (s *segment) existing(path raw.Path, open bool) raw.Path {
	// Probe rows at equal distances first: a path that most rows have needs no steps of all rows.
	for i, found := 0, false; i < len(s.rows); i += len(s.rows)/probedRows + 1 {
		raw.Walk(s.rows[i], path, func(v raw.Value) bool {
			found = !v.Missing
			return !found
		})
		if found {
			return path
		}
	}
	// Then look for the first step that no row has.
	for i, name := range path.Parts() {
		below := s.names(path.First(i))
		if open && below.nested {
			break
		}
		if _, there := below.fields[name]; !there && (path.Index(i) < 0 || path.Index(i) >= below.longest) {
			return path.Absent(i)
		}
	}
	return path
}

// requestedIndex is pathIndex for the path of a request. Indexing many rows takes long, so it needs a costly turn.
func (s *segment) requestedIndex(ctx context.Context, path raw.Path) (*pathIndex, error) {
	if err := s.mayDerive(ctx, indexKey(path)); err != nil {
		return nil, err
	}
	if !s.has(indexKey(path)) {
		path = s.existing(path, false)
	}
	return s.pathIndex(path, fair.Workers(ctx)), nil
}

// mayDerive waits for the turn that a request needs to derive a value from all rows, unless it is built. While
// another caller derives it, the request waits without its turn.
//
// Small segments are exempt, since deriving from them takes milliseconds. wanted ends the rest of work that derives
// values now: the request may wait for it.
func (s *segment) mayDerive(ctx context.Context, key derivedKey) error {
	if len(s.rows) < 2*indexPart {
		return nil
	}
	key.segment = s
	now := time.Now()
	s.wanted.Store(&now)
	if s.budget.has(key) {
		return nil
	}
	if building := s.budget.builds.Running(key); building != nil {
		return fair.TurnOf(ctx).Wait(ctx, building.Done())
	}
	return fair.TurnOf(ctx).Costly(ctx)
}

// Has reports whether a row has something at a path, or had it once. For a table without rows it returns true.
func (t *Table) Has(ctx context.Context, path raw.Path) (bool, error) {
	if t.count == 0 {
		return true, nil
	}
	for _, seg := range t.segments {
		if seg.has(indexKey(path)) {
			return true, nil // only warmed paths are indexed without a row that has them
		}
		if err := seg.mayDerive(ctx, derivedKey{kind: kindNames}); err != nil {
			return false, err
		}
		if seg.existing(path, true).Equal(path) {
			return true, nil
		}
	}
	return false, nil
}

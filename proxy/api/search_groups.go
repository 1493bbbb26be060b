package api

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// aggregation says how a search groups its records. Its field is empty if it does not group them.
// /api/search/activities?aggregate=authors.user&aggregate_function=sum&aggregate_value=impact.value has the field
// authors.user, the function sum and the value impact.value.
type aggregation struct {
	field    string
	function string // count, sum, mean or median
	value    string // the path of the numbers; empty for count
}

// aggregation reads aggregate, aggregate_function and aggregate_value. It ignores the others if aggregate is missing.
func (e *Env) aggregation(p query.Params) (by aggregation, err error) {
	if by.field = p.Field("aggregate"); by.field == "" {
		return by, nil
	}
	by.function = cmp.Or(strings.TrimSpace(p.Text("aggregate_function")), "count")
	switch {
	case by.function == "count":
		return by, nil
	case figures[by.function] == nil:
		return by, rules.Wrongf("aggregate_function", "", "want count, sum, mean or median, got %s",
			query.Quote(by.function))
	}
	if by.value = p.Field("aggregate_value"); by.value == "" {
		return by, rules.Wrongf("aggregate_value", "", "is required: %s needs the path of a number", by.function)
	}
	return by, nil
}

// plan groups the records of a listing. The page is a page of groups. Without arrays a plain count is that of
// listing.groups, for which the view may have an index.
func (by aggregation) plan(list listing) response.Plan {
	arrays := unwindingOf(by.field, by.value)
	if len(arrays) == 0 && by.function == "count" {
		return list.groups("search", by.field, "")
	}
	form := "search by " + by.field + "\x00" + by.function + "\x00" + by.value
	return list.plan(form,
		func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
			groups, err := by.groups(ctx, arrays, selected.Rows(ctx, 0, 0))
			if err != nil {
				return nil, err
			}
			from, to := list.page.Cut(len(groups))
			b := response.JoinRange(response.List(len(groups), list.page), from, to, func(dst []byte, i int) []byte {
				dst = appendGroup(dst, by.field, groups[i].Group)
				if by.function != "count" {
					dst = appendFigure(ejson.AppendKey(dst, by.function), groups[i].figure)
				}
				return append(dst, '}')
			})
			b.RowMemory = result.Held(ctx)
			return b, nil
		})
}

// valueGroup is a group of rows with equal values, and the numbers in them.
type valueGroup struct {
	index.Group
	tally                // empty for count
	figure bson.RawValue // an int64 or a double; null if the group has no numbers
}

// tallyBytes is how many bytes of memory a group with a tally takes beside its value: twice, because groups are
// sorted, and once for its place in a map; numberBytes is that of a number in a map.
const tallyBytes, numberBytes = 384, 64

// groups groups the rows that unwinding makes of records by a field: equal numbers of any type are one group, a
// missing field is null. It sorts groups by figure descending, groups without a figure last, ties by value.
func (by aggregation) groups(
	ctx context.Context, arrays unwindPaths, records iter.Seq2[index.Row, error],
) ([]valueGroup, error) {
	g := &grouping{by: by, field: partOf(by.field, arrays), pace: fair.Pace(ctx)}
	if by.value != "" {
		g.value = partOf(by.value, arrays)
	}
	for record, err := range records {
		if err == nil {
			err = g.record(ctx, record.Doc())
		}
		if err != nil {
			return nil, err
		}
	}
	// The function that joins returns no error, so the first one waits here.
	var failed error
	value := func(g valueGroup) bson.RawValue { return g.Value }
	all, err := index.JoinEqual(ctx, g.found.All, value, func(into, from *valueGroup) {
		into.Count += from.Count
		failed = cmp.Or(failed, into.join(from.tally, g.pace))
	})
	err = cmp.Or(err, failed)
	for i := 0; i < len(all) && err == nil; i++ {
		var number any
		if number, err = figures[by.function](ctx, &all[i]); err == nil {
			all[i].figure, err = figureOf(number), g.pace()
		}
	}
	if err != nil {
		return nil, err
	}
	return all, fair.Sort(ctx, all, func(a, b valueGroup) int { return raw.Compare(b.figure, a.figure) })
}

// part is what a path reads of the rows that unwinding makes of a record. Of "authors.user" the top is authors and
// the rest user.
type part struct {
	top     string   // top-level field
	rest    []string // path below it
	unwound bool     // the field is an array of which a row has one element
}

func partOf(path string, arrays unwindPaths) part {
	parts := strings.Split(path, ".")
	return part{parts[0], parts[1:], slices.Contains(arrays, parts[0])}
}

// grouping is the state of groups. Two arrays make a row for each pair of their elements. It never makes these rows:
// all elements of the one array meet the same numbers in the other, which it adds up once for each record.
type grouping struct {
	by           aggregation
	field, value part
	pace         func() error // called for each step
	found        raw.Groups[valueGroup]
}

// record adds a record's rows to the groups. There are two cases. If field and value are in one array, each element
// is one row with both. Otherwise each element of the field's array meets every element of the value's array, so
// the numbers of the latter are added up once and joined to each group.
func (g *grouping) record(ctx context.Context, doc bson.Raw) error {
	if g.by.value != "" && g.value.top == g.field.top { // both are in the same element
		for element := range elementsOf(doc.Lookup(g.field.top), g.field.unwound) {
			err := g.update(ctx, raw.Field(element, g.field.rest), func(group *valueGroup) error {
				group.Count++
				group.add(raw.OrNull(raw.Field(element, g.value.rest)))
				return g.pace()
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	rows, numbers := 1, tally{}
	if g.by.value != "" {
		rows, numbers = 0, g.tally()
		for element := range elementsOf(doc.Lookup(g.value.top), g.value.unwound) {
			rows++
			numbers.add(raw.OrNull(raw.Field(element, g.value.rest)))
			if err := g.pace(); err != nil {
				return err
			}
		}
	}
	for element := range elementsOf(doc.Lookup(g.field.top), g.field.unwound) {
		err := g.update(ctx, raw.Field(element, g.field.rest), func(group *valueGroup) error {
			group.Count += rows
			return cmp.Or(g.pace(), group.join(numbers, g.pace))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// update calls change with the group of a value, and counts the memory that the group takes more. A missing value is
// null, as in an aggregation expression.
func (g *grouping) update(ctx context.Context, value bson.RawValue, change func(*valueGroup) error) error {
	value = raw.OrNull(value)
	group, fresh := g.found.At(value)
	more := int64(0)
	if fresh {
		group.Value = raw.Clone(value) // clone it, so as not to keep the records of a view that is not in memory
		group.tally = g.tally()
		more = tallyBytes + 2*int64(len(value.Value))
	}
	before := len(group.times)
	if err := change(group); err != nil {
		return err
	}
	if more += numberBytes * int64(len(group.times)-before); more == 0 {
		return nil
	}
	return result.Hold(ctx, more)
}

// tally returns an empty tally for the function.
func (g *grouping) tally() (t tally) {
	if g.by.function == "median" {
		t.times = map[float64]int{}
	}
	return t
}

// figures are the aggregate functions. Each returns an int64, a float64 or nil, which also sorts the groups.
var figures = map[string]func(context.Context, *valueGroup) (any, error){
	"count":  func(_ context.Context, g *valueGroup) (any, error) { return int64(g.Count), nil },
	"sum":    func(_ context.Context, g *valueGroup) (any, error) { return g.sum(), nil },
	"mean":   func(_ context.Context, g *valueGroup) (any, error) { return g.mean(), nil },
	"median": func(ctx context.Context, g *valueGroup) (any, error) { return g.median(ctx) },
}

// tally collects the numbers of a group, other than NaN and infinities, which JSON does not have. Integers are
// added apart from doubles, so that a sum of them is exact up to 64 bits; only the last step rounds.
type tally struct {
	count    int
	integers int64           // the sum of integers
	reals    float64         // the sum of all other numbers, and of integers beyond 64 bits
	mixed    bool            // some numbers were not integers
	times    map[float64]int // how often each number occurs; nil unless the function is median
}

func (t *tally) add(v bson.RawValue) {
	var number float64
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		number = float64(raw.Int(v))
		t.addInteger(raw.Int(v))
	case bson.TypeDouble, bson.TypeDecimal128:
		var ok bool
		if number, ok = realOf(v); !ok {
			return
		}
		t.reals += number
		t.mixed = true
	default:
		return
	}
	t.count++
	if t.times != nil {
		t.times[number]++
	}
}

// addInteger adds to the sum of integers, unless 64 bits cannot hold it. It does not wrap around: the number goes
// to the doubles then, and the sum is a double.
func (t *tally) addInteger(n int64) {
	sum := t.integers + n
	if (sum > t.integers) != (n > 0) && n != 0 { // the sum overflowed
		t.reals += float64(n)
		t.mixed = true
		return
	}
	t.integers = sum
}

// realOf returns a double or decimal as a finite double. ok is false for other values.
func realOf(v bson.RawValue) (number float64, ok bool) {
	number, isDouble := v.DoubleOK()
	if !isDouble {
		number, _ = strconv.ParseFloat(v.Decimal128().String(), 64) // infinite if the number is too large
	}
	return number, !math.IsNaN(number) && !math.IsInf(number, 0)
}

// join adds another tally. It calls pace for each of its numbers.
func (t *tally) join(other tally, pace func() error) error {
	t.count += other.count
	t.addInteger(other.integers)
	t.reals += other.reals
	t.mixed = t.mixed || other.mixed
	for number, times := range other.times {
		t.times[number] += times
		if err := pace(); err != nil {
			return err
		}
	}
	return nil
}

// sum returns the sum of the numbers, or 0 if there are none.
func (t *tally) sum() any {
	if !t.mixed {
		return t.integers
	}
	return float64(t.integers) + t.reals
}

// mean returns the mean of the numbers, or nil if there are none.
func (t *tally) mean() any {
	if t.count == 0 {
		return nil
	}
	return (float64(t.integers) + t.reals) / float64(t.count)
}

// median returns the middle number, or the mean of the middle two, or nil if there are none.
func (t *tally) median(ctx context.Context) (any, error) {
	if t.count == 0 {
		return nil, nil
	}
	sorted := slices.AppendSeq(make([]float64, 0, len(t.times)), maps.Keys(t.times))
	if err := fair.Sort(ctx, sorted, cmp.Compare[float64]); err != nil {
		return nil, err
	}
	pace, at, seen := fair.Pace(ctx), 0, 0
	ranked := func(rank int) (float64, error) { // ranks ascend
		for ; seen+t.times[sorted[at]] <= rank; at++ {
			seen += t.times[sorted[at]]
			if err := pace(); err != nil {
				return 0, err
			}
		}
		return sorted[at], nil
	}
	lower, err := ranked((t.count - 1) / 2)
	if err != nil {
		return nil, err
	}
	upper, err := ranked(t.count / 2)
	// Halved first: the sum of two large doubles could overflow.
	return lower/2 + upper/2, err
}

// figureOf returns an int64, a float64 or nil as BSON, which orders all of them. BSON values, because raw.Compare
// orders integers, doubles and null as MongoDB does.
func figureOf(number any) bson.RawValue {
	if number == nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	t, data, _ := bson.MarshalValue(number) // cannot fail: BSON has both types
	return bson.RawValue{Type: t, Value: data}
}

// appendFigure appends the result of an aggregate function. It writes a whole number without a fraction.
func appendFigure(dst []byte, figure bson.RawValue) []byte {
	f, isDouble := figure.DoubleOK()
	switch {
	case isDouble && isInteger(f):
		return strconv.AppendInt(dst, int64(f), 10)
	case isDouble && !math.IsInf(f, 0):
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return ejson.Append(dst, figure)
}

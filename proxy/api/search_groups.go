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

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// aggregation says how a search groups its records. Its field is empty if it does not group them.
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
		return by, rules.Wrongf("aggregate_function", "", "want count, sum, mean or median, got %s", query.Quote(by.function))
	}
	if by.value = p.Field("aggregate_value"); by.value == "" {
		return by, rules.Wrongf("aggregate_value", "", "is required: %s needs the path of a number", by.function)
	}
	return by, nil
}

// plan groups the records of a listing. The page is a page of groups.
func (by aggregation) plan(list listing) response.Plan {
	arrays := unwindingOf(by.field, by.value)
	if len(arrays) == 0 && by.function == "count" {
		return list.groups("search", by.field, "")
	}
	form := "search by " + by.field + "\x00" + by.function + "\x00" + by.value
	return list.plan(form, func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
		groups, err := by.groups(arrays.each(ctx, selected.Rows(ctx, 0, 0), 0, math.MaxInt))
		if err != nil {
			return nil, err
		}
		from, to := list.page.Cut(len(groups))
		return response.JoinRange(response.List(len(groups), list.page), from, to, func(dst []byte, i int) []byte {
			dst = appendGroup(dst, by.field, groups[i].Group)
			if by.function != "count" {
				dst = appendFigure(ejson.AppendKey(dst, by.function), groups[i].figure)
			}
			return append(dst, '}')
		}), nil
	})
}

// valueGroup is a group of rows with equal values, and the numbers in them.
type valueGroup struct {
	index.Group
	tally                // empty for count
	figure bson.RawValue // an int64 or a double; null if the group has no numbers
}

// groups groups rows by a field: equal numbers of any type are one group, a missing field is null. It sorts groups by
// figure descending, groups without a figure last, ties by value (DESIGN.md: 3, 7).
func (by aggregation) groups(rows iter.Seq2[*unwoundRow, error]) ([]valueGroup, error) {
	var found raw.Groups[valueGroup]
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		value := valueAt(row, by.field)
		group, fresh := found.At(value)
		if fresh {
			group.Value = raw.Clone(value) // clone it, so as not to keep the records of a view that is not in memory
			if by.function == "median" {
				group.times = map[float64]int{}
			}
		}
		group.Count++
		if by.value != "" {
			group.add(valueAt(row, by.value))
		}
	}
	all := raw.JoinEqual(found.All, func(g valueGroup) bson.RawValue { return g.Value }, func(into *valueGroup, from valueGroup) {
		into.Count += from.Count
		into.join(from.tally)
	})
	for i := range all {
		all[i].figure = figureOf(figures[by.function](&all[i]))
	}
	slices.SortStableFunc(all, func(a, b valueGroup) int { return raw.Compare(b.figure, a.figure) })
	return all, nil
}

// figures are the aggregate functions. Each returns an int64, a float64 or nil, which also sorts the groups.
var figures = map[string]func(*valueGroup) any{
	"count":  func(g *valueGroup) any { return int64(g.Count) },
	"sum":    (*valueGroup).sum,
	"mean":   (*valueGroup).mean,
	"median": (*valueGroup).median,
}

// valueAt evaluates a path as an aggregation expression does. A missing value becomes null.
func valueAt(row *unwoundRow, path string) bson.RawValue {
	parts := strings.Split(path, ".")
	return raw.OrNull(raw.Field(row.field(parts[0]), parts[1:]))
}

// tally collects the numbers of a group, other than NaN and infinities, which JSON does not have (DESIGN.md: 7).
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

// addInteger adds to the sum of integers, unless 64 bits cannot hold it.
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

func (t *tally) join(other tally) {
	t.count += other.count
	t.addInteger(other.integers)
	t.reals += other.reals
	t.mixed = t.mixed || other.mixed
	for number, times := range other.times {
		t.times[number] += times
	}
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

// median returns the middle number, or the mean of the middle two (DESIGN.md: 18), or nil if there are none.
func (t *tally) median() any {
	if t.count == 0 {
		return nil
	}
	sorted := slices.Sorted(maps.Keys(t.times))
	ranked := func(rank int) (number float64) {
		for _, number = range sorted {
			if rank -= t.times[number]; rank < 0 {
				break
			}
		}
		return number
	}
	return ranked((t.count-1)/2)/2 + ranked(t.count/2)/2
}

// figureOf returns an int64, a float64 or nil as BSON, which orders all of them.
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

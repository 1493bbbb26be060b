package api

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// aggregation is how a search groups what it found; without a field it does not.
type aggregation struct {
	field    string
	function string // count, sum, mean or median
	value    string // the path of the figures; empty for count
}

// aggregation reads aggregate, aggregate_function and aggregate_value. The last
// two mean nothing without the first.
func (e *Env) aggregation(p query.Params) (by aggregation, err error) {
	if by.field, err = p.StoredField("aggregate"); err != nil || by.field == "" {
		return by, err
	}
	if by.function, err = p.Text("aggregate_function"); err != nil {
		return by, err
	}
	switch by.function = strings.TrimSpace(by.function); by.function {
	case "", "count":
		by.function = "count"
		return by, nil
	case "sum", "mean", "median":
	default:
		return by, rules.Wrongf("aggregate_function", "", "want count, sum, mean or median, got %s", query.Quoted(by.function))
	}
	if by.value, err = p.StoredField("aggregate_value"); err == nil && by.value == "" {
		err = rules.Wrongf("aggregate_value", "", "is required: %s needs the path of a number", by.function)
	}
	return by, err
}

// plan groups what a listing selects. The page is one of groups.
func (by aggregation) plan(list listing) response.Plan {
	apart := unwindingOf(by.field, by.value)
	if len(apart) == 0 && by.function == "count" {
		return list.groups("search", by.field, "")
	}
	form := "search by " + by.field + "\x00" + by.function + "\x00" + by.value
	return list.plan(form, func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, list.filter)
		if err != nil {
			return nil, err
		}
		groups, err := by.groups(apart.each(ctx, selected.Rows(ctx, 0, 0), 0))
		if err != nil {
			return nil, err
		}
		from, to := list.page.Cut(len(groups))
		return response.JoinRange(response.List(len(groups), list.page), from, to, func(dst []byte, i int) []byte {
			return by.append(dst, &groups[i])
		}), nil
	})
}

// valueGroup is the rows that have a value, and the figures found in them.
type valueGroup struct {
	value  bson.RawValue
	count  int // rows, with or without a figure
	tally  tally
	figure figure
}

// groups groups rows by a field: equal numbers together whatever their type, a
// missing field as null. They come by their figure descending, those without one
// last, ties by value (DESIGN.md: 3, 7).
func (by aggregation) groups(rows iter.Seq2[*unwoundRow, error]) ([]valueGroup, error) {
	var found raw.Groups[valueGroup]
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		value := valueAt(row.field, by.field)
		group, fresh := found.At(value)
		if fresh {
			group.value = raw.Clone(value) // not to keep the records of a view that is not in memory
		}
		group.count++
		if by.value != "" {
			group.tally.add(valueAt(row.field, by.value))
		}
	}
	all := raw.JoinEqual(found.All, func(g valueGroup) bson.RawValue { return g.value }, func(into *valueGroup, from valueGroup) {
		into.count += from.count
		into.tally.join(from.tally)
	})
	for i := range all {
		all[i].figure = by.figure(&all[i])
	}
	slices.SortStableFunc(all, func(a, b valueGroup) int { return b.figure.compare(a.figure) })
	return all, nil
}

// figure is what a group is sorted by.
func (by aggregation) figure(g *valueGroup) figure {
	switch by.function {
	case "sum":
		return g.tally.sum()
	case "mean":
		return g.tally.mean()
	case "median":
		return g.tally.median()
	default:
		return figure{kind: whole, whole: int64(g.count)}
	}
}

// append writes {"count":…,"value":…} and the figure under its function's name.
func (by aggregation) append(dst []byte, g *valueGroup) []byte {
	dst = strconv.AppendInt(append(dst, `{"count":`...), int64(g.count), 10)
	dst = ejson.Append(appendKey(dst, "value"), display.Stored(by.field, g.value))
	if by.function != "count" {
		dst = g.figure.append(appendKey(dst, by.function))
	}
	return append(dst, '}')
}

// valueAt evaluates a path as an aggregation expression does. What is missing is null.
func valueAt(field func(string) bson.RawValue, path string) bson.RawValue {
	parts := strings.Split(path, ".")
	return raw.OrNull(raw.Field(field(parts[0]), parts[1:]))
}

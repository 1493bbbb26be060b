package proxy

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules"
)

// maxUnwound is how many rows taking arrays apart may make. Several large arrays
// in one record multiply.
const maxUnwound = 20_000_000

// unwinding names the arrays of a record that are taken apart, a row for each
// element; of several, for each combination.
type unwinding []string

// unwindingOf returns the arrays that lead the given paths (DESIGN.md: 18).
func unwindingOf(paths ...string) unwinding {
	var u unwinding
	for _, path := range paths {
		top, _, _ := strings.Cut(path, ".")
		switch top {
		case "authors", "editors", "supervisors", "persons", "collaborators", "topics", "metrics", "impact", "units":
			if !slices.Contains(u, top) {
				u = append(u, top)
			}
		}
	}
	return u
}

// unwoundRow is the nth row that unwinding makes of a record.
type unwoundRow struct {
	row view.Row
	nth uint32
}

// page lines the records' rows up and returns those of a page, with the number
// of all of them. Of a list without pages it returns none if countAll says that
// counting is all it is for.
func (u unwinding) page(ctx context.Context, records iter.Seq2[view.Row, error], g page, countAll bool) ([]unwoundRow, int, error) {
	var rows []unwoundRow
	count := 0
	for made, err := range u.made(ctx, records) {
		if err != nil {
			return nil, 0, err
		}
		for nth := max(g.offset-count, 0); nth < made.times && (g.limit == 0 && !countAll || len(rows) < g.limit); nth++ {
			rows = append(rows, unwoundRow{made.row, uint32(nth)})
		}
		count += made.times
	}
	return rows, count, nil
}

// each yields the rows one after the other.
func (u unwinding) each(ctx context.Context, records iter.Seq2[view.Row, error]) iter.Seq2[unwoundRow, error] {
	return func(yield func(unwoundRow, error) bool) {
		for made, err := range u.made(ctx, records) {
			if err != nil {
				yield(unwoundRow{}, err)
				return
			}
			for nth := range made.times {
				if !yield(unwoundRow{made.row, uint32(nth)}, nil) {
					return
				}
			}
		}
	}
}

// unwoundRecord is a record with the number of rows made of it.
type unwoundRecord struct {
	row   view.Row
	times int
}

// made yields records with the number of rows made of them, up to the most.
func (u unwinding) made(ctx context.Context, records iter.Seq2[view.Row, error]) iter.Seq2[unwoundRecord, error] {
	return func(yield func(unwoundRecord, error) bool) {
		seen, count := 0, 0
		for row, err := range records {
			if seen%1024 == 0 && err == nil {
				err = ctx.Err()
			}
			n := 0
			if err == nil {
				n = u.times(row.Doc())
			}
			if seen++; count+n > maxUnwound {
				err = rules.Wrongf("columns", "", "make more than %d rows of the records found", maxUnwound)
			}
			if count += n; !yield(unwoundRecord{row, n}, err) || err != nil {
				return
			}
		}
	}
}

// times is how many rows a record makes: at least one, also where an array is
// empty or missing.
func (u unwinding) times(doc bson.Raw) int {
	n := 1
	for _, field := range u {
		if k := lengthOf(doc.Lookup(field)); k > 1 {
			if n > math.MaxInt32/k {
				return math.MaxInt32
			}
			n *= k
		}
	}
	return n
}

// fields looks a record's top-level fields up as the nth row has them: an element
// in place of its array, nothing in place of an empty one.
func (u unwinding) fields(doc bson.Raw, nth uint32) func(string) bson.RawValue {
	return func(name string) bson.RawValue {
		v := doc.Lookup(name)
		if v.Type != bson.TypeArray || !slices.Contains(u, name) {
			return v
		}
		at := int(nth)
		for _, field := range u[slices.Index(u, name)+1:] {
			at /= max(lengthOf(doc.Lookup(field)), 1) // the last array turns fastest
		}
		values, _ := v.Array().Values() // of a broken array, what can be read
		if len(values) == 0 {
			return bson.RawValue{}
		}
		return values[at%len(values)]
	}
}

// lengthOf is the number of elements of an array; 0 for anything else.
func lengthOf(v bson.RawValue) int {
	array, ok := v.ArrayOK()
	if !ok {
		return 0
	}
	values, _ := array.Values() // of a broken array, what can be read
	return len(values)
}

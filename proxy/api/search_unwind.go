package api

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/raw"
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

// unwoundRow is one of the rows that unwinding makes of a record. It is reused: it
// holds until the next is asked for.
type unwoundRow struct {
	apart  unwinding
	doc    bson.Raw
	wholes []bson.RawValue // by place in apart: the field of the record
	values []bson.RawValue // likewise: what the row has instead
	below  []int           // likewise: rows made of the arrays behind it
}

// field looks a record's top-level field up as the row has it: an element in place of
// its array, nothing in place of an empty one.
func (r *unwoundRow) field(name string) bson.RawValue {
	if i := slices.Index(r.apart, name); i >= 0 {
		return r.values[i]
	}
	return r.doc.Lookup(name)
}

// of has the row be one of a record, and returns how many the record makes: at least
// one, also where an array is empty or missing.
func (r *unwoundRow) of(doc bson.Raw) int {
	r.doc = doc
	n := 1
	for i, field := range slices.Backward(r.apart) {
		r.wholes[i], r.below[i] = doc.Lookup(field), n
		n = min(n*max(lengthOf(r.wholes[i]), 1), math.MaxInt32)
	}
	return n
}

// unwoundRecord is a row with the number of rows that its record makes.
type unwoundRecord struct {
	row   *unwoundRow
	times int
}

// made yields records with the number of rows made of them. More rows than maxUnwound
// are an error.
func (u unwinding) made(ctx context.Context, records iter.Seq2[index.Row, error]) iter.Seq2[unwoundRecord, error] {
	return func(yield func(unwoundRecord, error) bool) {
		row := &unwoundRow{u, nil, make([]bson.RawValue, len(u)), make([]bson.RawValue, len(u)), make([]int, len(u))}
		count, seen := 0, 0
		for record, err := range records {
			if seen++; seen%1024 == 0 && err == nil {
				err = ctx.Err()
			}
			n := 0
			if err == nil {
				n = row.of(record.Doc())
			}
			if count += n; count > maxUnwound {
				err = rules.Wrongf("columns", "", "make more than %d rows of the records found", maxUnwound)
			}
			if !yield(unwoundRecord{row, n}, err) || err != nil {
				return
			}
		}
	}
}

// count returns how many rows are made of records.
func (u unwinding) count(ctx context.Context, records iter.Seq2[index.Row, error]) (n int, err error) {
	for made, err := range u.made(ctx, records) {
		if err != nil {
			return 0, err
		}
		n += made.times
	}
	return n, nil
}

// each yields the rows made of records after the first skip, one after the other: it
// holds no more than one.
func (u unwinding) each(ctx context.Context, records iter.Seq2[index.Row, error], skip int) iter.Seq2[*unwoundRow, error] {
	return func(yield func(*unwoundRow, error) bool) {
		seen, skip := 0, skip
		each := func(row *unwoundRow) bool {
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return false
			}
			return yield(row, nil)
		}
		for made, err := range u.made(ctx, records) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case skip >= made.times:
				skip -= made.times
			case !made.row.walk(0, skip, each):
				return
			default:
				skip = 0
			}
		}
	}
}

// walk has the row be each of its record's in turn but for the first skip. Of the
// arrays, which are gone through from a place on, the last turns fastest. It reports
// whether to go on.
func (r *unwoundRow) walk(place, skip int, each func(*unwoundRow) bool) bool {
	if place == len(r.apart) {
		return each(r)
	}
	whole := r.wholes[place]
	if r.values[place] = whole; whole.Type == bson.TypeArray {
		r.values[place] = bson.RawValue{}
	}
	empty := true
	for v := range raw.Elements(whole) {
		if empty = false; skip >= r.below[place] {
			skip -= r.below[place]
			continue
		}
		r.values[place] = v
		if !r.walk(place+1, skip, each) {
			return false
		}
		skip = 0
	}
	return !empty || r.walk(place+1, skip, each)
}

// lengthOf is the number of elements of an array; 0 for anything else.
func lengthOf(v bson.RawValue) (n int) {
	for range raw.Elements(v) {
		n++
	}
	return n
}

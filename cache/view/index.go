package view

import (
	"bytes"
	"cmp"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
)

// pathIndex is a path of a segment turned around: the distinct values that
// matching sees there, each with the rows that hold it. A condition on the path
// is decided once per distinct value instead of once per row.
//
// Values are distinct by type and bytes, so that a condition may tell 1 from 1.0,
// and sorted by MongoDB's order, so that equality and ranges are binary searches.
// What traversal reached by stepping into an array is kept apart from the same
// value standing alone, because some conditions ($size, $elemMatch) see only the latter.
type pathIndex struct {
	path   filter.Path
	values []distinct // sorted
	rows   []uint32   // values[i] is held by rows[values[i].from:values[i].to]
	bytes  int64
}

// distinct is one value of an index with its stretch of rows.
type distinct struct {
	filter.Value
	from, to uint32
}

func (x *pathIndex) memory() int64 { return x.bytes }

// pathIndex returns the segment's index of a path.
func (s *segment) pathIndex(b *budget, path filter.Path) *pathIndex {
	return derive(b, s, derivedKey{kind: "index", path: path.String()}, func() *pathIndex {
		return buildIndex(s.rows, path)
	})
}

// posting notes that a row holds the value with that number.
type posting struct{ value, row uint32 }

// buildIndex indexes rows by what Walk reaches at path.
func buildIndex(rows []bson.Raw, path filter.Path) *pathIndex {
	x := &pathIndex{path: path}
	known := newNumbering()
	var last []uint32 // per value, one more than the last row noted
	var postings []posting
	for row, doc := range rows {
		filter.Walk(doc, path, func(v filter.Value) bool {
			n, fresh := known.of(v)
			if fresh {
				x.values = append(x.values, distinct{Value: v})
				last = append(last, 0)
			}
			if last[n] != uint32(row)+1 {
				last[n] = uint32(row) + 1
				postings = append(postings, posting{n, uint32(row)})
			}
			return true
		})
	}
	x.arrange(postings)
	x.bytes = int64(len(x.values))*int64(unsafe.Sizeof(distinct{})) + int64(len(x.rows))*4 + 128
	return x
}

// arrange sorts the values and lays their rows out behind each other.
func (x *pathIndex) arrange(postings []posting) {
	counts := make([]uint32, len(x.values))
	for _, p := range postings {
		counts[p.value]++
	}
	rankOf := make([]uint32, len(x.values))
	sorted := make([]distinct, len(x.values))
	var at uint32
	for r, n := range inOrder(x.values) {
		rankOf[n] = uint32(r)
		sorted[r] = x.values[n]
		sorted[r].from, sorted[r].to = at, at
		at += counts[n]
	}
	x.values = sorted
	x.rows = make([]uint32, len(postings))
	for _, p := range postings {
		d := &x.values[rankOf[p.value]]
		x.rows[d.to] = p.row
		d.to++
	}
}

// compareDistinct orders an index: what is missing first, then by MongoDB's order,
// then by type and bytes so that the order is total.
func compareDistinct(a, b *distinct) int {
	if a.Missing || b.Missing {
		return cmp.Compare(truth(b.Missing), truth(a.Missing))
	}
	return cmp.Or(
		filter.CompareValues(a.Raw, b.Raw),
		cmp.Compare(a.Raw.Type, b.Raw.Type),
		bytes.Compare(a.Raw.Value, b.Raw.Value),
		cmp.Compare(truth(a.Elem), truth(b.Elem)),
	)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

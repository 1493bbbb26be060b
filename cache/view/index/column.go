package index

import (
	"strings"
	"unsafe"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// column has the values of every row of a segment, for counting.
//
// Counting by a column reads one number for each value of a selected row. Counting by an index would intersect the
// rows of each value with the selection, however few rows are selected.
type column struct {
	values []bson.RawValue  // distinct by type and bytes
	starts []uint32         // row i has cells[starts[i]:starts[i+1]]
	cells  []uint32         // positions in values
	sets   []*bitset.BitSet // the rows of each value, if the path's index has a set for every value; otherwise nil
}

// Memory implements derived. It counts the values' bytes, which keep the rows in memory if these are replaced.
func (c *column) Memory() int64 {
	bytes := len(c.values)*int(unsafe.Sizeof(bson.RawValue{})) + (len(c.cells)+len(c.starts))*4
	for _, v := range c.values {
		bytes += len(v.Value)
	}
	return int64(bytes)
}

// column returns the segment's column of a field's values after unwinding an array; an empty unwind means no array.
// Unlike a path index it follows MongoDB's aggregation: a path through an array is the array of the values found
// there, a row counts once for each element that unwinding makes a row of, and a missing field groups as null.
func (s *segment) column(field, unwind string) *column {
	if path, err := raw.ParsePath(field); err == nil &&
		!s.has(derivedKey{kind: kindColumn, path: field, arg: unwind}) {
		field = s.existing(path, true).String()
	}
	return derive(s, derivedKey{kind: kindColumn, path: field, arg: unwind}, func() *column {
		return s.buildColumn(field, unwind)
	})
}

// newColumn returns an empty column for so many rows, and a function that adds a value to the next row. After the
// last value of a row, the caller appends the length of cells to starts.
func newColumn(rows int) (c *column, note func(bson.RawValue)) {
	c = &column{starts: make([]uint32, 1, rows+1)}
	known := newNumbering()
	return c, func(v bson.RawValue) {
		v = raw.OrNull(v)
		n, fresh := known.of(raw.Value{Raw: v})
		if fresh {
			c.values = append(c.values, v)
		}
		c.cells = append(c.cells, n)
	}
}

// buildColumn reads all rows. MongoDB's documentation of $unwind and $group says what counts.
func (s *segment) buildColumn(field, unwind string) *column {
	c, note := newColumn(len(s.rows))
	parts := strings.Split(field, ".")
	for _, row := range s.rows {
		unwound(row, parts, unwind, note)
		c.starts = append(c.starts, uint32(len(c.cells)))
		s.rest()
	}
	return c
}

// unwound calls note with the field's value for each row that unwinding makes of one row: none for a missing, null or
// empty array, and one for a value other than an array.
//
// For a field authors.name:
//
//	{authors: [{name: "A"}, {name: "B"}]}, unwind "authors"   "A", "B"
//	{authors: [{name: "A"}, {name: "B"}]}, no unwind          ["A", "B"]
//	{authors: []}, unwind "authors"                           no call
//	{}, no unwind                                             a zero value, which groups as null
func unwound(row bson.Raw, parts []string, unwind string, note func(bson.RawValue)) {
	doc := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: row}
	if unwind == "" {
		note(raw.Field(doc, parts))
		return
	}
	each := func(element bson.RawValue) {
		if parts[0] != unwind {
			note(raw.Field(doc, parts))
		} else {
			note(raw.Field(element, parts[1:]))
		}
	}
	switch e, _ := raw.Lookup(row, unwind); raw.BracketOf(e.Type) {
	case raw.BracketMissing, raw.BracketNull:
	case raw.BracketArray:
		for element := range raw.Elements(e.Value()) {
			each(element)
		}
	default:
		each(e.Value())
	}
}

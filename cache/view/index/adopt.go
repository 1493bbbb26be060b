package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index/words"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// derivedRules is the version of what Derived yields. It changes with the meaning of a derived value or of its
// parts. A file with another version is not read, and its values are derived again.
const derivedRules = "1 "

// DerivedRules identifies the rules by which values are derived from rows. WordsBy is part of them, because the
// words of rows depend on how texts are folded and split.
func (d *Definition) DerivedRules() string { return derivedRules + d.WordsBy }

// derivedDocument is the document of a derived value. Which Parts it has depends on the kind: joined writes them,
// and unpack reads them.
type derivedDocument struct {
	Kind      derivedKind
	Path, Arg string
	Parts     [][]byte
}

// derivedKeys returns the keys of the values that Derived yields, the least recently used first.
//
// Only values of the first segment count: the others are small, and a file has one segment. Facets are left out,
// since they follow quickly from an index, as are names and verdicts.
func (t *Table) derivedKeys() (keys []derivedKey) {
	t.budget.mu.Lock()
	defer t.budget.mu.Unlock()
	for key, d := range t.budget.values.All() {
		worth := key.isIndex() && key.kind != kindFacet || key.kind == kindOrder // an index makes facets fast
		if worth && key.segment == t.segments[0] && d.bytes > 0 {
			keys = append(keys, key)
		}
	}
	slices.Reverse(keys)
	return keys
}

// DerivedNames names the values that Derived yields. The caller compares them to find out whether the file of
// derived values is out of date.
func (t *Table) DerivedNames() []string {
	var names []string
	for _, key := range t.derivedKeys() {
		names = append(names, fmt.Sprint(key.kind, key.path, key.arg))
	}
	slices.Sort(names)
	return names
}

// Derived yields the indexes that requests use as documents for Adopt, with the rows numbered in the view's order. It
// leaves out what is too large for a document. A BSON document counts its bytes in 32 bits. The caller's file need
// not have all values: what it lacks is derived again after a restart.
func (t *Table) Derived() iter.Seq[bson.Raw] {
	return func(yield func(bson.Raw) bool) {
		to := t.positions()
		for _, key := range t.derivedKeys() {
			doc, err := bson.Marshal(derivedDocument{key.kind, key.path, key.arg, t.joined(key, to)})
			if err == nil && !yield(doc) {
				return
			}
		}
	}
}

// Adopt adds to a table that Load made the values that Derived yielded for a table with the same rows. It keeps
// pointing into the documents.
//
// The checksums of the file protect against damage, and DerivedRules against another meaning. What is wrong
// nonetheless panics in unpack, and is an error here. Then no value is adopted.
func (t *Table) Adopt(docs []bson.Raw) (err error) {
	keys, values := make([]derivedKey, len(docs)), make([]derived, len(docs))
	defer func() {
		if recover() != nil {
			err = errors.New("its values cannot be read")
		}
	}()
	parallel.Split(len(docs), min(runtime.GOMAXPROCS(0), len(docs)), func(_, from, to int) {
		for i := from; i < to; i++ {
			keys[i], values[i] = unpack(docs[i], t.count)
		}
	})
	for i, value := range values {
		derive(t.segments[0], keys[i], func() derived { return value })
	}
	return nil
}

// unpack reads a document of Derived. It panics if the document is not one. It slices the parts in place, and
// copies no values: they stay in the mapped file.
func unpack(doc bson.Raw, rows int) (derivedKey, derived) {
	var p [][]byte
	for part := range raw.Elements(raw.Get(doc, "parts")) {
		_, content, _ := part.BinaryOK() // nothing is written as null
		p = append(p, content)
	}
	key := derivedKey{kind: derivedKind(raw.Get(doc, "kind").AsInt64()), path: raw.StringField(doc, "path"),
		arg: raw.StringField(doc, "arg")}
	switch key.kind {
	case kindIndex:
		x := &pathIndex{rows: raw.Numbers[uint32](p[4])}
		values, from := unpackValues(p), uint32(0)
		x.values = make([]distinct, len(values))
		for i, to := range raw.Numbers[uint32](p[3]) {
			x.values[i] = distinct{Value: values[i], from: from, to: to}
			from = to
		}
		x.finish(rows)
		return key, x
	case kindTexts, kindFoldedTexts:
		return key, &textSearch{joined: raw.String(p[0]), starts: raw.Numbers[uint32](p[1])}
	case kindColumn:
		c := &column{starts: raw.Numbers[uint32](p[3]), cells: raw.Numbers[uint32](p[4])}
		for _, v := range unpackValues(p) {
			c.values = append(c.values, v.Raw)
		}
		return key, c
	case kindWords:
		return key, words.FromParts(p)
	case kindOrder:
		return key, permutation(raw.Numbers[uint32](p[0]))
	}
	panic(fmt.Sprintf("a value of kind %d", key.kind))
}

// packValues returns values as three parts: their types, the ends of their bytes, and their bytes. Two bytes of the
// first part stand for each value: its BSON type, and whether it is an element (1) or missing (2).
func packValues[V any](all []V, value func(V) raw.Value) [][]byte {
	var kinds, content []byte
	ends := make([]uint32, 0, len(all))
	for i := range all {
		v := value(all[i])
		kinds = append(kinds, byte(v.Raw.Type), byte(truth(v.Elem)|truth(v.Missing)<<1))
		content = append(content, v.Raw.Value...)
		ends = append(ends, uint32(len(content)))
	}
	return [][]byte{kinds, raw.Bytes(ends), content}
}

// unpackValues is the inverse of packValues.
func unpackValues(p [][]byte) []raw.Value {
	kinds, content, from := p[0], p[2], uint32(0)
	values := make([]raw.Value, len(kinds)/2)
	for i, to := range raw.Numbers[uint32](p[1]) {
		values[i].Raw = bson.RawValue{Type: bson.Type(kinds[2*i]), Value: content[from:to:to]}
		values[i].Elem, values[i].Missing = kinds[2*i+1]&1 != 0, kinds[2*i+1]&2 != 0
		from = to
	}
	return values
}

// dead is the position of a row that was replaced.
const dead = math.MaxUint32

// positions returns the position of each slot in the view's order, or nil if that is the slot. A row's position is
// its slot in the table that Load makes of the rows in the view's order.
func (t *Table) positions() []uint32 {
	if len(t.segments) == 1 && t.size == t.count {
		return nil
	}
	to := slices.Repeat([]uint32{dead}, t.size)
	at := uint32(0)
	for slot := range t.inOrder() {
		to[slot] = at
		at++
	}
	return to
}

// joined returns a derived value of all live rows in parts. A nil to means that the first segment has just these
// rows.
//
// Several segments are joined without deriving anything from the rows again: each value's rows are renumbered, and
// values that two segments share are united.
func (t *Table) joined(key derivedKey, to []uint32) [][]byte {
	path := raw.PathOf(key.path)
	switch key.kind {
	case kindIndex:
		x := t.joinedIndex(path, to)
		ends := make([]uint32, len(x.values))
		for i := range x.values {
			ends[i] = x.values[i].to
		}
		return append(packValues(x.values, func(d distinct) raw.Value { return d.Value }), raw.Bytes(ends),
			raw.Bytes(x.rows))
	case kindTexts, kindFoldedTexts:
		x := t.joinedIndex(path, to).join(key.kind == kindFoldedTexts)
		return [][]byte{[]byte(x.joined), raw.Bytes(x.starts)}
	case kindColumn:
		c := t.joinedColumn(key, to)
		return append(packValues(c.values, func(v bson.RawValue) raw.Value { return raw.Value{Raw: v} }),
			raw.Bytes(c.starts), raw.Bytes(c.cells))
	case kindOrder:
		rows := make([]uint32, 0, t.count)
		all := Subset{table: t, rows: t.live, count: t.count, order: orderNamed(key.path)}
		_ = all.merged(context.Background(), 0, t.count, func(slot Slot) bool { // fails only if the context ends
			if to != nil {
				slot = Slot(to[slot])
			}
			rows = append(rows, uint32(slot))
			return true
		})
		return [][]byte{raw.Bytes(rows)}
	}
	indexes := make([]*words.Index, len(t.segments))
	for i, seg := range t.segments {
		indexes[i] = seg.words()
	}
	if to == nil {
		return indexes[0].Parts()
	}
	return words.Join(t.count, indexes, func(i int, row uint32) (uint32, bool) {
		t.segments[i].nap()
		at := to[t.bases[i]+Slot(row)]
		return at, at != dead
	}).Parts()
}

// joinedIndex is joined for the index of a path. It needs no sets of rows and no bytes, which finish adds after
// reading.
func (t *Table) joinedIndex(path raw.Path, to []uint32) *pathIndex {
	if to == nil {
		return t.segments[0].pathIndex(path, 1)
	}
	known, all := newNumbering(), []posting(nil)
	for i, seg := range t.segments {
		x := seg.pathIndex(path, 1)
		for v := range x.values {
			seg.nap()
			for _, row := range x.rowsOf(v) {
				if at := to[t.bases[i]+Slot(row)]; at != dead {
					value, _ := known.of(x.values[v].Value)
					all = append(all, posting{value, at})
				}
			}
		}
	}
	// arrange expects rows in ascending order, and they come here value by value, segment by segment.
	slices.SortFunc(all, func(a, b posting) int { return cmp.Compare(a.row, b.row) })
	x := arrange(known.values, all)
	x.findTexts()
	return x
}

// joinedColumn is joined for a column. Rows come in the view's order, as in the file.
func (t *Table) joinedColumn(key derivedKey, to []uint32) *column {
	if to == nil {
		return t.segments[0].column(key.path, key.arg)
	}
	columns := make(map[*segment]*column)
	for _, seg := range t.segments {
		columns[seg] = seg.column(key.path, key.arg)
	}
	c, note := newColumn(t.count)
	for slot := range t.inOrder() {
		seg, row := t.locate(slot)
		seg.nap()
		from := columns[seg]
		for _, cell := range from.cells[from.starts[row]:from.starts[row+1]] {
			note(from.values[cell])
		}
		c.starts = append(c.starts, uint32(len(c.cells)))
	}
	return c
}

package index

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"unsafe"

	"github.com/bits-and-blooms/bitset"

	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// pathIndex is the inverted index of a path of a segment: the distinct values that matching sees there, each with the
// rows that have it. A condition on the path is decided once per distinct value instead of once per row.
//
// Values are distinct by type and bytes, so that a condition can tell 1 from 1.0. They are sorted by MongoDB's order,
// so that equality and ranges are binary searches. An element of an array and the same value outside an array are two
// entries, because some conditions ($size, $elemMatch) see only the latter.
//
// For example, the rows {a: 2}, {a: [1, 2]} and {} have at the path a, in this order:
//
//	missing       row 2
//	1 (element)   row 1
//	2             row 0
//	2 (element)   row 1
//	[1, 2]        row 1
//
// The values point into the rows. So an index keeps no copies of texts, but reading a value may read a page of a
// mapped file.
type pathIndex struct {
	values []distinct // sorted
	rows   []uint32   // rows[values[i].from:values[i].to] have values[i]
	texts  stretch    // the values that are strings
	bytes  int64
}

// stretch is a range of an index's values, from from up to but excluding to.
type stretch struct{ from, to int }

// distinct is one value of an index with its rows: a stretch and, if they are many, also a set, which unites
// faster. The rows ascend, because they are added in their order.
type distinct struct {
	raw.Value
	from, to uint32
	dense    *bitset.BitSet // nil if few rows have the value
}

// A value is dense if more than one in denseShare of a segment's rows have it: its set takes at most twice its list.
//
// Row numbers take four bytes each, so a list of n/64 rows takes n/16 bytes, and a set of n bits n/8.
const denseShare = 64

// Memory implements derived.
func (x *pathIndex) Memory() int64 { return x.bytes }

// pathIndex returns the segment's index of a path. Up to workers goroutines build it.
func (s *segment) pathIndex(path raw.Path, workers int) *pathIndex {
	return derive(s, indexKey(path), func() *pathIndex { return s.buildIndexes([]raw.Path{path}, workers)[0] })
}

// passPaths is how many indexes are built in one pass over the rows. Requests that need one wait for all of them.
const passPaths = 4

// pathIndexes builds the missing indexes of at most passPaths paths in one pass over the rows. Reading the rows,
// which may lie in mapped files, takes most of the time, and one pass reads each of them only once. A request for
// one of the paths that comes meanwhile waits for the pass, as each path is derived under its own key.
func (s *segment) pathIndexes(paths []raw.Path, workers int) {
	missing := slices.DeleteFunc(slices.Clone(paths), func(path raw.Path) bool { return s.has(indexKey(path)) })
	all := sync.OnceValue(func() []*pathIndex { return s.buildIndexes(missing, workers) })
	parallel.Split(len(missing), len(missing), func(_, from, to int) { // together, so that requests wait for the pass
		for i := from; i < to; i++ {
			derive(s, indexKey(missing[i]), func() *pathIndex { return all()[i] })
		}
	})
}

// indexKey names the index of a path in the budget.
func indexKey(path raw.Path) derivedKey { return derivedKey{kind: kindIndex, path: path.String()} }

// indexPart is the fewest rows for which a goroutine is worthwhile.
const indexPart = 4096

// buildIndexes indexes the rows by the values that Walk yields at each path. Goroutines index parts, then it merges
// them.
func (s *segment) buildIndexes(paths []raw.Path, workers int) []*pathIndex {
	rows := s.rows
	// Index one part of the rows on each goroutine, then merge the parts path by path.
	workers = max(1, min(workers, len(rows)/indexPart))
	parts := make([][]*pathIndex, workers)
	parallel.Split(len(rows), workers, func(w, from, to int) {
		parts[w] = s.indexStretch(paths, from, to)
	})
	all := parts[0]
	parallel.Split(len(paths), min(workers, len(paths)), func(_, from, to int) {
		for i := from; i < to; i++ {
			for _, part := range parts[1:] {
				all[i] = merge(all[i], part[i])
			}
			all[i].finish(len(rows))
		}
	})
	return all
}

// finish completes the index of n rows: it finds the texts, and makes sets for the values in many rows.
func (x *pathIndex) finish(n int) {
	x.findTexts()
	x.bytes = int64(len(x.values))*int64(unsafe.Sizeof(distinct{})) + int64(len(x.rows))*4 + 128
	for i := range x.values {
		d := &x.values[i]
		// A set is not worth its allocation for a few rows, even of a small segment.
		if int(d.to-d.from) <= max(n/denseShare, 64) {
			continue
		}
		d.dense = bitset.New(uint(n))
		for _, row := range x.rowsOf(i) {
			d.dense.Set(uint(row))
		}
		x.bytes += int64(n / 8)
	}
}

// posting says that a row has the value with that number.
type posting struct{ value, row uint32 }

// postings are the postings of one path.
type postings struct {
	known *numbering
	last  []uint32 // by value: one more than the last row with it
	all   []posting
}

// add notes that a row has a value. Rows come in ascending order, so it suffices to remember the last row of each
// value to note a row once that has the value several times, as in an array.
func (p *postings) add(v raw.Value, row uint32) {
	n, fresh := p.known.of(v)
	if fresh {
		p.last = append(p.last, 0)
	}
	if p.last[n] != row+1 {
		p.last[n] = row + 1
		p.all = append(p.all, posting{n, row})
	}
}

// indexStretch indexes the rows [from, to) by paths on one goroutine.
func (s *segment) indexStretch(paths []raw.Path, from, to int) []*pathIndex {
	found := make([]postings, len(paths))
	for i := range found {
		found[i] = postings{known: newNumbering(), all: make([]posting, 0, to-from)}
	}
	for row := from; row < to; row++ {
		for i, path := range paths {
			raw.Walk(s.rows[row], path, func(v raw.Value) bool {
				found[i].add(v, uint32(row))
				return true
			})
		}
		s.rest()
	}
	indexes := make([]*pathIndex, len(paths))
	for i := range found {
		indexes[i] = arrange(found[i].known.values, found[i].all)
		found[i] = postings{} // free it while the next is arranged
	}
	return indexes
}

// arrange sorts values and lays out their rows one after the other.
//
// It counts the rows of each value, sorts the values and gives each its stretch, and then distributes the postings:
// a counting sort, which leaves the rows of a value in their order.
func arrange(values []raw.Value, postings []posting) *pathIndex {
	counts := make([]uint32, len(values))
	for _, p := range postings {
		counts[p.value]++
	}
	x := &pathIndex{values: make([]distinct, len(values)), rows: make([]uint32, len(postings))}
	var at uint32
	sorted, rankOf := make([]uint32, len(values)), make([]uint32, len(values))
	for n := range sorted {
		sorted[n] = uint32(n)
	}
	slices.SortFunc(sorted, func(a, b uint32) int { return compareDistinct(&values[a], &values[b]) })
	for r, n := range sorted {
		rankOf[n] = uint32(r)
		x.values[r] = distinct{Value: values[n], from: at, to: at}
		at += counts[n]
	}
	for _, p := range postings {
		d := &x.values[rankOf[p.value]]
		x.rows[d.to] = p.row
		d.to++
	}
	return x
}

// merge joins the indexes of two parts. The rows of a come before those of b.
//
// It relies on both being sorted by compareDistinct, a total order: values that compare as equal are the same
// value.
func merge(a, b *pathIndex) *pathIndex {
	x := &pathIndex{
		values: make([]distinct, 0, len(a.values)+len(b.values)),
		rows:   make([]uint32, 0, len(a.rows)+len(b.rows)),
	}
	for i, j := 0, 0; i < len(a.values) || j < len(b.values); {
		order := 0
		switch {
		case j == len(b.values):
			order = -1
		case i == len(a.values):
			order = 1
		default:
			order = compareDistinct(&a.values[i].Value, &b.values[j].Value)
		}
		d := distinct{from: uint32(len(x.rows))}
		if order <= 0 {
			d.Value = a.values[i].Value
			x.rows = append(x.rows, a.rowsOf(i)...)
			i++
		}
		if order >= 0 {
			d.Value = b.values[j].Value
			x.rows = append(x.rows, b.rowsOf(j)...)
			j++
		}
		d.to = uint32(len(x.rows))
		x.values = append(x.values, d)
	}
	return x
}

// rowsOf returns the rows with the value at a position, ascending. They are the index's own.
func (x *pathIndex) rowsOf(value int) []uint32 {
	return x.rows[x.values[value].from:x.values[value].to]
}

// compareDistinct orders an index totally: the missing value first, then by MongoDB's order, then by type,
// bytes, and whether it is an element of an array. Without these three, 1 and 1.0 would be in any order, and merge
// could not tell whether two values are the same.
func compareDistinct(a, b *raw.Value) int {
	if a.Missing || b.Missing {
		return cmp.Compare(truth(b.Missing), truth(a.Missing))
	}
	return cmp.Or(
		raw.Compare(a.Raw, b.Raw),
		cmp.Compare(a.Raw.Type, b.Raw.Type),
		bytes.Compare(a.Raw.Value, b.Raw.Value),
		cmp.Compare(truth(a.Elem), truth(b.Elem)),
	)
}

// truth returns 1 for true, so that false sorts first.
func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// numbering numbers distinct values in the order in which it first sees them. Two values are the same if they have
// the same type and bytes, and both or neither are elements of arrays. It copies no values: it finds numbers by hash,
// and compares values with equal hashes.
type numbering struct {
	// The seed is random, so that no record can be written whose values all have the same hash.
	seed   maphash.Seed
	heads  map[uint64]uint32 // by hash: the newest value with it, plus one
	values []raw.Value
	chain  []uint32 // the next older value with the same hash, plus one; 0 if there is none
}

func newNumbering() *numbering {
	return &numbering{seed: maphash.MakeSeed(), heads: make(map[uint64]uint32)}
}

// of returns the number of a value, and whether it is the first one like it. It keeps the value if so: the value's
// bytes must not change afterwards.
func (n *numbering) of(v raw.Value) (number uint32, fresh bool) {
	hash := maphash.Bytes(n.seed, v.Raw.Value) ^ uint64(v.Raw.Type)<<8 ^ uint64(truth(v.Elem))
	newest := n.heads[hash]
	for at := newest; at != 0; at = n.chain[at-1] {
		if same(&n.values[at-1], &v) {
			return at - 1, false
		}
	}
	number = uint32(len(n.values))
	n.values = append(n.values, v)
	n.chain = append(n.chain, newest)
	n.heads[hash] = number + 1
	return number, true
}

// same reports whether two values are one to an index: equal in type and bytes, not only by MongoDB's comparison.
func same(a, b *raw.Value) bool {
	return a.Raw.Type == b.Raw.Type && a.Elem == b.Elem && a.Missing == b.Missing &&
		bytes.Equal(a.Raw.Value, b.Raw.Value)
}

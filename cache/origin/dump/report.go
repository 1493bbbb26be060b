package dump

import (
	"cmp"
	"maps"
	"slices"
)

const maxBadListed = 20

// Report is the result of Load.
type Report struct {
	// Collections are the collections of the dump, sorted by name, including empty ones.
	Collections []Tally
	// Bad are the first 20 bad documents that Load skipped.
	Bad []*BadDocument
	// BadTotal is how many bad documents Load skipped.
	BadTotal int
}

// Stored is how many documents were stored in all.
func (r Report) Stored() int {
	n := 0
	for _, t := range r.Collections {
		n += t.Inserted + t.Replaced
	}
	return n
}

// Tally counts the documents of one collection.
type Tally struct {
	Collection string
	Documents  int // good documents in the dump
	Duplicates int // those of Documents that were not stored because a later one has the same _id
	Skipped    int // bad documents, which Documents does not count
	Inserted   int
	Replaced   int
	Removed    int // documents deleted because the dump does not hold them
	// Superseded is where the first of the Duplicates is.
	Superseded Place
	// Kept reports that Drop deleted nothing here because documents were skipped.
	Kept bool
}

func (l *loader) report() Report {
	r := Report{Bad: l.bad, BadTotal: l.badTotal}
	for _, c := range l.byName() {
		r.Collections = append(r.Collections, c.tally)
	}
	return r
}

func (l *loader) byName() []*collection {
	return slices.SortedFunc(maps.Values(l.collections), func(a, b *collection) int {
		return cmp.Compare(a.tally.Collection, b.tally.Collection)
	})
}

package dump

import (
	"cmp"
	"maps"
	"slices"
)

// maxBadListed is how many bad documents a report lists.
const maxBadListed = 20

// Report is what Load did.
type Report struct {
	// Collections are those of the dump, sorted by name, also those it holds no
	// documents of.
	Collections []Tally
	// Bad are the first 20 bad documents that were passed over.
	Bad []*BadDocument
	// BadTotal is how many were passed over.
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

// Tally counts what was done with one collection.
type Tally struct {
	Collection string
	Documents  int // good documents in the dump
	Duplicates int // of these, not stored, because a later one of the dump has the same _id
	Skipped    int // bad documents passed over; not among Documents
	Inserted   int // stored, and new
	Replaced   int // stored in place of one with the same _id
	Removed    int // deleted, because the dump does not hold them
	// Superseded is where the first of Duplicates is.
	Superseded Place
	// Kept says that nothing was deleted although asked for, because of Skipped.
	Kept bool
}

// report sums up the run.
func (l *loader) report() Report {
	r := Report{Bad: l.bad, BadTotal: l.badTotal}
	for _, c := range l.sorted() {
		r.Collections = append(r.Collections, c.tally)
	}
	return r
}

// sorted returns the collections by name.
func (l *loader) sorted() []*collection {
	return slices.SortedFunc(maps.Values(l.collections), func(a, b *collection) int {
		return cmp.Compare(a.tally.Collection, b.tally.Collection)
	})
}

package spectrum

import (
	"cmp"
	"slices"
)

// citation is an activity as topics list it; its topics share it.
type citation struct {
	id   string
	year int64

	html, icon, kind, subkind string // rendered web, icon, type and subtype
}

// entry is an activity in the list of one topic.
type entry struct {
	*citation
	score float64
}

// newest is the up to maxRelated newest of the entries added, by year descending, then
// by id.
type newest []entry

// place returns where an activity belongs in the list and whether it is there already.
// A place of maxRelated is beyond the end.
func (n newest) place(id string, year int64) (int, bool) {
	return slices.BinarySearchFunc(n, id, func(e entry, id string) int {
		return cmp.Or(cmp.Compare(year, e.year), cmp.Compare(e.id, id))
	})
}

// takes reports whether add would keep an activity.
func (n newest) takes(id string, year int64) bool {
	i, _ := n.place(id, year)
	return i < maxRelated
}

// add enters an activity; of one that comes again the better score stays.
func (n newest) add(e entry) newest {
	i, there := n.place(e.id, e.year)
	switch {
	case there:
		n[i].score = max(n[i].score, e.score)
		return n
	case i >= maxRelated:
		return n
	case len(n) == maxRelated:
		n = n[:maxRelated-1]
	}
	return slices.Insert(n, i, e)
}

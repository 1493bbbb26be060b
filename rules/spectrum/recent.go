package spectrum

import (
	"cmp"
	"slices"
)

// citation is an activity in the form in which topics list it. All topics of the activity share it.
type citation struct {
	moment

	// The texts of the activity's rendered document: web, icon, type and subtype.
	html, icon, kind, subkind string
}

// entry is an activity in the list of one topic.
type entry struct {
	*citation
	score float64
}

// newest holds the newest entries, at most maxRelated, by year descending, then by id.
type newest []entry

// place returns an activity's position in the list and whether the list already has it. A position of maxRelated is
// beyond the end.
func (n newest) place(id string, year int64) (int, bool) {
	return slices.BinarySearchFunc(n, id, func(e entry, id string) int {
		return cmp.Or(cmp.Compare(year, e.year), cmp.Compare(e.id, id))
	})
}

// add adds an activity. If the list already has it, add keeps the better score.
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

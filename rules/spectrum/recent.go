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

// newest holds the newest entries, at most maxRelated, by year descending, then by id, then by key:
// the ids 1 and "1" have one text.
type newest []entry

// place returns an activity's position in the list and whether the list already has it. A position of maxRelated is
// beyond the end.
func (n newest) place(m moment) (int, bool) {
	return slices.BinarySearchFunc(n, m, func(e entry, m moment) int {
		return cmp.Or(cmp.Compare(m.year, e.year), cmp.Compare(e.id, m.id), cmp.Compare(e.key, m.key))
	})
}

// add adds an activity. If the list already has it, add keeps the better score.
func (n newest) add(e entry) newest {
	i, there := n.place(e.moment)
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

package byline

// Name is the place of a person's name in a citation: the index of the person in the record's list, and the bounds
// of the name in bytes, with the tags that belong to it.
type Name struct{ Person, From, To int }

// At is like In, for a citation whose names are at known places: the names of one list, in their order. all is the
// number of persons in the record's list. It does not fold a list that leaves some of them out, because the style
// decides how long that is.
func (c Change) At(citation string, found []Name, all int) (changed string, end int) {
	l := list{citation: citation, persons: make([]Person, all)}
	for _, n := range found {
		if n.Person >= all || len(l.found) > 0 && n.Person <= l.found[len(l.found)-1].person {
			break // the list repeats or ends: what follows belongs to another one
		}
		l.found = append(l.found, place{n.Person, n.From, n.To, n.To})
	}
	if len(l.found) == 0 {
		return citation, 0
	}
	if len(l.found) < all {
		c.Most, c.Bound = 0, 0
	}
	return c.change(&l)
}

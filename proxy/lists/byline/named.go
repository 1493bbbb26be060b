package byline

// Name is where a citation has a person: the index in the record's list, and the bytes of the name with the tags that
// belong to it.
type Name struct{ Person, From, To int }

// At is In for a citation that says itself where its names are: those of one list, in their order. all is the number
// of persons of the record. A list that leaves out some of them is not folded: its style says how long it is.
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

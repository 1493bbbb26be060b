// Package byline finds the names of persons in the HTML of a citation, marks some of them and folds long lists.
//
// Citations are stored as HTML, and often another program has written them. So a list of persons is found by its
// names: all in one of the forms of package names, one after the other, with nothing but separators between them.
// Other citations stay as they are.
//
// All functions are pure and safe for concurrent use.
package byline

import (
	"strings"

	"vitrine/rules/render/names"
)

// Person is a person of a list: the first and the last name count.
type Person = names.Person

// Change says what to change in a list of persons. Own, Fold and Rest must not be nil. The zero numbers change
// nothing, so that only persons are marked.
type Change struct {
	Most  int                // number of persons, from the first one on, that stay in view; 0 means all
	Last  bool               // the last person stays in view, too
	Own   func(i int) bool   // reports whether a person is marked and stays in view
	Bound int                // most persons of a list, also those not in view; the others are left out; 0 means all
	Fold  func(n int) string // returns HTML for the end of a list: it unfolds the n persons that are not in view
	Rest  func(n int) string // returns HTML for the end of a list: it stands for the n persons that are left out
	More  bool               // there are others, whom the record does not name: "et al." stays
}

// In returns a citation, from markup.Clean, with its list of persons changed, and the end of the list, 0 if not
// found. It writes out a list that the citation abbreviates if the change folds it.
//
// A list is folded only if it is whole, since the number of hidden persons would be wrong otherwise, and only if
// its names are in one element, since spans around some of them would not nest otherwise. Its own persons are
// marked in any case.
func (c Change) In(citation string, persons []Person) (changed string, end int) {
	l := find(citation, persons)
	if len(l.found) == 0 {
		return citation, 0
	}
	return c.change(&l)
}

// change returns the citation of a list of names with the list changed, and the end of the list in it.
func (c Change) change(l *list) (changed string, end int) {
	citation, persons := l.citation, l.persons
	units, to, left := l.units(), l.found[len(l.found)-1].end, 0
	shown := func(int) bool { return true }
	if c.Most > 0 && l.whole() && l.flat() {
		inView := func(i int) bool { return i < c.Most || c.Last && i == len(persons)-1 || c.Own(i) }
		if !c.More {
			to = max(to, l.rest)
		}
		kept := c.bounded(l.complete())
		left = len(persons) - len(kept)
		if hidden(kept, inView) > 1 { // to unfold a single one takes as much space
			shown = inView
		}
		if left > 0 || len(l.found) < len(persons) || hidden(kept, shown) > 0 {
			units = kept
		}
	}
	from := l.found[0].from
	list := c.write(units, shown, left)
	return citation[:from] + list + citation[to:], from + len(list)
}

// gap stands for persons that a list leaves out before another one.
const gap = " … "

// bounded returns the units of at most Bound persons: of the last one if it stays in view, of those that are
// marked, and of the first ones. They stay in their order, with a gap before each one whose neighbour was left out.
func (c Change) bounded(all []unit) (kept []unit) {
	if c.Bound == 0 || len(all) <= c.Bound {
		return all
	}
	// The order of the calls is the order of importance: the first ones fill what is left.
	keep, free := make([]bool, len(all)), c.Bound
	add := func(i int) {
		if free > 0 && !keep[i] {
			keep[i], free = true, free-1
		}
	}
	if c.Last {
		add(len(all) - 1)
	}
	for i := range all {
		if c.Own(all[i].person) {
			add(i)
		}
	}
	for i := range all {
		add(i)
	}
	for i, u := range all {
		if keep[i] && i > 0 && !keep[i-1] {
			u.before = gap
		}
		if keep[i] {
			kept = append(kept, u)
		}
	}
	return kept
}

// hidden returns the number of units that are not shown.
func hidden(units []unit, shown func(i int) bool) (n int) {
	for _, u := range units {
		if !shown(u.person) {
			n++
		}
	}
	return n
}

// write returns the HTML of a list without the persons that are left out. Persons not shown stand in spans, with
// the separators around them and a gap, and so does what stands for those left out: if the style unfolds the list,
// the gap disappears and the separators appear with the persons.
func (c Change) write(units []unit, shown func(i int) bool, left int) string {
	var b strings.Builder
	for i, u := range units {
		first, last := i == 0 || shown(units[i-1].person), i == len(units)-1 || shown(units[i+1].person)
		if !shown(u.person) && first {
			b.WriteString(`<span class="vl-others">`)
		}
		if i > 0 && (!shown(u.person) || first) {
			b.WriteString(u.before)
		}
		if c.Own(u.person) {
			b.WriteString(`<mark class="vl-mark">` + u.name + `</mark>`)
		} else {
			b.WriteString(u.name)
		}
		b.WriteString(u.after)
		if !shown(u.person) && last {
			if i < len(units)-1 {
				b.WriteString(units[i+1].before + `</span><span class="vl-gap">` + gap)
			}
			b.WriteString(`</span>`)
		}
	}
	rest, folded := "", hidden(units, shown)
	if left > 0 {
		rest = " " + c.Rest(left)
	}
	if folded == 0 {
		return b.String() + rest
	}
	if left > 0 {
		rest = `<span class="vl-others">` + rest + `</span>`
	}
	return `<span class="vl-names">` + b.String() + rest + " " + c.Fold(folded+left) + `</span>`
}

// unit is a person in a list: the separator before the name, its HTML, and notes that follow it.
type unit struct {
	person              int
	before, name, after string
}

// units returns the persons that were found, as the citation has them.
func (l *list) units() (all []unit) {
	for k, p := range l.found {
		u := unit{person: p.person, name: l.citation[p.from:p.to], after: l.citation[p.to:p.end]}
		if k > 0 {
			u.before = l.citation[l.found[k-1].end:p.from]
		}
		all = append(all, u)
	}
	return all
}

// complete returns all persons. It writes the names that were not found in the form of the others, with their
// separator. The word before the last name, "and", separates no others.
func (l *list) complete() []unit {
	found, comma := l.units(), ", "
	if len(found) > 1 && found[1].person == 1 && len(l.persons) > 2 {
		comma = found[1].before
	}
	all := make([]unit, len(l.persons))
	for i, who := range l.persons {
		if len(found) > 0 && found[0].person == i {
			all[i], found = found[0], found[1:]
		} else {
			all[i] = unit{person: i, name: string(l.form.Append(nil, []Person{who}))}
		}
		if all[i].before == "" || i > 0 && i == len(l.persons)-1 && l.skips() {
			all[i].before = comma
		}
	}
	return all
}

package materialize

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vitrine/cache/origin"
)

// shrinkGuard refuses runs that would leave too little of a view, or of the collections that its rows are made from:
// without persons, every project would lose its names. It compares with the highest count of the last day, because
// many small steps add up to a large one.
type shrinkGuard struct {
	max      float64 // share that may disappear; 0 means any
	forced   bool
	now      time.Time
	settings []string                // collections that may shrink by any share, but not to nothing; see Job.Settings
	past     map[string]origin.Count // counts of earlier runs by collection; nil if not read yet
	counted  map[string]int          // counts of this run by collection; "" is the view's rows
	lostRows int                     // rows of the view that this process knew before the store lost the view; else 0
}

// heldError says why a run is held.
type heldError struct{ reason string }

func (e *heldError) Error() string { return e.reason + ": the last good view stays until forced" }

// recall sets the counts of earlier runs, which the store keeps in the view's health. It forgets those of this run.
func (g *shrinkGuard) recall(counts []origin.Count) {
	g.past, g.counted = map[string]origin.Count{}, map[string]int{}
	for _, c := range counts {
		g.past[c.Collection] = c
	}
}

// excess reports whether too many of the earlier records or rows are gone. A number that has grown is no excess,
// because gone is then negative; and what had nothing cannot lose any.
func (g *shrinkGuard) excess(gone, before int) bool {
	return !g.forced && g.max > 0 && before > 0 && float64(gone)/float64(before) > g.max
}

// collection records how many records a collection has. It returns a heldError if they are too few.
func (g *shrinkGuard) collection(name string, records int) error {
	g.counted[name] = records
	most := g.past[name].Most(g.now)
	switch {
	case records > 0 && slices.Contains(g.settings, name):
	case g.excess(most-records, most):
		return &heldError{
			fmt.Sprintf(
				"collection %s has %d records and had %d within the last day, a loss of more than the permitted "+
					"%.4g %%",
				name, records, most, g.max*100)}
	}
	return nil
}

// rows records how many rows a run leaves. It returns a heldError if they are too few.
func (g *shrinkGuard) rows(before, removed, after int) error {
	g.counted[""] = after
	if g.excess(g.lostRows-after, g.lostRows) {
		return &heldError{fmt.Sprintf("the store has lost the view, of which this instance has %d rows, "+
			"and the run would leave %d, a loss of more than the permitted %.4g %%", g.lostRows, after, g.max*100)}
	}
	if g.excess(removed, before) {
		return &heldError{fmt.Sprintf("would remove %d of %d rows, more than the permitted %.4g %%", removed, before,
			g.max*100)}
	}
	if most := g.past[""].Most(g.now); g.excess(most-after, most) {
		return &heldError{
			fmt.Sprintf("would leave %d of the %d rows of the last day, a loss of more than the permitted %.4g %%",
				after, most, g.max*100)}
	}
	return nil
}

// damaged returns the error that holds a run for a damaged record from which other rows are made, too. It returns nil
// for the first run of a view, which has no rows to keep, and for a forced one. The reason is public (/readyz), so it
// has neither the record's id, which is listed as skipped, nor the store's address.
func (g *shrinkGuard) damaged(err error, first bool) error {
	damaged, ok := errors.AsType[*origin.DamagedError](err)
	if !ok || first || g.forced {
		return nil
	}
	return &heldError{"a record of " + damaged.Collection +
		" is damaged, import it again: other rows are made from it, too"}
}

// restoreCounts adds counts that the store has lost. Even a run that is held or fails writes them to the store, where
// the next process finds them.
func (g *shrinkGuard) restoreCounts(counts []origin.Count, rows int) {
	for _, c := range counts {
		if c.Most(g.now) > g.past[c.Collection].Most(g.now) {
			g.past[c.Collection] = c
		}
	}
	if c := g.past[""]; rows > c.Most(g.now) {
		g.past[""] = c.Published(rows, g.now, false)
	}
}

// counts returns the counts for the next run to compare with. Only a good run changes them.
func (g *shrinkGuard) counts(good bool) []origin.Count {
	all := map[string]origin.Count{}
	if !good {
		all = g.past
	}
	for name, records := range g.counted {
		c := g.past[name]
		c.Collection, c.Records = name, records
		if good {
			c = c.Published(records, g.now, g.forced)
		}
		all[name] = c
	}
	return slices.SortedFunc(maps.Values(all),
		func(a, b origin.Count) int { return cmp.Compare(a.Collection, b.Collection) })
}

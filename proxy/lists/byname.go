package lists

import (
	"context"
	"slices"
	"strings"

	"vitrine/cache/view"
	"vitrine/proxy/response"
)

// Moved is the error for a path that has the name of a subject in place of its id, or the id in another case.
type Moved struct {
	Address string // of the list of the id in the format of the path, without parameters
}

// Error implements error.
func (m *Moved) Error() string { return "The list is at " + m.Address + "." }

// At returns the address with a query, which may be empty.
func (m *Moved) At(query string) string {
	if query == "" {
		return m.Address
	}
	return m.Address + "?" + query
}

// mostNamesakes is the most ids that the error for a name of several subjects has.
const mostNamesakes = 10

// absent returns the error for a list about a subject of which there is no public record: Moved, if the path has the
// name of exactly one subject in place of its id, or the id in another case.
func (a *answer) absent(ctx context.Context) error {
	if a.to.shorter {
		return response.ErrGuess // the plan found a record
	}
	var snaps []*view.Snapshot
	for _, name := range a.about.views() {
		snap, err := a.snaps.Of(name)
		if err != nil {
			return err
		}
		snaps = append(snaps, snap)
	}
	values, kind := a.lists.values, a.about.name
	for _, way := range readings(a.to.asked) {
		found, err := values.Named(ctx, snaps, kind, way.name)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(id string) bool { return segment(id) == "" || id == way.name })
		switch {
		case len(found) == 1:
			return &Moved{a.lists.o.BaseURL + listPath(kind, found[0]) + way.suffix}
		case len(found) > 1:
			for i, id := range found {
				found[i] = segment(id)
			}
			found = found[:min(len(found), mostNamesakes)]
			return notFound("Several have the name " + segment(way.name) + ": " + strings.Join(found, ", ") + ".")
		}
	}
	near, err := values.Near(ctx, snaps[0], kind, a.rows.ID) // of activities: their lists have entries
	if err != nil {
		return err
	}
	reason := "No public record knows " + segment(a.rows.ID)
	if near == "" {
		return notFound(reason + ".")
	}
	return notFound(reason + ", did you mean " + near + "?")
}

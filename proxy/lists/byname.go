package lists

import (
	"slices"
	"strings"

	"vitrine/proxy/lists/selection"
	"vitrine/rules/fold"
	"vitrine/rules/markup"
)

// Moved is the error for a path that has the name of a subject in place of its id.
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

// namesakes returns the ids of the subjects with a name or an id that has the words of a text. The name of a person,
// such as "Family, Given", also counts in the other order.
func namesakes(all []selection.Subject, text string) (ids []string) {
	key := fold.Key(text)
	for _, one := range all {
		is := func(name string) bool {
			family, given, _ := strings.Cut(name, ", ")
			return fold.Key(name) == key || fold.Key(given+" "+family) == key
		}
		if key == "" || slices.Contains(ids, one.ID) || markup.PathSegment(one.ID) == "" || len(ids) == mostNamesakes {
			continue
		}
		if is(one.ID) || slices.ContainsFunc(one.Names, is) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

package selection

import (
	"context"
	"slices"

	"vitrine/cache/view"
)

// Start is a group of a list, and where it begins.
type Start struct {
	Group
	Position int // of its first entry, from 1
}

// Starts returns the outermost groups of a list on all its pages, in order, or none if the list is not divided. It
// counts them like facets, without reading rows.
func Starts(ctx context.Context, m *Matches) (all []Start, err error) {
	levels := m.levels()
	if len(levels) == 0 || !levels[0].titled || len(m.Query.Order()) > 0 && !m.Sorted {
		return nil, nil
	}
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return nil, err
	}
	parts, err := m.parts(ctx, selected, levels[0])
	if err != nil {
		return nil, err
	}
	// If rows repeat below, a part has more entries than rows.
	repeats := slices.ContainsFunc(levels[1:], level.repeats)
	position := 1
	for _, p := range parts {
		n := p.Count
		if repeats || n == view.Uncounted {
			part, err := selected.Narrow(ctx, p.where(), n)
			if err != nil {
				return nil, err
			}
			p.Count = part.Count()
			if n, err = m.size(ctx, part, levels[1:]); err != nil {
				return nil, err
			}
		}
		if n > 0 {
			group := Group{By: levels[0].name, Value: p.Value, Label: p.Label, Count: p.Count}
			all = append(all, Start{group, position})
		}
		position += n
	}
	return all, nil
}

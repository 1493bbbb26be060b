package selection

import (
	"context"

	"vitrine/cache/fair"
	"vitrine/proxy/lists/params"
	"vitrine/rules/display"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Subject is a unit, person, project or topic that rows are about, with its names in all languages.
type Subject struct {
	ID    string
	Names []string
}

// Subjects returns the subjects of a kind, a parameter, that the matching rows are about; units with those above them.
// It returns none if there are more than most.
func Subjects(ctx context.Context, m *Matches, kind string, most int) ([]Subject, error) {
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return nil, err
	}
	path := paths[kind]
	if kind == params.Unit {
		path = mark.In
	}
	found, err := m.facet(ctx, selected, path)
	if err != nil || len(found) > most {
		return nil, err
	}
	all := make([]Subject, len(found))
	for i, v := range found {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return nil, err
		}
		all[i].ID = display.Text(v.Value)
		one := Known(mark.Of(v.Sample), kind, all[i].ID)
		for _, field := range []string{"name", "name_de", "title"} {
			if name := raw.StringField(one, field); name != "" {
				all[i].Names = append(all[i].Names, name)
			}
		}
	}
	return all, nil
}

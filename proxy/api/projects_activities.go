package api

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// activityCounter counts the activities whose projects hold the name of a project, in an
// array or alone.
type activityCounter func(ctx context.Context, name bson.RawValue) (int, error)

// counter returns how activities are counted: by a look into the index for each name,
// or, of a view in the store, by reading the names of all activities once.
func (t projectTable) counter(ctx context.Context) (activityCounter, error) {
	count := t.selected
	if _, resident := t.activities.Resident(); !resident {
		var err error
		if count, err = t.readCounts(ctx); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, name bson.RawValue) (int, error) {
		if display.Empty(name) {
			return 0, nil
		}
		return count(ctx, name)
	}, nil
}

// selected is the activityCounter of a view in memory.
func (t projectTable) selected(ctx context.Context, name bson.RawValue) (int, error) {
	f, err := t.env.query.Compile(condition("projects", "$eq", name), "")
	if err != nil {
		return 0, err
	}
	found, err := t.activities.Select(ctx, f)
	if err != nil {
		return 0, err
	}
	return found.Count(), nil
}

// readCounts returns the activityCounter of a view in the store.
func (t projectTable) readCounts(ctx context.Context) (activityCounter, error) {
	all, err := t.activities.Select(ctx, filter.All())
	if err != nil {
		return nil, err
	}
	var found raw.Groups[index.Group]
	for row, err := range all.Only("projects").Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		for _, name := range distinctAt(row.Doc(), mustPath("projects")) {
			group, fresh := found.At(name)
			if fresh {
				group.Value = raw.Clone(name)
			}
			group.Count++
		}
	}
	names := raw.JoinEqual(found.All, func(g index.Group) bson.RawValue { return g.Value }, func(into *index.Group, from index.Group) { into.Count += from.Count })
	return func(_ context.Context, name bson.RawValue) (int, error) {
		at, known := slices.BinarySearchFunc(names, name, func(g index.Group, name bson.RawValue) int { return raw.Compare(g.Value, name) })
		if !known {
			return 0, nil
		}
		return names[at].Count, nil
	}, nil
}

// distinctAt returns the values at a path, each once.
func distinctAt(doc bson.Raw, path raw.Path) (values []bson.RawValue) {
	raw.Walk(doc, path, func(v raw.Value) bool {
		if !v.Missing {
			values = append(values, v.Raw)
		}
		return true
	})
	return raw.SortUnique(values)
}

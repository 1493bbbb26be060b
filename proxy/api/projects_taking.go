package api

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// takings counts the activities that take part in a project, by its name.
type takings func(ctx context.Context, name bson.RawValue) (int, error)

// takings returns how activities are counted: by a look into the index for each name,
// or, of a view in the store, by reading the names of all activities once.
func (t tableOf) takings(ctx context.Context) (takings, error) {
	if _, resident := t.activities.Resident(); resident {
		return t.selected, nil
	}
	return readTakings(ctx, t.activities)
}

// selected counts the activities whose projects hold a name, in an array or alone.
func (t tableOf) selected(ctx context.Context, name bson.RawValue) (int, error) {
	if display.Empty(name) {
		return 0, nil
	}
	f, err := t.env.query.Compile(bson.D{{Key: "projects", Value: bson.D{{Key: "$eq", Value: name}}}}, "")
	if err != nil {
		return 0, err
	}
	found, err := t.activities.Select(ctx, f)
	if err != nil {
		return 0, err
	}
	return found.Count(), nil
}

// taken is a name in the projects of so many activities.
type taken struct {
	name  bson.RawValue
	count int
}

// readTakings counts the activities by what their projects hold.
func readTakings(ctx context.Context, activities *view.Snapshot) (takings, error) {
	all, err := activities.Select(ctx, filter.All())
	if err != nil {
		return nil, err
	}
	path := mustPath("projects")
	var found raw.Groups[taken]
	for row, err := range all.Only("projects").Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		for _, name := range distinctAt(row.Doc(), path) {
			t, fresh := found.At(name)
			if fresh {
				t.name = raw.Clone(name)
			}
			t.count++
		}
	}
	names := raw.JoinEqual(found.All, func(t taken) bson.RawValue { return t.name }, func(into *taken, from taken) { into.count += from.count })
	return func(_ context.Context, name bson.RawValue) (n int, _ error) {
		at, known := slices.BinarySearchFunc(names, name, func(t taken, name bson.RawValue) int { return raw.Compare(t.name, name) })
		if !known || display.Empty(name) {
			return 0, nil
		}
		return names[at].count, nil
	}, nil
}

// distinctAt returns the values at a path, each once.
func distinctAt(doc bson.Raw, path raw.Path) (values []bson.RawValue) {
	raw.Walk(doc, path, func(v raw.Value) bool {
		same := func(w bson.RawValue) bool { return raw.Compare(v.Raw, w) == 0 }
		if !v.Missing && !slices.ContainsFunc(values, same) {
			values = append(values, v.Raw)
		}
		return true
	})
	return values
}

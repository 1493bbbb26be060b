package lists

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/selection"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// mostFollowed is for how many changes of a view Concerned looks. With more, caches drop the whole view.
const mostFollowed = 1000

// Concerned returns the changes that led to a snapshot, and as changes the rows whose answers show something of a
// changed record: those that its notices are about, before the change or after it, and those with notices about it.
func (l *Lists) Concerned(ctx context.Context, next *view.Snapshot, changes []index.Change) ([]index.Change, error) {
	if !l.Enabled() || next.Meta().View != rules.ViewActivities || len(changes) == 0 || len(changes) > mostFollowed {
		return changes, nil
	}
	said, err := l.saidIn(ctx, next)
	if err != nil {
		return nil, err
	}
	var keys []string // DOIs and ids
	for _, c := range changes {
		for _, row := range []bson.Raw{c.Old, c.Doc} {
			if about := mark.Of(row); about != nil {
				keys = append(keys, said.by(row)...)
				for v := range raw.Elements(raw.Get(about, "about")) {
					keys = append(keys, raw.Text(v))
				}
			}
		}
	}
	slices.Sort(keys)
	all := slices.Clip(changes)
	for some := range slices.Chunk(slices.Compact(keys), mostFollowed) {
		values := make([]any, len(some))
		for i, key := range some {
			values[i] = key
		}
		either := filter.Or(filter.OneOf(mark.DOI, values...), selection.IDs(some...))
		selected, err := next.SelectUncounted(ctx, filter.And(l.public, either))
		if err != nil {
			return nil, err
		}
		for row, err := range selected.Only("_id", mark.Field).Rows(ctx, 0, 0) {
			if err != nil {
				return nil, err
			}
			all = append(all, index.Change{ID: row.Doc().Lookup("_id"), Doc: row.Doc()})
		}
	}
	return all, nil
}

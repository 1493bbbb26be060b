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

// mostFollowed is for how many changes of a view Concerned looks. With more, such as after an import, caches drop
// the whole view: looking for so many would cost more than the answers that it saves. It is also the number of keys
// that one query compares.
const mostFollowed = 1000

// Concerned returns the changes that led to a snapshot, and as changes the rows whose answers show something of a
// changed record: those that its notices are about, before the change or after it, and those with notices about it.
// Caches use it to drop the answers about them: a new notice of retraction changes the page of the retracted work,
// whose own record stays the same.
//
// changes is not modified. The result is changes itself if lists are disabled, the view is not that of activities,
// which alone has notices, or there are no changes or more than mostFollowed.
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

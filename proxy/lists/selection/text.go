package selection

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/raw"
)

// sortPaths are the paths of the texts that rows are sorted by.
var sortPaths = map[string]raw.Path{"title": mustPath("title"), "author": mustPath("authors.0.last")}

// batch is how many rows of a view in the store are read at a time once they are sorted.
const batch = 128

// checkEvery is how many rows are folded before others get their turn.
const checkEvery = 64

// sorted is a row as it is sorted.
type sorted struct {
	key []byte    // the folded text; empty: there is none
	at  int       // its place in the order of the view
	row index.Row // none of a view in the store, where each keeps those around it
	id  string    // of a view in the store, as idKey returns it
}

// byText reads a page of rows in the order of a text as readers see it: case and accents do
// not count. Rows without one come last in both directions. Rows with equal texts stay in the
// order of the view.
func (l *Selection) byText(ctx context.Context, part view.Selection, path raw.Path, down bool, page query.Page) iter.Seq2[index.Row, error] {
	return func(yield func(index.Row, error) bool) {
		all, err := l.keyed(ctx, part, path)
		slices.SortFunc(all, func(a, b sorted) int {
			c := bytes.Compare(a.key, b.key)
			if down {
				c = -c
			}
			if len(a.key) == 0 || len(b.key) == 0 {
				c = min(len(b.key), 1) - min(len(a.key), 1)
			}
			return cmp.Or(c, a.at-b.at)
		})
		from, to := page.Cut(len(all))
		for some := range slices.Chunk(all[from:to], batch) {
			if some[0].id != "" {
				if err = l.fetch(ctx, some); err != nil {
					break
				}
			}
			for _, one := range some {
				if one.row.Snap != nil && !yield(one.row, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(index.Row{}, err)
		}
	}
}

// keyed returns what the rows of a part are sorted by, in the order of the view.
func (l *Selection) keyed(ctx context.Context, part view.Selection, path raw.Path) ([]sorted, error) {
	all, keys, folder := make([]sorted, 0, part.Count()), []byte(nil), fold.Folder{}
	field, turn := raw.SortField{Path: path}, fair.TurnOf(ctx)
	_, resident := l.snap.Resident()
	for row, err := range part.Only(path.Name(0)).Rows(ctx, 0, 0) {
		if err == nil && len(all)%checkEvery == 0 {
			err = turn.Check(ctx)
		}
		if err != nil {
			return nil, err
		}
		from, doc := len(keys), row.Doc()
		keys = folder.AppendKey(keys, display.Text(field.Key(doc)))
		one := sorted{key: keys[from:len(keys):len(keys)], at: len(all), row: row}
		if !resident {
			one.row, one.id = index.Row{}, idKey(doc)
		}
		all = append(all, one)
	}
	return all, nil
}

// fetch reads rows by their ids from the store. A row that is gone stays empty.
func (l *Selection) fetch(ctx context.Context, some []sorted) error {
	var ids bson.A
	for _, one := range some {
		ids = append(ids, bson.RawValue{Type: bson.Type(one.id[0]), Value: []byte(one.id[1:])})
	}
	where, err := l.Reader.Compile(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, "")
	if err != nil {
		return err
	}
	selected, err := l.snap.Select(ctx, where)
	if err != nil {
		return err
	}
	found, err := byKey(ctx, selected, idKey)
	for i, one := range some {
		some[i].row = found[one.id]
	}
	return err
}

// idKey is the _id of a row as a key of a map: its type and its bytes.
func idKey(row bson.Raw) string {
	id := row.Lookup("_id")
	return string(append([]byte{byte(id.Type)}, id.Value...))
}

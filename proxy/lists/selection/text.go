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
	key []byte // the folded text; empty: there is none
	at  int    // its place in the order of the view
}

// byText reads a page of rows in the order of a text as readers see it: case and accents do
// not count. Rows without one come last in both directions. Rows with equal texts stay in the
// order of the view.
func (l *Selection) byText(ctx context.Context, part view.Selection, path raw.Path, down bool, page query.Page) iter.Seq2[index.Row, error] {
	return func(yield func(index.Row, error) bool) {
		keys, rows, err := l.keyed(ctx, part, path)
		slices.SortFunc(keys, func(a, b sorted) int {
			c := bytes.Compare(a.key, b.key)
			if down {
				c = -c
			}
			if len(a.key) == 0 || len(b.key) == 0 {
				c = min(len(b.key), 1) - min(len(a.key), 1)
			}
			return cmp.Or(c, a.at-b.at)
		})
		from, to := page.Cut(len(keys))
		for some := range slices.Chunk(keys[from:to], batch) {
			var found []index.Row
			if found, err = rows(some); err != nil {
				break
			}
			for _, row := range found {
				if !yield(row, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(index.Row{}, err)
		}
	}
}

// keyed returns what the rows of a part are sorted by, in the order of the view, and what
// reads some of them. It keeps no row of a view in the store, as each keeps those around it.
func (l *Selection) keyed(ctx context.Context, part view.Selection, path raw.Path) ([]sorted, func([]sorted) ([]index.Row, error), error) {
	all, keys, folder := make([]sorted, 0, part.Count()), []byte(nil), fold.Folder{}
	field, turn := raw.SortField{Path: path}, fair.TurnOf(ctx)
	var rows []index.Row
	var ids []bson.RawValue
	_, resident := l.snap.Resident()
	for row, err := range part.Only(path.Name(0)).Rows(ctx, 0, 0) {
		if err == nil && len(all)%checkEvery == 0 {
			err = turn.Check(ctx)
		}
		if err != nil {
			return nil, nil, err
		}
		from, doc := len(keys), row.Doc()
		keys = folder.AppendKey(keys, display.Text(field.Key(doc)))
		all = append(all, sorted{keys[from:len(keys):len(keys)], len(all)})
		if resident {
			rows = append(rows, row)
		} else {
			id := doc.Lookup("_id")
			ids = append(ids, bson.RawValue{Type: id.Type, Value: bytes.Clone(id.Value)})
		}
	}
	return all, func(some []sorted) (found []index.Row, err error) {
		if !resident {
			return l.stored(ctx, some, ids)
		}
		for _, one := range some {
			found = append(found, rows[one.at])
		}
		return found, nil
	}, nil
}

// stored reads rows by their ids from the store.
func (l *Selection) stored(ctx context.Context, some []sorted, ids []bson.RawValue) (rows []index.Row, err error) {
	wanted := make(bson.A, len(some))
	for i, one := range some {
		wanted[i] = ids[one.at]
	}
	where, err := l.Reader.Compile(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: wanted}}}}, "")
	if err != nil {
		return nil, err
	}
	selected, err := l.snap.Select(ctx, where)
	if err != nil {
		return nil, err
	}
	found, err := byKey(ctx, selected, func(doc bson.Raw) string { return idKey(doc.Lookup("_id")) })
	for _, one := range some {
		if row, ok := found[idKey(ids[one.at])]; ok {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// idKey is an _id as a key of a map.
func idKey(id bson.RawValue) string { return string(append([]byte{byte(id.Type)}, id.Value...)) }

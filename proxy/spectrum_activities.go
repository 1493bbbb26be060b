package proxy

import (
	"bytes"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// spectrumActivities answers GET /api/spectrum-activities: a row for each
// spectrum entry of the asked name, best score first. Its count is always 0.
func (e *env) spectrumActivities(_ context.Context, r request) (plan, error) {
	name, err := r.params.Text("spectrum")
	if err != nil {
		return plan{}, err
	}
	if name == "" {
		return plan{}, rules.Wrongf("spectrum", "", "is required")
	}
	told := e.translator(r.params)
	f, err := e.query.Compile(bson.D{{Key: "spectrum.display_name", Value: bson.D{{Key: "$eq", Value: name}}}}, "spectrum")
	if err != nil {
		return plan{}, err
	}
	build := func(ctx context.Context, s *view.Snapshot) (*body, error) {
		entries, err := scored(ctx, s, f, name, told)
		if err != nil {
			return nil, err
		}
		return &body{
			head: openList(0), tail: closeList(query.Page{}), items: between(0, len(entries)),
			row: func(dst []byte, item int) []byte { return entries[item].append(dst, told) },
		}, nil
	}
	return plan{view: rules.ViewActivities, query: "spectrum-activities" + told.key() + "\x00" + name, build: build}, nil
}

// entry is one activity's score in a spectrum.
type entry struct {
	score bson.RawValue // zero where the entry has none
	id    bson.RawValue
	row   index.Row
	text  []byte // of a view in the store, which keeps no rows: the entry as it is written
}

// scored returns the entries of a spectrum by score descending, ties by _id.
func scored(ctx context.Context, s *view.Snapshot, f *filter.Filter, name string, told *translator) ([]entry, error) {
	selected, err := s.Select(ctx, f)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		doc := row.Doc()
		id := doc.Lookup("_id")
		for _, topic := range documentsOf(doc.Lookup("spectrum")) {
			if have, ok := topic.Lookup("display_name").StringValueOK(); ok && have == name {
				e := entry{score: topic.Lookup("score"), id: id, row: row}
				if _, resident := s.Resident(); !resident {
					e = entry{score: cloned(e.score), id: cloned(e.id), text: e.append(nil, told)}
				}
				entries = append(entries, e)
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		if c := raw.Compare(b.score, a.score); c != 0 {
			return c
		}
		return raw.Compare(a.id, b.id)
	})
	return entries, nil
}

// cloned returns a value that keeps no document.
func cloned(v bson.RawValue) bson.RawValue {
	return bson.RawValue{Type: v.Type, Value: bytes.Clone(v.Value)}
}

// documentsOf returns the documents of an array, or a document alone.
func documentsOf(v bson.RawValue) []bson.Raw {
	if doc, ok := v.DocumentOK(); ok {
		return []bson.Raw{doc}
	}
	array, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values() // of a broken array, what can be read
	var all []bson.Raw
	for _, v := range values {
		if doc, ok := v.DocumentOK(); ok {
			all = append(all, doc)
		}
	}
	return all
}

// append writes score, icon, activity, type, id.
func (e entry) append(dst []byte, told *translator) []byte {
	if e.text != nil {
		return append(dst, e.text...)
	}
	piece := activity{row: e.row, told: told}.pieces()
	dst = append(dst, '{')
	if present(e.score) {
		dst = append(ejson.Append(append(dst, `"score":`...), e.score), ',')
	}
	// The id fragment begins a row with {"id":…; here the id ends it.
	id := piece(fragID)[1:]
	if icon := piece(fragIcon); len(icon) > 0 {
		dst = append(append(dst, icon[1:]...), ',')
	}
	if web := piece(fragWeb); len(web) > 0 {
		dst = append(append(append(dst, `"activity":`...), web...), ',')
	}
	if kind := piece(fragType); len(kind) > 0 {
		dst = append(append(dst, kind[1:]...), ',')
	}
	return append(append(dst, id...), '}')
}

package api

import (
	"bytes"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// spectrumActivities answers GET /api/spectrum-activities: a row for each
// spectrum entry of the asked name, best score first. Its count is always 0.
func (e *Env) spectrumActivities(_ context.Context, r Request) (response.Plan, error) {
	name, err := r.Params.Text("spectrum")
	if err != nil {
		return response.Plan{}, err
	}
	if name == "" {
		return response.Plan{}, rules.Wrongf("spectrum", "", "is required")
	}
	told := e.translator(r.Params)
	f, err := e.query.Compile(bson.D{{Key: "spectrum.display_name", Value: bson.D{{Key: "$eq", Value: name}}}}, "spectrum")
	if err != nil {
		return response.Plan{}, err
	}
	build := func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		entries, err := scored(ctx, s, f, name, told)
		if err != nil {
			return nil, err
		}
		return response.JoinRange(response.List(0, query.Page{}), 0, len(entries), func(dst []byte, i int) []byte {
			return append(dst, entries[i].text...)
		}), nil
	}
	return response.Plan{View: rules.ViewActivities, Query: "spectrum-activities" + told.key() + "\x00" + name, Build: build}, nil
}

// entry is one activity's score in a spectrum. It keeps no row: those of a view in the
// store would keep the rows around them.
type entry struct {
	score bson.RawValue // zero where the entry has none
	id    bson.RawValue
	text  []byte
}

// scored returns the entries of a spectrum by score descending, ties by _id.
func scored(ctx context.Context, s *view.Snapshot, f *filter.Filter, name string, told *translator) ([]entry, error) {
	selected, err := s.Select(ctx, f)
	if err != nil {
		return nil, err
	}
	var entries []entry
	var text []byte
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		doc := row.Doc()
		id := doc.Lookup("_id")
		for _, topic := range documentsOf(doc.Lookup("spectrum")) {
			if have, ok := topic.Lookup("display_name").StringValueOK(); ok && have == name {
				score := topic.Lookup("score")
				text = appendEntry(text[:0], activity{row: row, told: told}, score)
				entries = append(entries, entry{raw.Clone(score), raw.Clone(id), bytes.Clone(text)})
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

// appendEntry writes score, icon, activity, type, id.
func appendEntry(dst []byte, a activity, score bson.RawValue) []byte {
	piece := a.pieces()
	dst = append(dst, '{')
	if present(score) {
		dst = append(ejson.Append(append(dst, `"score":`...), score), ',')
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

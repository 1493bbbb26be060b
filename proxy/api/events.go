package api

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// fragRecord is a stored record with its id: {…,"id":"…"}.
const fragRecord = "record"

// events answers GET /api/events and /api/conferences: every stored record in
// the view's order, by start descending.
func (e *Env) events(context.Context, Request) (response.Plan, error) {
	return wholeView(rules.ViewEvents), nil
}

// wholeView plans an answer of all records of a view. No parameter is read, and
// count is always 0 (API.md: events, 2).
func wholeView(name string) response.Plan {
	build := func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		all, err := s.Select(ctx, filter.All())
		if err != nil {
			return nil, err
		}
		return response.Join(response.List(0, query.Page{}), all.Rows(ctx, 0, 0), recorded), nil
	}
	return response.Plan{View: name, Query: "whole", Build: build}
}

// recorded is a row of wholeView.
func recorded(dst []byte, row index.Row) []byte {
	return append(dst, row.Fragment(fragRecord)...)
}

// recordFragments are those of views whose records are answered as they are.
func recordFragments() []index.Fragment {
	return []index.Fragment{{Name: fragRecord, Encode: appendRecord}}
}

// appendRecord writes a stored record and its id, which takes the place of a
// stored field of that name.
func appendRecord(dst []byte, row bson.Raw) []byte {
	elements, _ := row.Elements() // of a broken document, what can be read
	dst = append(dst, '{')
	for _, e := range elements {
		key := e.Key()
		if key == "id" {
			continue
		}
		dst = append(ejson.AppendString(dst, key), ':')
		dst = append(ejson.Append(dst, display.Stored(key, e.Value())), ',')
	}
	return append(ejson.AppendID(append(dst, `"id":`...), row.Lookup("_id")), '}')
}

// deadlines answers GET /api/deadlines as events are answered, but not sorted by
// date (DESIGN.md: 12).
func (e *Env) deadlines(context.Context, Request) (response.Plan, error) {
	return wholeView(rules.ViewDeadlines), nil
}

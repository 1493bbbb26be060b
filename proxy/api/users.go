package api

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/units"
)

// user answers GET /api/users/{id}: the stored person as a whole, or in
// columns beside _id and id. Its data is an object.
func (e *Env) user(ctx context.Context, r Request) (response.Plan, error) {
	id, lang, columns := identifierOf(r), e.languageOf(r.Params), r.Params.Columns(renderedColumns...)
	asStored := func(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }
	record, err := e.personRow(ctx, r, rules.ViewPersons, id, lang, asStored)
	if err != nil {
		return response.Plan{}, err
	}
	build := func(context.Context, *view.Snapshot) (*response.Body, error) {
		return response.Single(func(dst []byte) []byte { return appendUser(dst, record, columns) }), nil
	}
	return response.Plan{
		View: rules.ViewPersons, Query: "user\x00" + id + "\x00" + version(record) + "\x00" + columns.Key(),
		Build: build, Once: true,
	}, nil
}

// appendUser writes a person's record, or _id, the columns and id.
// Nothing of a person is rendered: every column is a stored field.
func appendUser(dst []byte, record bson.Raw, columns query.Columns) []byte {
	if len(columns) == 0 {
		return ejson.AppendDocument(dst, display.Strip(record))
	}
	id := record.Lookup("_id")
	dst = ejson.Append(append(dst, `{"_id":`...), id)
	for _, c := range columns {
		if c.Name != "_id" && c.Name != "id" {
			dst = appendField(dst, c.Name, storedOf(c, record))
		}
	}
	return append(ejson.AppendID(appendKey(dst, "id"), id), '}')
}

// userUnits answers GET /api/user-units/{id}: a person's memberships in units. Its
// data is an object. Whether a membership is past changes at midnight, so an
// answer holds for the day on which it is given.
func (e *Env) userUnits(ctx context.Context, r Request) (response.Plan, error) {
	id, lang := identifierOf(r), e.languageOf(r.Params)
	row, err := e.personRow(ctx, r, rules.ViewUserUnits, id, lang, e.unitsOf)
	if err != nil {
		return response.Plan{}, err
	}
	now := e.o.Now().In(e.o.Zone)
	build := func(context.Context, *view.Snapshot) (*response.Body, error) {
		return response.Single(func(dst []byte) []byte { return units.AppendData(dst, row, now, lang) }), nil
	}
	return response.Plan{
		View:  rules.ViewUserUnits,
		Query: "user-units\x00" + lang + "\x00" + now.Format(time.DateOnly) + "\x00" + version(row) + "\x00" + id,
		Build: build, Once: true, Until: nextDay(now),
	}, nil
}

// unitsOf makes the row of the user_units view from a person's record, as its job
// will.
func (e *Env) unitsOf(ctx context.Context, person bson.Raw) (bson.Raw, error) {
	groups, err := e.persons.read(ctx, "groups", origin.Query{Sort: bson.D{{Key: "_id", Value: 1}}})
	if err != nil {
		return nil, fmt.Errorf("units of a new person: %w: %w", rules.ErrUnavailable, err)
	}
	return units.NewNames(groups).Row(person)
}

// nextDay returns when the day after now begins in now's location.
func nextDay(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
}

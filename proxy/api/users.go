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
	query := "user\x00" + id + "\x00" + version(record) + "\x00" + columns.Key()
	return single(rules.ViewPersons, query, func(dst []byte) []byte { return appendUser(dst, record, columns) }), nil
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
	query := "user-units\x00" + lang + "\x00" + now.Format(time.DateOnly) + "\x00" + version(row) + "\x00" + id
	p := single(rules.ViewUserUnits, query, func(dst []byte) []byte { return units.AppendData(dst, row, now, lang) })
	p.Until = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	return p, nil
}

// single plans the answer for one person, whose data is one object.
func single(viewName, query string, object func(dst []byte) []byte) response.Plan {
	build := func(context.Context, *view.Snapshot) (*response.Body, error) { return response.Single(object), nil }
	return response.Plan{View: viewName, Query: query, Build: build, Once: true}
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

package api

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
)

// user answers GET /api/users/{id}: the stored person, whole and as it is, or in
// columns beside _id and id. Its data is an object.
func (e *Env) user(ctx context.Context, r Request) (response.Plan, error) {
	id, lang, columns := identifierOf(r), e.languageOf(r.Params), r.Params.Columns(renderedColumns...)
	asStored := func(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }
	record, err := e.personRow(ctx, r.Params, rules.ViewPersons, id, lang, asStored)
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
		return ejson.AppendDocument(dst, record)
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

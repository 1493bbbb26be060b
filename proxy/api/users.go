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
	id, err := identifierOf(r)
	if err != nil {
		return response.Plan{}, err
	}
	lang := e.languageOf(r.Params)
	asked, err := r.Params.Columns(renderedColumns...)
	if err != nil {
		return response.Plan{}, err
	}
	record, err := e.personRow(ctx, rules.ViewPersons, id, lang, asItIs)
	if err != nil {
		return response.Plan{}, err
	}
	build := func(context.Context, *view.Snapshot) (*response.Body, error) {
		return response.Single(func(dst []byte) []byte { return appendUser(dst, record, asked) }), nil
	}
	return response.Plan{
		View: rules.ViewPersons, Query: "user\x00" + id + "\x00" + version(record) + "\x00" + asked.Key(),
		Build: build, Once: true,
	}, nil
}

// asItIs makes the row of the persons view from a record: it is the record.
func asItIs(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }

// appendUser writes a person's record, or _id, the columns asked for and id.
// Nothing of a person is rendered: every column is a stored field.
func appendUser(dst []byte, record bson.Raw, asked query.Columns) []byte {
	if len(asked) == 0 {
		return ejson.AppendDocument(dst, record)
	}
	id := record.Lookup("_id")
	dst = ejson.Append(append(dst, `{"_id":`...), id)
	for _, c := range asked {
		if c.Name != "_id" && c.Name != "id" {
			dst = appendField(dst, c.Name, storedOf(c, record))
		}
	}
	return append(ejson.AppendID(appendKey(dst, "id"), id), '}')
}

package api

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// maxIdentifier is the length in bytes of the longest identifier that handlers look up.
const maxIdentifier = 256

// identifierOf returns the identifier of a person in a path.
func identifierOf(r Request) string {
	id, err := url.PathUnescape(r.ID)
	if err != nil {
		r.Params.Fail(rules.Wrongf("id", "", "is not a well-formed part of a path"))
	}
	return r.Params.UTF8("id", id)
}

// personRow returns a person's row of a view. absent makes the row from the stored record of a person that the view
// does not have (DESIGN.md: 20). If there is no such record, the message of the error is in the language lang.
// personRow first checks the parameters.
func (e *Env) personRow(ctx context.Context, r Request, viewName, id, lang string, absent func(context.Context, bson.Raw) (bson.Raw, error)) (bson.Raw, error) {
	if err := r.Params.Err(); err != nil {
		return nil, err
	}
	// API.md: user-units, 4
	unknown := &rules.Error{Kind: rules.ErrNotFound, Reason: e.o.Labels.Label(label.Text, "User not found", lang)}
	if len(id) > maxIdentifier {
		return nil, unknown
	}
	snapshot, err := e.shared.Views.Snapshot(viewName)
	if err != nil {
		return nil, err
	}
	if r.whole {
		snapshot = snapshot.Whole()
	}
	ctx, cancel := context.WithTimeout(ctx, e.shared.Timeout)
	defer cancel()
	path, value := identified(id)
	row, err := snapshot.First(ctx, filter.OneOf(path, value))
	if err != nil || row != nil {
		return row, err
	}
	record, err := e.persons.find(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		return nil, unknown
	}
	if !r.whole {
		record = e.o.Hidden.Strip(record)
	}
	return absent(ctx, record)
}

// Person looks up the user of a session; known reports whether the user has a record. A user without a record has no
// roles. Citations are in the print form if the user's display_activities says so (API.md: all-activities, 2).
func (e *Env) Person(ctx context.Context, user string) (who auth.Caller, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.shared.Timeout)
	defer cancel()
	snapshot, err := e.shared.Views.Snapshot(rules.ViewPersons)
	if err != nil {
		return auth.Caller{}, false, err
	}
	doc, err := snapshot.First(ctx, filter.OneOf("username", user))
	if err != nil || doc == nil {
		return auth.Caller{Viewer: access.Viewer{User: user}}, false, err
	}
	setting, ok := doc.Lookup("display_activities").StringValueOK()
	return auth.Caller{
		Viewer:    access.Viewer{User: user, Roles: display.Texts(doc.Lookup("roles"))},
		PrintForm: ok && setting != "web",
	}, true, nil
}

// version is a hash of a row. It distinguishes versions of a row that has no generation because it is not in the
// snapshot.
func version(row bson.Raw) string { return strconv.FormatUint(xxhash.Sum64(row), 36) }

// user answers GET /api/users/{id}: the whole stored record, or _id, the columns and id. Its
// data is an object.
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

// appendUser appends a person's record, or _id, the columns and id. Persons have no rendered document: every column is
// a stored field.
func appendUser(dst []byte, record bson.Raw, columns query.Columns) []byte {
	if len(columns) == 0 {
		return ejson.AppendDocument(dst, display.Strip(record))
	}
	id := record.Lookup("_id")
	dst = ejson.Append(ejson.AppendKey(append(dst, '{'), "_id"), id)
	for _, c := range columns {
		if v, ok := c.Project(record.Lookup(c.Name)); ok && c.Name != "_id" && c.Name != "id" {
			dst = ejson.Append(ejson.AppendKey(dst, c.Name), display.Stored(c.Name, v))
		}
	}
	return append(ejson.AppendID(ejson.AppendKey(dst, "id"), id), '}')
}

// userUnits answers GET /api/user-units/{id}: a person's memberships in units. Its data is an object. Memberships end
// at midnight, so an answer is valid for the day.
func (e *Env) userUnits(ctx context.Context, r Request) (response.Plan, error) {
	id, lang := identifierOf(r), e.languageOf(r.Params)
	row, err := e.personRow(ctx, r, rules.ViewUserUnits, id, lang, e.unitsOf)
	if err != nil {
		return response.Plan{}, err
	}
	now := e.shared.Now().In(e.o.Zone)
	query := "user-units\x00" + lang + "\x00" + now.Format(time.DateOnly) + "\x00" + version(row) + "\x00" + id
	p := single(rules.ViewUserUnits, query, func(dst []byte) []byte { return units.AppendData(dst, row, now, lang) })
	p.Until = time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	return p, nil
}

// single plans the answer for one person. Its data is one object.
func single(viewName, query string, object func(dst []byte) []byte) response.Plan {
	build := func(context.Context, *view.Snapshot) (*response.Body, error) { return response.Single(object), nil }
	return response.Plan{View: viewName, Query: query, Build: build, Caching: response.Caching{Once: true}}
}

// unitsOf makes the row for the view user_units from a person's record, in the same way as the job of the view.
func (e *Env) unitsOf(ctx context.Context, person bson.Raw) (bson.Raw, error) {
	groups, err := e.persons.read(ctx, "groups", origin.Query{Sort: raw.Sort{raw.ByID}})
	if err != nil {
		return nil, fmt.Errorf("units of a new person: %w: %w", rules.ErrUnavailable, err)
	}
	return units.NewNames(groups).Row(person)
}

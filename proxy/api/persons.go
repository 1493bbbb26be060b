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
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// maxIdentifier is the length in bytes of the longest identifier that handlers look up.
const maxIdentifier = 256

// identifierOf returns the identifier of a person in a path. The route passes the part undecoded, so that an
// escaped slash in a username stays part of it.
func identifierOf(r Request) string {
	id, err := url.PathUnescape(r.ID)
	if err != nil {
		r.Params.Fail(rules.Wrongf("id", "", "is not a well-formed part of a path"))
	}
	return r.Params.UTF8("id", id)
}

// personal is a kind of answer for one person, made from the person's row in a view. Its data is one object. Two
// ways lead to a row: the view, whose answer is kept, or the stored record of a person whom the view does not have
// yet, whose answer is not kept (Plan.Once).
type personal struct {
	view string
	key  string // determines the answer, together with the row
	lang string // the language of the error if there is no such person
	// absent makes the row from the stored record of a person that the view does not have.
	absent func(ctx context.Context, record bson.Raw) (bson.Raw, error)
	object func(dst []byte, row bson.Raw) []byte
}

// plan plans the answer for the person with an id. It first checks the parameters.
func (p personal) plan(ctx context.Context, e *Env, r Request, id string) (response.Plan, error) {
	row, absent, err := p.row(ctx, e, r, id)
	if err != nil {
		return response.Plan{}, err
	}
	plan := response.Plan{View: p.view}
	body := func(row bson.Raw) *response.Body {
		return response.Single(func(dst []byte) []byte { return p.object(dst, row) })
	}
	// The hash of the row takes the place of the snapshot: a changed record makes another query.
	if absent {
		plan.Once, plan.Query = true, p.key+"\x00"+strconv.FormatUint(xxhash.Sum64(row), 36)+"\x00"+id
		plan.Build = func(context.Context, response.Snapshots) (*response.Body, error) { return body(row), nil }
		return plan, nil
	}
	plan.Query = p.key + "\x00\x00" + id
	// Look the row up again, because a kept plan would keep the row above in memory.
	plan.Build = func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		f := filter.OneOf(keyOf(id)).As("the path")
		row, err := s.Own().First(ctx, f)
		if err == nil && row == nil {
			err = p.unknown(e)
		}
		if err != nil {
			return nil, err
		}
		b := body(row)
		b.Selected = response.Selected{On: s.Own(), Filter: f, Count: 1}
		return b, nil
	}
	return plan, nil
}

// row returns a person's row, and whether p.absent made it because the view does not have the person. A caller who
// may not see hidden fields gets the record without them, as the view's rows are.
func (p personal) row(ctx context.Context, e *Env, r Request, id string) (row bson.Raw, absent bool, err error) {
	if err := r.Params.Err(); err != nil {
		return nil, false, err
	}
	if len(id) > maxIdentifier {
		return nil, false, p.unknown(e)
	}
	snapshot, err := r.Planning.Snapshot(p.view)
	if err != nil {
		return nil, false, err
	}
	if r.whole {
		snapshot = snapshot.Whole()
	}
	row, err = snapshot.First(ctx, filter.OneOf(keyOf(id)))
	if err != nil || row != nil {
		return row, false, err
	}
	record, err := e.persons.find(ctx, id)
	switch {
	case err != nil:
		return nil, false, err
	case record == nil:
		return nil, false, p.unknown(e)
	}
	if !r.whole {
		record = e.o.Hidden.Strip(record)
	}
	row, err = p.absent(ctx, record)
	return row, true, err
}

// unknown returns the error if there is no such person.
func (p personal) unknown(e *Env) error {
	return &rules.Error{Kind: rules.ErrNotFound, Reason: e.o.Labels.Label(label.Text, "User not found", p.lang)}
}

// user answers GET /api/users/{id} with an object: the whole stored record, or _id, the columns and id.
func (e *Env) user(ctx context.Context, r Request) (response.Plan, error) {
	id, lang, columns := identifierOf(r), e.languageOf(r.Params), r.Params.Columns(renderedColumns...)
	return personal{
		view: rules.ViewPersons, key: "user\x00" + columns.Key(), lang: lang,
		absent: func(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil },
		object: func(dst []byte, record bson.Raw) []byte { return appendUser(dst, record, columns) },
	}.plan(ctx, e, r, id)
}

// appendUser appends a person's record, or _id, the columns and id. Persons have no rendered document: every column
// is a stored field.
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

// userUnits answers GET /api/user-units/{id}. Memberships end at midnight, so an answer is valid for the day. The
// day is part of the key, so no kept answer outlives it.
func (e *Env) userUnits(ctx context.Context, r Request) (response.Plan, error) {
	id, lang, now := identifierOf(r), e.languageOf(r.Params), r.Planning.Now().In(e.o.Zone)
	p, err := personal{
		view: rules.ViewUserUnits, key: "user-units\x00" + lang + "\x00" + now.Format(time.DateOnly), lang: lang,
		absent: e.unitsOf,
		object: func(dst []byte, row bson.Raw) []byte { return units.AppendData(dst, row, now, lang) },
	}.plan(ctx, e, r, id)
	p.Period = response.OnDay(now)
	return p, err
}

// unitsOf makes the row for the view user_units from a person's record, in the same way as the job of the view. It
// reads all groups for one person, but only until the view has the person.
func (e *Env) unitsOf(ctx context.Context, person bson.Raw) (bson.Raw, error) {
	groups, err := e.persons.read(ctx, "groups", origin.Query{Sort: raw.Sort{raw.ByID}})
	if err != nil {
		return nil, fmt.Errorf("units of a new person: %w: %w", rules.ErrUnavailable, err)
	}
	return units.NewNames(groups).Row(person)
}

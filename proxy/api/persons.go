package api

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/rules"
)

// maxIdentifier bounds an identifier in a path, in bytes; nobody has a longer one.
const maxIdentifier = 256

// identifierOf returns the person that a path names.
func identifierOf(r Request) (string, error) {
	id, err := url.PathUnescape(r.ID)
	if err != nil {
		return "", rules.Wrongf("id", "", "is not a well-formed part of a path")
	}
	return id, query.CheckUTF8("id", id)
}

// personRow returns a person's row of a view. One that the view does not have
// is made by absent from the stored record, if there is one (DESIGN.md: 20). If
// there is none the error says so in a language.
func (e *Env) personRow(ctx context.Context, viewName, id, lang string, absent func(context.Context, bson.Raw) (bson.Raw, error)) (bson.Raw, error) {
	if len(id) > maxIdentifier {
		return nil, e.userNotFound(lang)
	}
	snapshot, err := e.o.Views.Snapshot(viewName)
	if err != nil {
		return nil, err
	}
	ctx, cancel := e.deadline(ctx)
	defer cancel()
	row, err := e.firstRow(ctx, snapshot, identified(id))
	if err != nil || row != nil {
		return row, err
	}
	record, err := e.persons.find(ctx, id)
	if errors.Is(err, origin.ErrNotFound) {
		return nil, e.userNotFound(lang)
	}
	if err != nil {
		return nil, err
	}
	return absent(ctx, record)
}

// firstRow returns the first row of a snapshot that a query selects, or nil.
func (e *Env) firstRow(ctx context.Context, snapshot *view.Snapshot, query bson.D) (bson.Raw, error) {
	f, err := e.query.Compile(query, "")
	if err != nil {
		return nil, err
	}
	return snapshot.First(ctx, f)
}

func (e *Env) userNotFound(lang string) error {
	return &rules.Error{Kind: rules.ErrNotFound, Reason: e.says("User not found", lang)}
}

// version tells versions of a row apart, also of one that is not in the snapshot
// and so has no generation.
func version(row bson.Raw) string { return strconv.FormatUint(xxhash.Sum64(row), 36) }

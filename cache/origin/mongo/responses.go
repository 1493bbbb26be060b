package mongo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// responses is a registry.ResponseTable in view_upstream: a document for each key, and one with the state, whose
// field gen counts the numbers (numbers.go).
//
// A change takes its number first and then writes its document, on condition that the fields with which a document
// changes hands are still as they were read. A process that stops in between leaves a number without a change.
type responses struct {
	collection
	numbers *numbers
}

// Responses implements origin.Store. It makes its result itself, so that a reader of Open need not read this file.
func (s *Store) Responses() origin.Responses {
	s.open.Do(func() {
		c := s.side(responsesName)
		s.kept = registry.NewResponses(s.Leases, func(now func() time.Time) registry.ResponseTable {
			return responses{c, &numbers{collection: c, now: now}}
		})
	})
	return s.kept
}

// attempts bounds how often a change is tried again because another one came first. A server that does not report
// what it has changed must not keep us in a loop.
const attempts = 50

var errContended = errors.New("another program changes the document again and again")

// handFields are the fields of a document of which at least one changes with every change but AddDemand.
var handFields = []string{"gen", "token", "holder"}

// withoutBody is the projection for all but the body, which is beside the fields of registry.Response.
var withoutBody = bson.D{{Key: "body", Value: 0}}

// ours yields the documents that match a filter of ours.
func (c collection) ours(
	ctx context.Context, filter bson.D, o *options.FindOptionsBuilder,
) iter.Seq2[bson.Raw, error] {
	find := func(ctx context.Context) (*driver.Cursor, error) { return c.inner.Find(ctx, filter, o) }
	return c.read(ctx, storeError, find)
}

// one returns the document with an _id, or nil.
func (c collection) one(ctx context.Context, id string, projection bson.D) (bson.Raw, error) {
	doc, err := request(ctx, c.store.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return c.inner.FindOne(ctx, is(id), options.FindOne().SetProjection(projection)).Raw()
	})
	if errors.Is(err, origin.ErrNotFound) {
		return nil, nil
	}
	return doc, err
}

// decode decodes a document, and reports whether this package can have written it. The error is an
// origin.ForeignError.
func (t responses) decode(doc bson.Raw) (d registry.Response, ok bool, err error) {
	if doc == nil {
		return d, false, nil
	}
	if d, ok = registry.DecodeResponse(doc); ok {
		err = t.checkSource(d.Source)
	}
	return d, ok, err
}

// Read implements registry.ResponseTable.
func (t responses) Read(ctx context.Context, key string, body bool) (registry.Response, error) {
	projection := bson.D{}
	if !body {
		projection = withoutBody
	}
	doc, err := t.one(ctx, key, projection)
	if err != nil {
		return registry.Response{}, err
	}
	d, ok, err := t.decode(doc)
	if ok && body {
		_, d.Body, _ = doc.Lookup("body").BinaryOK()
	}
	return d, err
}

// Update implements registry.ResponseTable. It reads, takes a number and writes, and begins again if another change
// came in between. The write names what was read, so of two changes at the same time one matches nothing.
func (t responses) Update(
	ctx context.Context, key string, change func(*registry.Response, uint64) error,
) (registry.Response, error) {
	for range attempts {
		doc, err := t.one(ctx, key, withoutBody)
		if err != nil {
			return registry.Response{}, err
		}
		d, readable, err := t.decode(doc)
		var number uint64
		if err == nil {
			number, err = t.numbers.next(ctx, max(d.Generation, d.Token))
		}
		if err == nil {
			d.Key = key
			err = change(&d, number)
		}
		var model driver.WriteModel
		if err == nil {
			d.Source = t.store.source.Name()
			model, err = replacement(d, doc, readable)
		}
		if err != nil {
			return d, err
		}
		done, err := t.write(ctx, model)
		d.Body = nil
		if done.MatchedCount+done.InsertedCount+done.DeletedCount > 0 || err != nil && !onlyDuplicates(err) {
			return d, denied(err)
		}
	}
	return registry.Response{}, errContended
}

// replacement returns the write that puts d in place of doc, which is nil if there is none.
func replacement(d registry.Response, doc bson.Raw, readable bool) (driver.WriteModel, error) {
	fields, err := fieldsOf(d)
	if err != nil {
		return nil, err
	}
	filter := unchanged(d.Key, doc, handFields...)
	switch {
	case d.Remove:
		return driver.NewDeleteOneModel().SetFilter(filter), nil
	case doc == nil:
		return driver.NewInsertOneModel().SetDocument(append(is(d.Key), fields...)), nil
	case !readable:
		return driver.NewReplaceOneModel().SetFilter(filter).SetReplacement(append(is(d.Key), fields...)), nil
	}
	return driver.NewUpdateOneModel().SetFilter(filter).SetUpdate(updateOf(fields, d.Digest == "")), nil
}

// fieldsOf returns the fields of a document, but for _id and those that only AddDemand changes.
func fieldsOf(d registry.Response) (bson.D, error) {
	doc, err := bson.Marshal(d)
	if err != nil {
		return nil, err
	}
	elements, err := bson.Raw(doc).Elements()
	var fields bson.D
	for _, e := range elements {
		if name := e.Key(); name != "_id" && name != "asked" && name != "requests" {
			fields = append(fields, bson.E{Key: name, Value: e.Value()})
		}
	}
	if d.Body != nil {
		fields = append(fields, bson.E{Key: "body", Value: d.Body})
	}
	return fields, err
}

// updateOf returns the update that sets fields. A dropped answer loses its body; otherwise the body stays, unless
// fields has one.
func updateOf(fields bson.D, dropped bool) bson.D {
	update := bson.D{{Key: "$set", Value: fields}}
	if dropped {
		update = append(update, bson.E{Key: "$unset", Value: bson.D{{Key: "body", Value: ""}}})
	}
	return update
}

// among returns the filter for documents with one of the ids.
func among(ids []string) bson.D { return is(bson.D{{Key: "$in", Value: ids}}) }

// Drop implements registry.ResponseTable by one update for many keys. If an answer is stored between taking the
// number and the update, its generation is greater, and Drop repeats with a greater number.
func (t responses) Drop(ctx context.Context, keys []string) error {
	for part := range slices.Chunk(registry.CheckKeys(keys), t.store.batch) {
		done, last := false, uint64(0)
		for n := 0; !done; n++ {
			var err error
			if done, last, err = t.drop(ctx, part, last); err != nil {
				return denied(err)
			}
			if n == attempts {
				return errContended
			}
		}
	}
	return nil
}

// drop drops those of keys that were not dropped with the number last. It returns its own number, and whether all are
// dropped.
func (t responses) drop(ctx context.Context, keys []string, last uint64) (done bool, number uint64, err error) {
	rest, newest, err := t.undropped(ctx, keys, last)
	if err != nil || len(rest) == 0 {
		return true, last, err
	}
	if number, err = t.numbers.next(ctx, newest); err != nil {
		return false, number, err
	}
	var d registry.Response
	d.Drop(number)
	d.Source = t.store.source.Name()
	fields, err := fieldsOf(d)
	if err != nil {
		return false, number, err
	}
	// The tokens stay, and fence off the claims: these have no holder any more.
	fields = slices.DeleteFunc(fields, func(e bson.E) bool { return e.Key == "token" })
	older := bson.D{{Key: "$not", Value: bson.D{{Key: "$gte", Value: number}}}} // also what is no number
	filter := append(among(rest), bson.E{Key: "gen", Value: older})
	written, err := t.write(ctx, driver.NewUpdateManyModel().SetFilter(filter).SetUpdate(updateOf(fields, true)))
	return int(written.MatchedCount) >= len(rest), number, err
}

// undropped returns those keys that have a document which was not dropped with the number last, and the greatest
// number in these documents.
func (t responses) undropped(
	ctx context.Context, keys []string, last uint64,
) (rest []string, newest uint64, err error) {
	for doc, err := range t.ours(ctx, among(keys), options.Find().SetProjection(withoutBody)) {
		if err != nil {
			return nil, 0, err
		}
		key, ok := doc.Lookup("_id").StringValueOK()
		d, _, err := t.decode(doc)
		if err != nil {
			return nil, 0, err
		}
		if ok && (last == 0 || d.Generation != last) {
			rest, newest = append(rest, key), max(newest, d.Generation, d.Token)
		}
	}
	return rest, newest, nil
}

// Since implements registry.ResponseTable. A reader that begins at 0 needs no dropped answers.
func (t responses) Since(ctx context.Context, since uint64) iter.Seq2[registry.Response, error] {
	filter := bson.D{{Key: "gen", Value: bson.D{{Key: "$gt", Value: since}}}}
	if since == 0 {
		filter = bson.D{{Key: "digest", Value: bson.D{{Key: "$gt", Value: ""}}}}
	}
	return func(yield func(registry.Response, error) bool) {
		for doc, err := range t.ours(ctx, filter, options.Find().SetProjection(withoutBody)) {
			var d registry.Response
			ok := false
			if err == nil {
				d, ok, err = t.decode(doc)
			}
			if (ok || err != nil) && !yield(d, err) {
				return
			}
		}
	}
}

// AddDemand implements registry.ResponseTable: it reads the demand so far, and writes it on condition that it is
// still the same. If two processes report demand for a key at the same moment, only one of both reports counts.
func (t responses) AddDemand(ctx context.Context, demand []origin.Demand) error {
	for part := range slices.Chunk(demand, t.store.batch) {
		byKey, keys := map[string]origin.Demand{}, []string{}
		for _, one := range part {
			if before, ok := byKey[one.Key]; ok {
				one.Requests += before.Requests
			}
			byKey[one.Key] = one
			keys = append(keys, one.Key)
		}
		var models []driver.WriteModel
		filter := append(among(registry.CheckKeys(keys)),
			bson.E{Key: "digest", Value: bson.D{{Key: "$gt", Value: ""}}})
		err := wrap.Do(t.ours(ctx, filter, options.Find().SetProjection(withoutBody)), func(doc bson.Raw) error {
			d, ok, err := t.decode(doc)
			if err != nil || !ok {
				return err
			}
			d.AddDemand(byKey[d.Key], t.numbers.now())
			asked := bson.D{{Key: "asked", Value: d.Asked}, {Key: "requests", Value: d.Requests}}
			models = append(models, driver.NewUpdateOneModel().SetUpdate(bson.D{{Key: "$set", Value: asked}}).
				SetFilter(unchanged(d.Key, slices.Clone(doc), "asked", "requests")))
			return nil
		})
		if err == nil && len(models) > 0 {
			_, err = t.write(ctx, models...)
		}
		if err != nil {
			return denied(err)
		}
	}
	return nil
}

// Sweep implements registry.ResponseTable. It reads the state first, which fails if the answers belong to another
// institute.
func (t responses) Sweep(ctx context.Context, number uint64) error {
	if _, err := t.State(ctx); err != nil {
		return err
	}
	before := bson.D{{Key: "$lt", Value: number}}
	_, err := t.deleteMany(ctx, bson.D{
		{Key: "digest", Value: ""}, {Key: "gen", Value: before}, {Key: "token", Value: before},
	})
	return denied(err)
}

// State implements registry.ResponseTable.
func (t responses) State(ctx context.Context) (registry.ResponseState, error) {
	s, _, err := t.numbers.state(ctx)
	return s, err
}

// UpdateState implements registry.ResponseTable. It sets single fields, so that the count of numbers, which grows
// meanwhile, stays.
func (t responses) UpdateState(ctx context.Context, change func(*registry.ResponseState) error) error {
	for range attempts {
		s, doc, err := t.numbers.state(ctx)
		if err == nil && doc == nil {
			if err = t.numbers.repair(ctx, 0); err == nil {
				continue
			}
		}
		if err == nil {
			err = change(&s)
		}
		if err != nil {
			return err
		}
		set := bson.D{{Key: "marks", Value: s.Marks}, {Key: "token", Value: s.Token},
			{Key: "holder", Value: s.Holder}}
		done, err := t.write(ctx, driver.NewUpdateOneModel().SetFilter(unchanged(stateID, doc, "token", "holder")).
			SetUpdate(bson.D{{Key: "$set", Value: set}}))
		if done.MatchedCount > 0 || err != nil {
			return denied(err)
		}
	}
	return errContended
}

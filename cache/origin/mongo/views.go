package mongo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// Fields of viewField, as paths.
const (
	pathGeneration = viewField + ".gen"
	pathHash       = viewField + ".hash"
	pathGone       = viewField + ".gone"
)

// generations returns a filter for rows whose generation compares with the given one by the operator.
func generations(operator string, generation uint64) bson.D {
	return bson.D{{Key: pathGeneration, Value: bson.D{{Key: operator, Value: generation}}}}
}

// Hashes implements origin.Views. It needs no staged rows: Begin has folded them in.
func (s *Store) Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) (err error) {
	defer wrap.Error(&err, "hashes of view %s", view)
	for r, err := range s.side(view).rows(ctx, notGone(), onlyInfo()) {
		if err != nil && !errors.Is(err, errMalformedRow) {
			return err
		}
		if err := fn(r.ID, r.Hash); err != nil { // the hash of a malformed row is 0
			return err
		}
	}
	return nil
}

// RowCount implements origin.Views. The server reads only the index on generations to count rows and tombstones. The
// count has read concern local, not majority. The numbers of Fingerprint change before a majority has a loss of rows:
// a majority count could still include the lost rows, and would not be repeated. Rows that a failover may roll back
// do no harm: readers compare the meta before and after with read concern majority, and settle writes rows only after
// that.
func (s *Store) RowCount(ctx context.Context, view string) (_ int, err error) {
	defer wrap.Error(&err, "count rows of view %s", view)
	rows := s.side(view)
	rows.inner = rows.inner.Clone(options.Collection().SetReadConcern(readconcern.Local()))
	all, err := rows.count(ctx, generations("$gt", 0))
	if err != nil {
		return 0, err
	}
	// A row counts as deleted if it has the field, as in queries. The index suffices for a comparison with null.
	deleted := bson.E{Key: pathGone, Value: bson.D{{Key: "$ne", Value: nil}}}
	gone, err := rows.count(ctx, append(generations("$gt", 0), deleted))
	if err == nil {
		err = checkCounts(ctx, s, rows, view, all-gone)
	}
	return all - gone, err
}

// checkCounts returns origin.ErrInconsistent if the rows of a settled view are not those of its generation. live is
// their number. Before that, checkCounts reads the meta again, because another process may have published meanwhile.
func checkCounts(ctx context.Context, s *Store, rows collection, view string, live int) error {
	d, err := s.Read(ctx, view)
	if err != nil || d.Generation == 0 || d.Staged != 0 {
		return err
	}
	t := rowCounts{live: live}
	if t.newer, err = rows.count(ctx, generations("$gt", d.Generation)); err == nil && d.Versions > 0 {
		t.versions, err = rows.count(ctx, generations("$eq", d.Generation))
	}
	if err != nil || !t.inconsistent(d, 0) {
		return err
	}
	now, err := s.Read(ctx, view)
	if err == nil && now.Is(d.Meta) == nil && now.Staged == 0 {
		err = origin.ErrInconsistent
	}
	return err
}

func onlyInfo() *options.FindOptionsBuilder {
	return options.Find().SetProjection(bson.D{{Key: pathGeneration, Value: 1}, {Key: pathHash, Value: 1},
		{Key: pathGone, Value: 1}})
}

func withoutWords() *options.FindOptionsBuilder {
	return options.Find().SetProjection(bson.D{{Key: origin.WordsPath, Value: 0}})
}

// mapKey returns the same text for ids that the server considers equal.
func mapKey(id bson.RawValue) string {
	key, err := idkey.Of(id)
	if err != nil { // a server does not send such an id
		return raw.Key(id)
	}
	return string(key)
}

// Rows implements origin.Views. It reads at the current meta, then repeatedly what was published meanwhile.
func (s *Store) Rows(ctx context.Context, view string, since uint64,
	fn func(origin.Row) error) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "rows of view %s since generation %d", view, since)
	d, err := s.Read(ctx, view)
	if err == nil {
		err = d.Reaches(since)
	}
	var read rowCounts
	for from := since; err == nil && from != d.Generation; {
		if read, err = readSince(ctx, s, d, from, fn); err != nil {
			return origin.Meta{}, err
		}
		var next registry.View
		if next, err = s.Read(ctx, view); err != nil {
			break
		}
		// Check after reading: we may have missed a tombstone that was deleted meanwhile.
		if next.Epoch != d.Epoch || next.Generation < d.Generation || (from > 0 && from < next.Pruned) {
			err = origin.ErrStale
		}
		if next.Is(d.Meta) == nil && err == nil && read.inconsistent(next, from) {
			err = origin.ErrInconsistent
		}
		from, d = d.Generation, next
	}
	return d.Meta, err
}

// readSince calls fn with the rows that changed after generation from, or with all live rows if from is 0: first the
// staged rows of the current generation, unless it is settled, then those of the view's collection that no staged row
// replaces.
func readSince(
	ctx context.Context, s *Store, d registry.View, from uint64, fn func(origin.Row) error,
) (read rowCounts, err error) {
	replaced := map[string]bool{}
	pass := func(r origin.Row) error {
		read.add(r, d.Generation)
		if from == 0 && r.Doc == nil {
			return nil // the row was deleted before the reader got it
		}
		return fn(r)
	}
	if d.Staged != 0 {
		staged := s.side("staged").documents(ctx, stagedRange(d.View, d.Staged, d.Staged+1), withoutWords())
		err := wrap.Do(staged, func(doc bson.Raw) error {
			r, err := decodeStaged(doc, d.Generation)
			if err != nil || replaced[mapKey(r.ID)] {
				return nil // Rows reports missing and duplicate rows at the end, by their counts
			}
			replaced[mapKey(r.ID)] = true
			return pass(r)
		})
		if err != nil {
			return read, err
		}
	}
	filter := generations("$gt", from)
	if from == 0 { // with the tombstones of the last generation, which rowCounts counts
		filter = bson.D{{Key: "$or", Value: bson.A{notGone(), generations("$gte", d.Generation)}}}
	}
	for r, err := range s.side(d.View).rows(ctx, filter, withoutWords()) {
		switch {
		case errors.Is(err, errMalformedRow):
			continue // the row is missing in rowCounts
		case err == nil && r.Generation <= d.Generation && replaced[mapKey(r.ID)]:
			continue
		case err == nil:
			err = pass(r)
		}
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// rows yields the rows of a view's collection. For a malformed row it yields errMalformedRow and the row's ID, and
// goes on.
func (c collection) rows(ctx context.Context, filter bson.D,
	o *options.FindOptionsBuilder) iter.Seq2[origin.Row, error] {
	return func(yield func(origin.Row, error) bool) {
		for doc, err := range c.documents(ctx, filter, o) {
			if err != nil {
				yield(origin.Row{}, err)
				return
			}
			if !yield(decodeSide(doc)) {
				return
			}
		}
	}
}

// checkSource returns an origin.ForeignError if a document in the views database was written for another source
// database. It compares the names, because both databases are on one server. Older programs wrote no name. If records
// and views are in one database, checkSource accepts any name: the database may have been copied or renamed.
func (c collection) checkSource(source string) error {
	views, own := c.store.own.Name(), c.store.source.Name()
	if source == "" || source == own || views == own {
		return nil
	}
	return &origin.ForeignError{Database: views, Source: source, Own: own}
}

// newestToken returns the greatest lease token in a collection of metas, and beside the kept answers. The error is an
// origin.ForeignError if a meta belongs to another institute, because a holder of the lease would keep that institute
// from publishing.
func (c collection) newestToken(ctx context.Context) (newest uint64, err error) {
	defer wrap.Error(&err, "tokens of views")
	fields := options.Find().SetProjection(bson.D{{Key: "token", Value: 1}, {Key: "source", Value: 1}})
	read := func(doc bson.Raw) error {
		newest = max(newest, registry.TokenOf(doc))
		source, _ := doc.Lookup("source").StringValueOK()
		return c.checkSource(source)
	}
	if err = wrap.Do(c.documents(ctx, bson.D{}, fields), read); err == nil {
		err = wrap.Do(c.store.side(responsesName).documents(ctx, is(stateID), fields), read)
	}
	return newest, err
}

// table is a registry.Table in a collection. It replaces a document only if its revision is still the one that it
// read.
type table[D any, P interface {
	*D
	Revise() uint64
	SourceField() *string
}] struct{ collection }

// Read implements registry.Table.
func (t table[D, P]) Read(ctx context.Context, name string) (D, error) {
	d, _, err := t.read(ctx, name)
	return d, err
}

// read returns the document of a name, decoded and raw. Both are zero if there is none.
func (t table[D, P]) read(ctx context.Context, name string) (d D, doc bson.Raw, err error) {
	doc, err = request(ctx, t.store.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return t.inner.FindOne(ctx, is(name)).Raw()
	})
	switch {
	case err == nil:
		if err = damaged(bson.Unmarshal(doc, &d)); err == nil {
			err = t.checkSource(*P(&d).SourceField())
		}
	case errors.Is(err, origin.ErrNotFound):
		err = nil
	}
	return d, doc, err
}

// Update implements registry.Table. Each round reads the document and replaces that revision of it; a round in
// which another process was first changes nothing and is repeated.
func (t table[D, P]) Update(ctx context.Context, name string, change func(*D) error) (D, error) {
	for {
		d, doc, err := t.read(ctx, name)
		if err == nil {
			err = change(&d)
		}
		if err != nil {
			return d, err
		}
		P(&d).Revise()
		*P(&d).SourceField() = t.store.source.Name()
		replace := driver.NewReplaceOneModel().SetFilter(unrevised(name, doc)).SetReplacement(d).SetUpsert(doc == nil)
		done, err := t.write(ctx, replace)
		if done.MatchedCount+done.UpsertedCount > 0 || err != nil && !driver.IsDuplicateKeyError(err) {
			return d, err
		}
	}
}

// unchanged returns a filter for a document if some of its fields are still those of doc. They may have any type, so
// that a damaged document can be replaced.
func unchanged(id string, doc bson.Raw, fields ...string) bson.D {
	filter := is(id)
	for _, name := range fields {
		var value any // nil is equal to a missing field
		if v, err := doc.LookupErr(name); err == nil {
			value = bson.D{{Key: "$eq", Value: v}} // so that a regular expression is compared, not matched
		}
		filter = append(filter, bson.E{Key: name, Value: value})
	}
	return filter
}

// unrevised returns a filter for the document of a name if it still has the revision of doc. The revision may have
// any type, so that a damaged document can be replaced. If doc is nil, the filter is for an upsert.
func unrevised(name string, doc bson.Raw) bson.D {
	if doc == nil {
		return append(is(name), bson.E{Key: "rev", Value: 0})
	}
	return unchanged(name, doc, "rev")
}

// Metas implements origin.Views by one request.
func (s *Store) Metas(ctx context.Context) (metas []origin.Meta, err error) {
	defer wrap.Error(&err, "metas of views")
	byName := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	c := s.side("meta")
	err = wrap.Do(c.documents(ctx, bson.D{}, byName), func(doc bson.Raw) error {
		view, named := doc.Lookup("_id").StringValueOK()
		if !named { // Vitrine did not write it: names of views are strings
			return nil
		}
		var d registry.View
		err := damaged(bson.Unmarshal(doc, &d))
		if err == nil {
			err = c.checkSource(d.Source)
		}
		if err != nil {
			d.Meta = origin.Unreadable(view, fmt.Errorf("read meta of view %s: %w", view, err))
		}
		metas = append(metas, d.Meta)
		return nil
	})
	return metas, err
}

// Fingerprint implements origin.Views by one command, which reads no documents. A server keeps the number of
// documents and their bytes with each collection, and changes both with every write. After a crash they may lack the
// writes since the last checkpoint (MongoDB: dbStats), but still change with every write. If the views database also
// has the institute's records, the text for all views also changes with them, and in any case with kept answers.
func (s *Store) Fingerprint(ctx context.Context, view string) (_ string, err error) {
	defer wrap.Error(&err, "fingerprint of view %q", view)
	command, fields := bson.D{{Key: "dbStats", Value: 1}}, []string{"collections", "objects", "dataSize"}
	if view != "" {
		command, fields = bson.D{{Key: "collStats", Value: origin.SidePrefix + view}}, []string{"count", "size"}
	}
	stats, err := request(ctx, s.gate, storeError, func(ctx context.Context) (bson.Raw, error) {
		return s.own.RunCommand(ctx, command).Raw()
	})
	var text strings.Builder
	for _, field := range fields {
		fmt.Fprintf(&text, "%s %s ", field, stats.Lookup(field)) // the numbers' types differ between servers
	}
	return text.String(), denied(err)
}

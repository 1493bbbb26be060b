package osiris_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/snapfile"
	"vitrine/materialize/osiris"
	"vitrine/rules"
)

// fickle is a source that may be away. All of its collections have the same documents.
type fickle struct {
	docs  []bson.Raw
	units []bson.Raw // documents of groups, instead of docs; nil for the same
	err   error
}

func (f *fickle) Scan(_ context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		docs := f.docs
		if collection == "groups" && f.units != nil {
			docs = f.units
		}
		for _, doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
		if f.err != nil {
			yield(nil, f.err)
		}
	}
}

// scanned returns the ids that a source yields from its rights.
func scanned(t *testing.T, src osiris.Source) (ids string, err error) {
	t.Helper()
	for doc, err := range src.Scan(t.Context(), "adminRights") {
		if err != nil {
			return ids, err
		}
		ids += doc.Lookup("_id").StringValue()
	}
	return ids, nil
}

// TestKept: while the database is away, the last settings read from it remain in force, also in the
// next process, but never those of another database.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	keep := func(src osiris.Source, store string) *osiris.Keeper {
		k, err := osiris.Keep(src, dir, store, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := func(k *osiris.Keeper, ids string) {
		t.Helper()
		if got, err := scanned(t, k); got != ids || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, ids)
		}
	}
	away := errors.Join(rules.ErrUnavailable, errors.New("no route"))
	src := &fickle{err: away}
	if _, err := scanned(t, keep(src, "one")); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("without a file: %v", err)
	}

	k := keep(src, "one")
	src.docs, src.err = docs(t, "a", "b"), nil
	want(k, "ab")
	src.docs, src.err = docs(t, "c"), nil
	want(k, "c")
	src.docs, src.err = docs(t, "x"), away // broken off in the middle
	want(k, "c")
	want(keep(src, "one"), "c")
	src.err = errors.New("not allowed")
	if _, err := scanned(t, k); err == nil {
		t.Error("no error from a database that refuses")
	}
	src.err = away
	if _, err := scanned(t, keep(src, "another")); !errors.Is(err, snapfile.ErrRefused) {
		t.Errorf("file of another store: %v", err)
	}

	// Settings that could not be written are not replaced by those read earlier.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	src.docs, src.err = docs(t, "d"), nil
	want(k, "d")
	src.err = away
	if got, err := scanned(t, k); got != "" || !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("settings that could not be written: %q, %v", got, err)
	}
}

func docs(t *testing.T, ids ...string) (all []bson.Raw) {
	t.Helper()
	for _, id := range ids {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	return all
}

// TestLostSettings: a database without any settings was dropped or is another one, even if it has units. Its
// earlier settings remain in force, with files also in the next process; a new database may have none.
func TestLostSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	log := slog.New(slog.DiscardHandler)
	src := &fickle{}
	start := func() *osiris.Follower {
		k, err := osiris.Keep(src, dir, "one", log)
		if err != nil {
			t.Fatal(err)
		}
		return osiris.NewFollower(k, log)
	}
	bare, kept := osiris.NewFollower(src, log), start()
	rights := func(f *osiris.Follower) int {
		t.Helper()
		s, err := f.Answers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(s.Roles)
	}
	if rights(bare)+rights(kept) != 0 {
		t.Error("a new database has rights")
	}
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "a"}, {Key: "role", Value: "admin"},
		{Key: "right", Value: "projects.view"}, {Key: "value", Value: true}})
	if err != nil {
		t.Fatal(err)
	}
	src.docs = []bson.Raw{doc}
	want := rights(kept)
	if want == 0 || rights(bare) != want {
		t.Fatalf("%d roles", want)
	}
	unit, err := bson.Marshal(bson.D{{Key: "_id", Value: "u"}, {Key: "id", Value: "INST"}})
	if err != nil {
		t.Fatal(err)
	}
	src.docs = nil
	for _, src.units = range [][]bson.Raw{nil, {unit}} {
		if _, err := bare.Answers(t.Context()); err == nil {
			t.Error("no error for lost settings")
		}
		if got := rights(kept); got != want {
			t.Errorf("%d roles, want %d", got, want)
		}
		if got := rights(start()); got != want {
			t.Errorf("%d roles in the next process, want %d", got, want)
		}
	}
}

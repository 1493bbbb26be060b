package mongo

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// marshal encodes a document.
func marshal(t *testing.T, d bson.D) bson.Raw {
	t.Helper()
	doc, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestRowsComeBack: a row is the same after it was stored, in either collection.
func TestRowsComeBack(t *testing.T) {
	for name, doc := range map[string]bson.D{
		"a record":                 {{Key: "_id", Value: "x"}, {Key: "title", Value: "T"}},
		"an id that is a document": {{Key: "_id", Value: bson.D{{Key: "$gt", Value: 1}}}, {Key: "n", Value: 1}},
		"fields like the staged ones": {{Key: "_id", Value: int32(1)}, {Key: "gen", Value: 9},
			{Key: "hash", Value: 9}, {Key: "id", Value: 9}},
		"nothing but an id": {{Key: "_id", Value: bson.ObjectID{1}}},
	} {
		t.Run(name, func(t *testing.T) {
			written := marshal(t, doc)
			want := origin.Row{ID: written.Lookup("_id"), Generation: 7, Hash: 1<<64 - 2, Doc: written}
			side, err := sideDoc(want)
			if err != nil {
				t.Fatal(err)
			}
			sameRow(t, side, want, decodeSide)
			staged, err := stagedDoc(stagedPrefix("things", 3), want, 7)
			if err != nil {
				t.Fatal(err)
			}
			if got := staged.Lookup("_id").StringValue(); !strings.HasPrefix(got, "things/0000000000000003/") {
				t.Errorf("_id of the staged row = %q", got)
			}
			sameRow(t, staged, want, staged7)
			want.Doc = nil
			tombstone, err := sideDoc(want)
			if err != nil {
				t.Fatal(err)
			}
			sameRow(t, tombstone, want, decodeSide)
		})
	}
}

// staged7 is decodeStaged for generation 7.
func staged7(doc bson.Raw) (origin.Row, error) { return decodeStaged(doc, 7) }

// sameRow decodes a stored row and compares it.
func sameRow(t *testing.T, stored bson.Raw, want origin.Row, decode func(bson.Raw) (origin.Row, error)) {
	t.Helper()
	got, err := decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if !got.ID.Equal(want.ID) || got.Generation != want.Generation || got.Hash != want.Hash ||
		got.Doc.String() != want.Doc.String() {
		t.Errorf("row = %+v, want %+v", got, want)
	}
}

// TestOwnFieldGivesWay: the store does not store a record's field that has the name of its own
// field.
func TestOwnFieldGivesWay(t *testing.T) {
	doc := marshal(t, bson.D{{Key: "_id", Value: "x"}, {Key: viewField, Value: "mine"}, {Key: "n", Value: 1}})
	side, err := sideDoc(origin.Row{ID: doc.Lookup("_id"), Generation: 1, Doc: doc})
	if err != nil {
		t.Fatal(err)
	}
	sameRow(t, side, origin.Row{ID: doc.Lookup("_id"), Generation: 1,
		Doc: marshal(t, bson.D{{Key: "_id", Value: "x"}, {Key: "n", Value: 1}})}, decodeSide)
}

func TestMalformedRows(t *testing.T) {
	for name, doc := range map[string]bson.D{
		"without the store's field": {{Key: "_id", Value: 1}},
		"with another in its place": {{Key: "_id", Value: 1}, {Key: viewField, Value: "x"}},
		"without id":                {{Key: viewField, Value: bson.D{{Key: "gen", Value: 1}}}},
		"with a generation of a text": {{Key: "_id", Value: 1},
			{Key: viewField, Value: bson.D{{Key: "gen", Value: "x"}}}},
		"with several generations": {{Key: "_id", Value: 1},
			{Key: viewField, Value: bson.D{{Key: "gen", Value: bson.A{7, 8}}}}},
		"with generation 0": {{Key: "_id", Value: 1},
			{Key: viewField, Value: bson.D{{Key: "gen", Value: 0}}}},
		"with an array in its place": {{Key: "_id", Value: 1},
			{Key: viewField, Value: bson.A{bson.D{{Key: "gen", Value: 7}}}}},
	} {
		id := marshal(t, doc).Lookup("_id")
		if r, err := decodeSide(marshal(t, doc)); !errors.Is(err, errMalformedRow) || !r.ID.Equal(id) ||
			r.Generation != 0 {
			t.Errorf("%s: row %+v, %v; want an error, and its id", name, r, err)
		}
		if r, err := staged7(marshal(t, doc)); !errors.Is(err, errMalformedRow) {
			t.Errorf("%s, staged: row %+v, %v; want an error", name, r, err)
		}
	}
}

// TestStagedRanges: the rows of an attempt lie in its range, which holds no others, and equal
// numbers have the same ids.
func TestStagedRanges(t *testing.T) {
	id := func(view string, attempt uint64, of any) string {
		t.Helper()
		staged, err := stagedDoc(stagedPrefix(view, attempt),
			origin.Row{ID: marshal(t, bson.D{{Key: "v", Value: of}}).Lookup("v")}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return staged.Lookup("_id").StringValue()
	}
	in := func(text, view string, from, to uint64) bool {
		return text >= stagedPrefix(view, from) && text < stagedPrefix(view, to)
	}
	for _, attempt := range []uint64{1, 9, 10, 15, 16, 255, 256, 1 << 40} {
		for _, of := range []any{"x", 1, bson.ObjectID{1}} {
			staged := id("things", attempt, of)
			if !in(staged, "things", attempt, attempt+1) || in(staged, "things", attempt+1, attempt+2) ||
				!in(staged, "things", 0, attempt+1) {
				t.Errorf("%q is not in exactly the range of attempt %d", staged, attempt)
			}
			if in(staged, "thing", 0, 1<<63) || in(staged, "things_2", 0, 1<<63) {
				t.Errorf("%q is in the range of another view", staged)
			}
		}
	}
	if id("things", 1, int32(7)) != id("things", 1, 7.0) || id("things", 1, "7") == id("things", 1, 7.0) {
		t.Error("the order of staged ids differs from the server's")
	}
}

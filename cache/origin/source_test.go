package origin_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules"
)

var sourceTests = map[string]func(*testing.T, harness){
	"a missing collection is an empty one":     testMissing,
	"every document comes once":                testScanAll,
	"a scan may be left":                       testScanLeft,
	"a scan ends with its context":             testScanCancelled,
	"a sift examines all and yields matches":   testSift,
	"the loop body may write":                  testScanWriting,
	"documents belong to the receiver":         testOwnership,
	"every type of id is found":                testIDs,
	"collections are listed by name":           testCollections,
	"find filters, sorts, skips, limits, cuts": testFind,
	"find by id":                                    testFindByID,
	"a malformed filter is a wrong call":            testBadFilter,
	"a filter that cannot be evaluated is an error": testUnsupported,
}

func testMissing(t *testing.T, h harness) {
	s := h.open(t, settings{})
	same(t, "Scan", texts(t, s.Scan(t.Context(), "nothing")), []string{})
	same(t, "Find", texts(t, s.Find(t.Context(), "nothing", origin.Query{})), []string{})
	same(t, "Collections", must(s.Collections(t.Context()))(t), nil)
	same(t, "Find by id", byID(t, s, "nothing", "x"), []string{})
	if n, err := s.Retain(t.Context(), "nothing", func(bson.RawValue) bool { return false }); n != 0 || err != nil {
		t.Errorf("Retain = %d, %v", n, err)
	}
	ok(t, s.Ping(t.Context()))
}

func testScanAll(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, h.many)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	same(t, "Scan", texts(t, s.Scan(t.Context(), "docs")), stringsOf(docs))
}

func testScanLeft(t *testing.T, h harness) {
	s := h.open(t, settings{})
	upsert(t, s, "docs", numbered(t, 30), origin.UpsertCounts{Inserted: 30})
	n := 0
	for _, err := range s.Scan(t.Context(), "docs") {
		ok(t, err)
		if n++; n == 3 {
			break
		}
	}
	upsert(t, s, "docs", numbered(t, 1), origin.UpsertCounts{Replaced: 1})
}

func testScanCancelled(t *testing.T, h harness) {
	s := h.open(t, settings{})
	upsert(t, s, "docs", numbered(t, 3), origin.UpsertCounts{Inserted: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range s.Scan(ctx, "docs") {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("Scan = %v, want context.Canceled alone", errs)
	}
}

// testSift selects few documents of many, and the last of all.
func testSift(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, h.many)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	var wanted []bson.Raw
	for _, doc := range docs {
		if n := doc.Lookup("n").AsInt64(); n%100 == 7 || n == int64(len(docs)-1) {
			wanted = append(wanted, doc)
		}
	}
	shown, asked := 0, []string{}
	sift := s.Sift(t.Context(), "docs", func(doc bson.Raw) bool {
		shown++
		n := doc.Lookup("n").AsInt64()
		want := n%100 == 7 || n == int64(len(docs)-1)
		if want {
			asked = append(asked, doc.String())
		}
		return want
	})
	var got []string
	for doc, err := range sift {
		ok(t, err)
		got = append(got, doc.String())
	}
	same(t, "Sift, in the order in which it asked", got, asked)
	slices.Sort(got)
	same(t, "Sift", got, stringsOf(wanted))
	if shown != len(docs) {
		t.Errorf("Sift examined %d documents of %d", shown, len(docs))
	}
	for doc, err := range s.Sift(t.Context(), "docs", func(bson.Raw) bool { return false }) {
		t.Errorf("Sift yields %s, %v, which want rejects", doc, err)
	}
}

// testScanWriting writes so much inside the loop that an embedded store must enlarge its file.
func testScanWriting(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, h.many)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	filler := string(make([]byte, 64<<10))
	seen := map[int64]int{}
	for doc, err := range s.Scan(t.Context(), "docs") {
		ok(t, err)
		n := doc.Lookup("n").AsInt64()
		if seen[n]++; n%20 == 0 {
			copied := raw(t, bson.D{{Key: "_id", Value: name(int(n))}, {Key: "filler", Value: filler}})
			upsert(t, s, "copies", []bson.Raw{copied}, origin.UpsertCounts{Inserted: 1})
		}
	}
	for n := range int64(len(docs)) {
		if seen[n] != 1 {
			t.Errorf("Scan yielded document %d %d times", n, seen[n])
		}
	}
}

func testOwnership(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, 5)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	var kept []bson.Raw
	for doc, err := range s.Scan(t.Context(), "docs") {
		ok(t, err)
		kept = append(kept, doc)
	}
	before := stringsOf(kept)
	if _, err := s.Retain(t.Context(), "docs", func(bson.RawValue) bool { return false }); err != nil {
		t.Fatal(err)
	}
	same(t, "documents kept after they were deleted", stringsOf(kept), before)
	for i := range kept[0] {
		kept[0][i] = 0 // the receiver may change the bytes
	}
}

// ids has one id of each type, plain ones first.
func ids(h harness) []any {
	plain := []any{
		bson.ObjectID{1, 2, 3}, "", "a", "ä/€ \"q\" $x.y", int32(-7), int64(1) << 60, 2.5, true, false,
		bson.DateTime(-1), time.UnixMilli(1700000000123),
	}
	if h.plain {
		return plain
	}
	decimal, _ := bson.ParseDecimal128("12345678901234567890.5")
	return append(plain,
		decimal, math.Inf(1), math.NaN(), nil, "a\x00", "a\x00b",
		bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")},
		bson.Binary{}, bson.Timestamp{T: 5, I: 6}, bson.MinKey{}, bson.MaxKey{}, bson.JavaScript("f()"),
		bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "a", Value: 1}, {Key: "b", Value: bson.A{1, "x"}}}, bson.D{},
	)
}

func testIDs(t *testing.T, h harness) {
	s := h.open(t, settings{})
	var docs []bson.Raw
	for i, id := range ids(h) {
		docs = append(docs, raw(t, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: int32(i)}}))
	}
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	upsert(t, s, "docs", docs, origin.UpsertCounts{Replaced: len(docs)})
	same(t, "Scan", texts(t, s.Scan(t.Context(), "docs")), stringsOf(docs))
	for _, doc := range docs {
		same(t, "found by id", byID(t, s, "docs", doc.Lookup("_id")), []string{doc.String()})
	}
	if !h.plain {
		same(t, "found by another type of number", byID(t, s, "docs", -7.0), byID(t, s, "docs", int32(-7)))
		if found := byID(t, s, "docs", -7.0); len(found) != 1 {
			t.Errorf("a double found int32 -7: %q", found)
		}
	}
	n, err := s.Retain(t.Context(), "docs", func(id bson.RawValue) bool { return id.Type == bson.TypeString })
	if want := len(docs) - stringIDs(docs); err != nil || n != want {
		t.Errorf("Retain = %d, %v; want %d", n, err, want)
	}
}

// stringIDs counts the documents whose _id is a string.
func stringIDs(docs []bson.Raw) (n int) {
	for _, d := range docs {
		if d.Lookup("_id").Type == bson.TypeString {
			n++
		}
	}
	return n
}

func testCollections(t *testing.T, h harness) {
	s := h.open(t, settings{})
	for _, name := range []string{"persons", "activities", "catalog_topics"} {
		upsert(t, s, name, numbered(t, 1), origin.UpsertCounts{Inserted: 1})
	}
	l := acquire(t, s, "a")
	publish(t, s, l, 1, row(t, 1, 1))
	same(t, "Collections", must(s.Collections(t.Context()))(t), []string{"activities", "catalog_topics", "persons"})
}

func testFind(t *testing.T, h harness) {
	s := h.open(t, settings{})
	docs := []bson.Raw{
		raw(t, bson.D{{Key: "_id", Value: "a"}, {Key: "year", Value: 2020}, {Key: "type", Value: "book"},
			{Key: "x", Value: 1}}),
		raw(t, bson.D{{Key: "_id", Value: "b"}, {Key: "year", Value: 2022}, {Key: "type", Value: "book"},
			{Key: "x", Value: 2}}),
		raw(t, bson.D{{Key: "_id", Value: "c"}, {Key: "year", Value: 2021}, {Key: "type", Value: "talk"},
			{Key: "x", Value: 3}}),
		raw(t, bson.D{{Key: "_id", Value: "d"}, {Key: "year", Value: 2022}, {Key: "type", Value: "talk"},
			{Key: "x", Value: 4}}),
	}
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	byYear := order(t, "-year", "_id")
	for _, c := range []struct {
		name  string
		query origin.Query
		want  []string
	}{
		{"sort", origin.Query{Sort: byYear}, []string{"b", "d", "c", "a"}},
		{"sort ascending", origin.Query{Sort: order(t, "year", "-_id")}, []string{"a", "c", "d", "b"}},
		{"filter", origin.Query{Filter: raw(t, bson.D{{Key: "type", Value: "talk"}}), Sort: byYear},
			[]string{"d", "c"}},
		{"empty filter", origin.Query{Filter: raw(t, bson.D{}), Sort: byYear}, []string{"b", "d", "c", "a"}},
		{"range", origin.Query{Filter: raw(t, bson.D{{Key: "year", Value: bson.D{{Key: "$lt", Value: 2022}}}}),
			Sort: byYear}, []string{"c", "a"}},
		{"either", origin.Query{Filter: raw(t, bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "x", Value: bson.D{{Key: "$gte", Value: 4}}}},
			bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: "b"}}}},
		}}}), Sort: byYear}, []string{"d", "c"}},
		{"skip", origin.Query{Sort: byYear, Skip: 1}, []string{"d", "c", "a"}},
		{"limit", origin.Query{Sort: byYear, Limit: 2}, []string{"b", "d"}},
		{"skip and limit", origin.Query{Sort: byYear, Skip: 2, Limit: 1}, []string{"c"}},
		{"skip all", origin.Query{Sort: byYear, Skip: 9}, []string{}},
		{"none", origin.Query{Filter: raw(t, bson.D{{Key: "type", Value: "nix"}})}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := []string{}
			for doc, err := range s.Find(t.Context(), "docs", c.query) {
				ok(t, err)
				got = append(got, doc.Lookup("_id").StringValue())
			}
			same(t, "ids", got, c.want)
		})
	}
	cut := origin.Query{Filter: raw(t, bson.D{{Key: "_id", Value: "b"}}),
		Projection: []string{"x", "missing", "type"}}
	same(t, "projection", ordered(t, s.Find(t.Context(), "docs", cut)), []string{
		raw(t, bson.D{{Key: "_id", Value: "b"}, {Key: "type", Value: "book"}, {Key: "x", Value: 2}}).String()})
	cut.Projection = []string{}
	same(t, "projection to the _id", ordered(t, s.Find(t.Context(), "docs", cut)),
		[]string{raw(t, bson.D{{Key: "_id", Value: "b"}}).String()})
	unsorted := origin.Query{Skip: 1, Limit: 2}
	if got := ordered(t, s.Find(t.Context(), "docs", unsorted)); len(got) != 2 {
		t.Errorf("unsorted page = %s, want two documents", got)
	}
}

func testFindByID(t *testing.T, h harness) {
	s := h.open(t, settings{})
	docs := numbered(t, 40)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	for _, c := range []struct {
		name   string
		filter bson.D
		want   []bson.Raw
	}{
		{"equal", bson.D{{Key: "_id", Value: name(7)}}, docs[7:8]},
		{"$eq", bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: name(7)}}}}, docs[7:8]},
		{"$in", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{name(8), name(7), name(99)}}}}},
			docs[7:9]},
		{"and more", bson.D{{Key: "_id", Value: name(7)}, {Key: "n", Value: 8}}, nil},
		{"range", bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: name(38)}}}}, docs[38:]},
		{"empty $in", bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := origin.Query{Filter: raw(t, c.filter)}
			same(t, "documents", texts(t, s.Find(t.Context(), "docs", q)), stringsOf(c.want))
		})
	}
}

func testBadFilter(t *testing.T, h harness) {
	s := h.open(t, settings{})
	upsert(t, s, "docs", numbered(t, 1), origin.UpsertCounts{Inserted: 1})
	bad := raw(t, bson.D{{Key: "n", Value: bson.D{{Key: "$in", Value: 5}}}})
	if err := findError(t.Context(), s, bad); !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("error = %v, want rules.ErrWrongCall", err)
	}
}

func testUnsupported(t *testing.T, h harness) {
	s := h.open(t, settings{})
	upsert(t, s, "docs", numbered(t, 1), origin.UpsertCounts{Inserted: 1})
	text := raw(t, bson.D{{Key: "$text", Value: bson.D{{Key: "$search", Value: "x"}}}})
	if err := findError(t.Context(), s, text); err == nil {
		t.Error("a text search without index: no error")
	}
}

// byID returns a list of the one document with an _id, as Extended JSON.
func byID(t *testing.T, s origin.Store, collection string, id any) []string {
	t.Helper()
	filter := raw(t, bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}})
	return ordered(t, s.Find(t.Context(), collection, origin.Query{Filter: filter}))
}

// findError returns the error of a failed find.
func findError(ctx context.Context, s origin.Store, filter bson.Raw) error {
	for _, err := range s.Find(ctx, "docs", origin.Query{Filter: filter}) {
		if err != nil {
			return err
		}
	}
	return nil
}

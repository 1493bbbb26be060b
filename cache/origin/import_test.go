package origin_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

var importTests = map[string]func(*testing.T, harness){
	"upsert inserts and replaces":              testUpsert,
	"retain deletes records that keep rejects": testRetain,
	"malformed documents are refused":          testUpsertMalformed,
	"reserved names are refused":               testReserved,
	"versions follow changes":                  testVersion,
}

func testUpsert(t *testing.T, h harness) {
	s := h.open(t, settings{})
	docs := numbered(t, 130)
	upsert(t, s, "docs", docs[:100], origin.UpsertCounts{Inserted: 100})
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: 30, Replaced: 100})
	upsert(t, s, "docs", nil, origin.UpsertCounts{})
	changed := raw(t, bson.D{{Key: "_id", Value: name(3)}, {Key: "only", Value: "this"}})
	upsert(t, s, "docs", []bson.Raw{changed}, origin.UpsertCounts{Replaced: 1})
	same(t, "replaced document", byID(t, s, "docs", name(3)), []string{changed.String()})
}

func testRetain(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, 300)
	upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: len(docs)})
	third := map[string]bool{}
	for i := 0; i < len(docs); i += 3 {
		third[name(i)] = true
	}
	keep := func(id bson.RawValue) bool { return third[id.StringValue()] }
	if n := must(s.Retain(t.Context(), "docs", keep))(t); n != 200 {
		t.Errorf("Retain = %d, want 200", n)
	}
	var want []bson.Raw
	for i := 0; i < len(docs); i += 3 {
		want = append(want, docs[i])
	}
	same(t, "documents left", texts(t, s.Scan(t.Context(), "docs")), stringsOf(want))
}

func testUpsertMalformed(t *testing.T, h harness) {
	s := h.open(t, settings{})
	for name, doc := range map[string]bson.Raw{
		"empty":           {},
		"cut off":         numbered(t, 1)[0][:9],
		"no id":           raw(t, bson.D{{Key: "n", Value: 1}}),
		"array as id":     raw(t, bson.D{{Key: "_id", Value: bson.A{1}}}),
		"regex as id":     raw(t, bson.D{{Key: "_id", Value: bson.Regex{Pattern: "x"}}}),
		"undefined as id": raw(t, bson.D{{Key: "_id", Value: bson.Undefined{}}}),
	} {
		if got, err := s.Upsert(t.Context(), "docs", []bson.Raw{doc}); err == nil {
			t.Errorf("%s: Upsert = %+v, want an error", name, got)
		}
	}
	same(t, "documents", texts(t, s.Scan(t.Context(), "docs")), []string{})
}

func testReserved(t *testing.T, h harness) {
	s := h.open(t, settings{})
	for _, name := range []string{"", "view_meta", "view_activities", "system.users", "a$b"} {
		if _, err := s.Upsert(t.Context(), name, numbered(t, 1)); err == nil {
			t.Errorf("Upsert into %q: no error", name)
		}
		if _, err := s.Retain(t.Context(), name, func(bson.RawValue) bool { return true }); err == nil {
			t.Errorf("Retain in %q: no error", name)
		}
	}
	l := acquire(t, s, "a")
	for _, name := range []string{"", "meta", "lease", "staged", "a/b", "Ä"} {
		if _, err := s.Begin(t.Context(), name, l); err == nil {
			t.Errorf("Begin of view %q: no error", name)
		}
	}
}

// testVersion: an exact version changes with every write, any other at least with the count, the
// greatest _id and the greatest value of the field, which it has, as well as a function that counts
// documents. Writes elsewhere change neither.
func testVersion(t *testing.T, h harness) {
	s, docs := h.open(t, settings{}), numbered(t, 30)
	dated := func(id string, at int) []bson.Raw {
		return []bson.Raw{raw(t, bson.D{{Key: "_id", Value: id}, {Key: "changed", Value: at}})}
	}
	seen := map[string]string{}
	step := func(name string, change func(), changes, changesExact bool) {
		t.Helper()
		change()
		version := must(s.Version(t.Context(), "docs", "changed"))(t)
		if before, known := seen[version.Text]; known == (changes || version.Exact && changesExact) {
			t.Errorf("%s: version %+v, known from %q", name, version, before)
		}
		seen[version.Text] = name
		docs := texts(t, s.Scan(t.Context(), "docs"))
		stored := len(docs)
		if !version.Exact {
			late := raw(t, bson.D{{Key: "changed", Value: bson.D{{Key: "$gte", Value: 9}}}})
			all, some := must(version.Count(t.Context(), nil))(t), must(version.Count(t.Context(), late))(t)
			if all != stored || some != strings.Count(strings.Join(docs, ""), `"changed": {"$numberInt":"9"}`) {
				t.Errorf("%s: %d documents counted, %d matching ones, of %d: %s", name, all, some, stored, docs)
			}
		}
	}
	retain := func(except string) {
		must(s.Retain(t.Context(), "docs", func(id bson.RawValue) bool { return id.StringValue() != except }))(t)
	}
	step("no collection", func() {}, true, true)
	step("filled", func() { upsert(t, s, "docs", docs, origin.UpsertCounts{Inserted: 30}) }, true, true)
	step("only read", func() { texts(t, s.Scan(t.Context(), "docs")) }, false, false)
	step("another one filled", func() { upsert(t, s, "others", docs, origin.UpsertCounts{Inserted: 30}) }, false,
		false)
	step("kept whole", func() { retain("") }, false, false)
	step("one added", func() { upsert(t, s, "docs", dated("a", 7), origin.UpsertCounts{Inserted: 1}) }, true, true)
	step("replaced without a later value",
		func() { upsert(t, s, "docs", dated("a", 7), origin.UpsertCounts{Replaced: 1}) }, false, true)
	step("replaced with a later value", func() {
		upsert(t, s, "docs", dated("a", 9), origin.UpsertCounts{Replaced: 1})
	}, true, true)
	step("one deleted", func() { retain(name(3)) }, true, true)
	step("another greatest _id", func() {
		upsert(t, s, "docs", dated("zz", 8), origin.UpsertCounts{Inserted: 1})
		retain(name(4))
	}, true, true)
	version := must(s.Version(t.Context(), "docs", "changed"))(t)
	if !version.Exact && (version.ID.StringValue() != "zz" || version.Field.AsInt64() != 9) {
		t.Errorf("the greatest values of %+v", version)
	}
	if version := must(s.Version(t.Context(), "docs", ""))(t); !version.Field.IsZero() {
		t.Errorf("a value of no field: %+v", version)
	}
}

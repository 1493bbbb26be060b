package dump_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
)

// memory is a store in memory that records its calls.
type memory struct {
	docs  map[string][]bson.Raw // by collection, in order of arrival
	calls []string
	fail  func(call string) error // if not nil, called before each call
}

func newMemory() *memory { return &memory{docs: map[string][]bson.Raw{}} }

func (m *memory) call(format string, args ...any) error {
	call := fmt.Sprintf(format, args...)
	m.calls = append(m.calls, call)
	if m.fail != nil {
		return m.fail(call)
	}
	return nil
}

// Upsert implements origin.Importer.
func (m *memory) Upsert(ctx context.Context, collection string, docs []bson.Raw) (origin.UpsertCounts, error) {
	var done origin.UpsertCounts
	if err := m.call("upsert %s %d", collection, len(docs)); err != nil {
		return done, err
	}
	for _, d := range docs {
		same := func(old bson.Raw) bool { return old.Lookup("_id").Equal(d.Lookup("_id")) }
		if i := slices.IndexFunc(m.docs[collection], same); i >= 0 {
			m.docs[collection][i] = d
			done.Replaced++
		} else {
			m.docs[collection] = append(m.docs[collection], d)
			done.Inserted++
		}
	}
	return done, ctx.Err()
}

// Retain implements origin.Importer.
func (m *memory) Retain(_ context.Context, collection string, keep func(bson.RawValue) bool) (int, error) {
	if err := m.call("retain %s", collection); err != nil {
		return 0, err
	}
	before := len(m.docs[collection])
	m.docs[collection] = slices.DeleteFunc(m.docs[collection],
		func(d bson.Raw) bool { return !keep(d.Lookup("_id")) })
	return before - len(m.docs[collection]), nil
}

// contents lists the documents stored, each as "collection{…}", by collection.
func (m *memory) contents() []string {
	var out []string
	for collection, docs := range m.docs {
		for _, d := range docs {
			text, _ := bson.MarshalExtJSON(d, false, false)
			out = append(out, collection+string(text))
		}
	}
	slices.Sort(out)
	return out
}

// load loads the files and returns the report.
func load(t testing.TB, m origin.Importer, f files, o dump.LoadOptions) (dump.Report, error) {
	t.Helper()
	d, err := dump.OpenFS(f.fsys(), ".", dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dump.Load(context.Background(), m, d, o)
}

func TestLoad(t *testing.T) {
	old := files{"a.jsonl": []byte("{\"_id\":1,\"old\":true}\n{\"_id\":9,\"old\":true}"),
		"z.jsonl": []byte(`{"_id":1,"old":true}`)}
	kept := []string{`a{"_id":9,"old":true}`, `z{"_id":1,"old":true}`}
	tests := []struct {
		name  string
		files files
		opts  dump.LoadOptions
		want  []string // in the store afterwards, beside kept unless opts.Drop
		tally []dump.Tally
	}{
		{name: "replace and insert", files: files{"a.jsonl": []byte("{\"_id\":1}\n{\"_id\":2}")},
			want:  append([]string{`a{"_id":1}`, `a{"_id":2}`}, kept...),
			tally: []dump.Tally{{Collection: "a", Documents: 2, Inserted: 1, Replaced: 1}}},
		{name: "drop", files: files{"a.jsonl": []byte("{\"_id\":1}\n{\"_id\":2}")},
			opts:  dump.LoadOptions{Drop: true},
			want:  []string{`a{"_id":1}`, `a{"_id":2}`, `z{"_id":1,"old":true}`},
			tally: []dump.Tally{{Collection: "a", Documents: 2, Inserted: 1, Replaced: 1, Removed: 1}}},
		{name: "drop with an empty file", files: files{"a.jsonl": nil}, opts: dump.LoadOptions{Drop: true},
			want:  []string{`z{"_id":1,"old":true}`},
			tally: []dump.Tally{{Collection: "a", Removed: 2}}},
		{name: "archive",
			files: files{"d.archive": newArchive(t, "o.a", "o.b").block("o", "a", numbered(t, 1)).end("o",
				"b").end("o", "a").out}, opts: dump.LoadOptions{Drop: true},
			want:  []string{`a{"_id":1}`, `z{"_id":1,"old":true}`},
			tally: []dump.Tally{{Collection: "a", Documents: 1, Replaced: 1, Removed: 1}, {Collection: "b"}}},
		{name: "the last of the same _id wins, over files and types", files: files{
			"a.1.jsonl": []byte("{\"_id\":5,\"n\":1}\n{\"_id\":5.0,\"n\":2}\n{\"_id\":6}"),
			"a.2.jsonl": []byte("{\"_id\":{\"$numberLong\":\"5\"},\"n\":3}"),
		}, want: append([]string{`a{"_id":1,"old":true}`, `a{"_id":5,"n":3}`, `a{"_id":6}`}, kept...),
			tally: []dump.Tally{{Collection: "a", Documents: 4, Duplicates: 2,
				Superseded: dump.Place{File: "a.1.jsonl", Line: 1}, Inserted: 2}}},
		{name: "bad ones skipped", files: files{"a.jsonl": []byte("{\"_id\":1}\n{]\n{\"_id\":[]}\n{\"_id\":2}")},
			opts:  dump.LoadOptions{SkipBad: true},
			want:  append([]string{`a{"_id":1}`, `a{"_id":2}`}, kept...),
			tally: []dump.Tally{{Collection: "a", Documents: 2, Skipped: 2, Inserted: 1, Replaced: 1}}},
		{name: "a collection with a bad document keeps its old ones",
			files: files{"a.jsonl": []byte("{\"_id\":1}\n{\"_id\":9"), "z.jsonl": []byte(`{"_id":2}`)},
			opts:  dump.LoadOptions{SkipBad: true, Drop: true},
			want:  []string{`a{"_id":1}`, `a{"_id":9,"old":true}`, `z{"_id":2}`},
			tally: []dump.Tally{{Collection: "a", Documents: 1, Skipped: 1, Replaced: 1, Kept: true},
				{Collection: "z", Documents: 1, Inserted: 1, Removed: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			if _, err := load(t, m, old, dump.LoadOptions{}); err != nil {
				t.Fatal(err)
			}
			report, err := load(t, m, tt.files, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(report.Collections, tt.tally) {
				t.Errorf("tally %+v, want %+v", report.Collections, tt.tally)
			}
			slices.Sort(tt.want)
			if got := m.contents(); !slices.Equal(got, tt.want) {
				t.Errorf("stored %q, want %q", got, tt.want)
			}
		})
	}
}

// If a dump has any fault anywhere, Load writes nothing.
func TestLoadRefuses(t *testing.T) {
	large := `{"_id":1,"a":"` + strings.Repeat("x", 16<<20) + `"}`
	// fits until it gets an _id
	almost := `{"a":"` + strings.Repeat("x", 16<<20-len("\x00\x00\x00\x00\x02a\x00\x00\x00\x00\x00\x00\x00")) + `"}`
	tests := []struct {
		name string
		file string
		data []byte
		want string
	}{
		{"malformed line", "b.jsonl", []byte("{\"_id\":1}\n{\"_id\":2,}"), "b.jsonl: line 2: offset 9: "},
		{"malformed document", "b.bson", append(numbered(t, 1), withLength("\x08b\x00\x05")...),
			`b.bson: byte 14: field "b": boolean is neither 0 nor 1`},
		{"broken archive", "b.archive", institute(t)[:len(institute(t))-10], "b.archive: byte "},
		{"broken gzip", "b.jsonl.gz", zipped(t, []byte(`{"_id":1}`))[:20], "b.jsonl.gz: line 1: the file is cut off"},
		{"too large", "b.jsonl", []byte(large),
			"b.jsonl: line 1: document of 16777238 bytes: more than MongoDB's limit of 16777216"},
		{"too large with an _id", "b.jsonl", []byte(almost),
			"b.jsonl: line 1: document of 16777233 bytes: more than"},
		{"_id an array", "b.jsonl", []byte(`{"_id":[1]}`), "b.jsonl: line 1: _id may not be of type array"},
		{"_id a regex", "b.jsonl", []byte(`{"_id":{"$regularExpression":{"pattern":"a","options":""}}}`),
			"_id may not be of type regex"},
		{"_id too long", "b.jsonl", []byte(`{"_id":"` + strings.Repeat("x", 33000) + `"}`),
			"_id of more than 32000 bytes"},
		{"operator as a field", "b.jsonl", []byte(`{"_id":1,"$set":{}}`),
			`b.jsonl: line 1: field "$set": a document's own fields may not begin with $`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			_, err := load(t, m, files{"a.jsonl": []byte(`{"_id":1}`), tt.file: tt.data},
				dump.LoadOptions{Drop: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %.200v, want %q", err, tt.want)
			}
			var bad *dump.BadDocument
			var broken *dump.BrokenFile
			if !errors.As(err, &bad) && !errors.As(err, &broken) {
				t.Errorf("error of type %T", err)
			}
			if len(m.calls) > 0 {
				t.Errorf("calls %v, want none", m.calls)
			}
		})
	}
}

// A damaged file stops the import even if it may skip bad documents.
func TestLoadSkipBadStopsAtDamage(t *testing.T) {
	m := newMemory()
	_, err := load(t, m, files{"a.bson": numbered(t, 1, 2)[:20]}, dump.LoadOptions{SkipBad: true})
	var broken *dump.BrokenFile
	if !errors.As(err, &broken) || len(m.calls) > 0 {
		t.Errorf("error %v, calls %v", err, m.calls)
	}
}

func TestLoadListsBad(t *testing.T) {
	lines := []byte(strings.Repeat("{]\n", 25) + `{"_id":1}`)
	report, err := load(t, newMemory(), files{"a.jsonl": lines}, dump.LoadOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Bad) != 20 || report.BadTotal != 25 || report.Stored() != 1 {
		t.Errorf("%d of %d bad documents listed, %d stored; want 20 of 25, 1", len(report.Bad), report.BadTotal,
			report.Stored())
	}
	if got, want := report.Bad[19].Place, (dump.Place{File: "a.jsonl", Line: 20, Offset: 57}); got != want {
		t.Errorf("place %+v, want %+v", got, want)
	}
}

// Documents without _id get one that stays, and equal ones remain as many as they were.
func TestLoadWithoutID(t *testing.T) {
	f := files{"a.jsonl": []byte("{\"n\":1}\n{\"n\":1}\n{\"n\":2}"), "b.jsonl": []byte(`{"n":1}`)}
	m := newMemory()
	for i, want := range [][]dump.Tally{
		{{Collection: "a", Documents: 3, Inserted: 3}, {Collection: "b", Documents: 1, Inserted: 1}},
		{{Collection: "a", Documents: 3, Replaced: 3}, {Collection: "b", Documents: 1, Replaced: 1}},
	} {
		report, err := load(t, m, f, dump.LoadOptions{Drop: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(report.Collections, want) {
			t.Errorf("import %d: %+v, want %+v", i+1, report.Collections, want)
		}
	}
	for _, d := range m.docs["a"] {
		if first, _ := d.IndexErr(0); first.Key() != "_id" || first.Value().Type != bson.TypeObjectID ||
			d.Validate() != nil {
			t.Errorf("stored %v, want an ObjectID in front", d)
		}
	}
}

// Batches respect the option and the limit on bytes in memory, and Load stores everything before it
// deletes anything.
func TestLoadBatches(t *testing.T) {
	f := files{"a.bson": numbered(t, 1, 2, 3, 4, 5), "b.bson": numbered(t, 1, 2)}
	m := newMemory()
	if _, err := load(t, m, f, dump.LoadOptions{BatchDocs: 2, Drop: true}); err != nil {
		t.Fatal(err)
	}
	want := []string{"upsert a 2", "upsert a 2", "upsert b 2", "upsert a 1", "retain a", "retain b"}
	if !slices.Equal(m.calls, want) {
		t.Errorf("by number: %q, want %q", m.calls, want)
	}
	var large []byte // three of them exceed the limit on bytes in memory
	for i := range 5 {
		large = append(large,
			doc(t, bson.D{{Key: "_id", Value: i}, {Key: "text", Value: strings.Repeat("x", 3<<20)}})...)
	}
	f = files{"a.bson": large, "b.bson": large[:len(large)/5*2]}
	m = newMemory()
	if _, err := load(t, m, f, dump.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	want = []string{"upsert a 3", "upsert a 2", "upsert b 1", "upsert b 1"}
	if !slices.Equal(m.calls, want) {
		t.Errorf("by bytes: %q, want %q", m.calls, want)
	}
}

// A store that fails ends the import with its error; the report counts what is stored.
func TestLoadStoreFails(t *testing.T) {
	failure := errors.New("disk full")
	for call, stored := range map[string]int{"upsert b 1": 1, "retain a": 2} {
		m := newMemory()
		m.fail = func(c string) error {
			if c == call {
				return failure
			}
			return nil
		}
		report, err := load(t, m, files{"a.bson": numbered(t, 1), "b.bson": numbered(t, 1)},
			dump.LoadOptions{Drop: true})
		if !errors.Is(err, failure) || report.Stored() != stored {
			t.Errorf("%s: error %v, %d stored; want %v, %d", call, err, report.Stored(), failure, stored)
		}
	}
}

// A context that ends stops the import before the next batch.
func TestLoadCanceled(t *testing.T) {
	f := files{"a.bson": numbered(t, 1, 2, 3, 4, 5, 6)}
	d, err := dump.OpenFS(f.fsys(), ".", dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := newMemory()
	m.fail = func(call string) error {
		if len(m.calls) == 2 {
			cancel()
		}
		return nil
	}
	report, err := dump.Load(ctx, m, d, dump.LoadOptions{BatchDocs: 2, Drop: true})
	if !errors.Is(err, context.Canceled) || len(m.calls) != 2 || report.Stored() != 4 {
		t.Errorf("error %v, calls %v, %d stored", err, m.calls, report.Stored())
	}
}

// If a dump changes during its import, Load reports that rather than import half of it silently.
func TestLoadDumpChanges(t *testing.T) {
	for name, changed := range map[string][]byte{
		"shorter": numbered(t, 1), "longer": numbered(t, 1, 2, 3, 4), "other": numbered(t, 1, 7, 8),
	} {
		t.Run(name, func(t *testing.T) {
			fsys := files{"a.bson": numbered(t, 1), "b.bson": numbered(t, 1, 2, 3)}.fsys()
			d, err := dump.OpenFS(fsys, ".", dump.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := newMemory()
			m.fail = func(string) error { fsys["b.bson"].Data = changed; return nil }
			if _, err := dump.Load(context.Background(), m, d, dump.LoadOptions{BatchDocs: 1}); !errors.Is(err,
				dump.ErrChanged) {
				t.Errorf("error %v, want %v", err, dump.ErrChanged)
			}
		})
	}
}

// Load reports progress for every byte on disk, twice.
func TestLoadProgress(t *testing.T) {
	f := files{"a.jsonl.gz": zipped(t, bytes.Repeat([]byte("{\"n\":1}\n"), 1000)), "b.bson": numbered(t, 1)}
	d, err := dump.OpenFS(f.fsys(), ".", dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	if _, err := dump.Load(context.Background(), newMemory(), d,
		dump.LoadOptions{Progress: func(n int) { total += n }}); err != nil {
		t.Fatal(err)
	}
	if want := 2 * d.Size(); int64(total) != want || want == 0 {
		t.Errorf("progress of %d bytes, want %d", total, want)
	}
}

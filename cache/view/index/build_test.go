package index_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
	"vitrine/rules/leaktest"
	"vitrine/rules/raw"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// builder makes snapshots in an order.
func builder(t testing.TB, order raw.Sort) *index.Builder {
	t.Helper()
	b := index.NewBuilder(index.Definition{Name: "things", Order: order}, index.NewBudget(256<<20, 0))
	return b
}

// load makes a snapshot of documents.
func load(t testing.TB, docs []bson.D, order raw.Sort) *index.Table {
	t.Helper()
	rows := make([]bson.Raw, len(docs))
	for i, doc := range docs {
		rows[i] = mustRaw(doc)
	}
	return builder(t, order).Load(rows)
}

// changes returns new versions of rows, and tombstones.
func changes(docs []bson.D, gone ...any) (all []index.Change) {
	for _, doc := range docs {
		row := mustRaw(doc)
		all = append(all, index.Change{ID: row.Lookup("_id"), Doc: row})
	}
	for _, id := range gone {
		all = append(all, index.Change{ID: mustRaw(bson.D{{Key: "_id", Value: id}}).Lookup("_id")})
	}
	return all
}

func mustRaw(doc any) bson.Raw {
	row, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return row
}

// orderOf returns an order by one path.
func orderOf(t testing.TB, path string, descending bool) raw.Sort {
	t.Helper()
	p, err := raw.ParsePath(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw.Sort{{Path: p, Desc: descending}}
}

// ids lists the rows that a filter selects, in order.
func ids(t testing.TB, snap *index.Table, json string) (got []string) {
	t.Helper()
	f, err := filter.Parse([]byte(json), filter.Options{})
	if err != nil {
		t.Fatalf("parse %s: %v", json, err)
	}
	selected, err := snap.Select(context.Background(), f)
	if err != nil {
		t.Fatalf("select %s: %v", json, err)
	}
	for row := range selected.Rows(t.Context(), 0, 0) {
		got = append(got, row.Doc().Lookup("_id").StringValue())
	}
	return got
}

// TestPrepareInTurn: concurrent callers divide the blocks of bulky fragments among them, and a
// caller that leaves takes none from the others.
func TestPrepareInTurn(t *testing.T) {
	const n = 5000
	var left atomic.Bool
	leaving, leave := context.WithCancel(t.Context())
	defer leave()
	def := index.Definition{Name: "things",
		Fragments: []index.Fragment{{Name: "text", Bulky: true, Encode: func(dst []byte, row bson.Raw) []byte {
			id := row.Lookup("_id").Int32()
			if id == n/2 && !left.Swap(true) {
				leave()
			}
			return append(strconv.AppendInt(dst, int64(id), 10), ' ')
		}}}}
	rows := make([]bson.Raw, n)
	for i := range rows {
		rows[i] = mustRaw(bson.D{{Key: "_id", Value: int32(i)}})
	}
	snap := index.NewBuilder(def, index.NewBudget(256<<20, 1<<20)).Load(rows)
	q := fair.New(2, 100)
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			client := t.Context()
			if i == 0 {
				client = leaving
			}
			ctx, turn, err := q.Begin(client)
			if err != nil {
				return
			}
			defer turn.End()
			if fits, err := snap.Prepare(ctx, "text"); err != nil && (i != 0 || !errors.Is(err, context.Canceled)) ||
				err == nil && !fits {
				t.Errorf("caller %d: they fit: %v, error %v", i, fits, err)
			}
		})
	}
	callers.Wait()
	selected, err := snap.Select(t.Context(), filter.All())
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for run := range selected.Runs(t.Context(), "text") {
		got = append(got, run...)
	}
	for i, field := range bytes.Fields(got) {
		if string(field) != strconv.Itoa(i) {
			t.Fatalf("row %d has %s", i, field)
		}
	}
	if len(bytes.Fields(got)) != n {
		t.Errorf("%d rows of %d", len(bytes.Fields(got)), n)
	}
}

// TestPrepareSome encodes some fragments before the others; in the end each is encoded once for all callers.
func TestPrepareSome(t *testing.T) {
	const n = 5000
	var encoded atomic.Int64
	def := index.Definition{Name: "things",
		Fragments: []index.Fragment{{Name: "text", Bulky: true, Encode: func(dst []byte, row bson.Raw) []byte {
			encoded.Add(1)
			return strconv.AppendInt(dst, int64(row.Lookup("_id").Int32()), 10)
		}}}}
	rows := make([]bson.Raw, n)
	for i := range rows {
		rows[i] = mustRaw(bson.D{{Key: "_id", Value: int32(i)}})
	}
	table := index.NewBuilder(def, index.NewBudget(256<<20, 1<<20)).Load(rows)
	read := func() (made int64) {
		before := encoded.Load()
		for _, slot := range []index.Slot{0, n / 2, n - 1} {
			if got := string(table.Fragment(slot, "text")); got != strconv.Itoa(int(slot)) {
				t.Errorf("row %d has %s", slot, got)
			}
		}
		return encoded.Load() - before
	}
	prepare := func(some int) (made int64) {
		before := encoded.Load()
		if fits, err := table.PrepareSome(t.Context(), "text", some); !fits || err != nil {
			t.Fatalf("they fit: %v, error %v", fits, err)
		}
		return encoded.Load() - before
	}
	prepare(0)
	if made := read(); made != 3 {
		t.Errorf("%d fragments encoded to read 3", made)
	}
	all := int64(0)
	for made := int64(1); made > 0; all += made {
		if made = prepare(500); made > 500 {
			t.Errorf("%d fragments encoded at a time", made)
		}
	}
	if made := read(); made != 0 || all != n {
		t.Errorf("%d fragments of %d encoded, and %d to read them", all, n, made)
	}
}

// TestFragmentsOnDemand: few fragments are encoded for their callers, many are encoded once for all.
func TestFragmentsOnDemand(t *testing.T) {
	const n = 20_000
	var encoded atomic.Int64
	def := index.Definition{Name: "things", Fragments: []index.Fragment{{Name: "text", Parts: []index.Fragment{
		{Encode: func(dst []byte, _ bson.Raw) []byte { return append(dst, '#') }},
		{Name: "id", Encode: func(dst []byte, row bson.Raw) []byte {
			encoded.Add(1)
			return strconv.AppendInt(dst, int64(row.Lookup("_id").Int32()), 10)
		}},
	}}}}
	rows := make([]bson.Raw, n)
	for i := range rows {
		rows[i] = mustRaw(bson.D{{Key: "_id", Value: int32(i)}})
	}
	table := index.NewBuilder(def, index.NewBudget(256<<20, 1<<20)).Load(rows)
	read := func(step int) (made int64) {
		before := encoded.Load()
		for slot := 0; slot < n; slot += step {
			want := strconv.Itoa(slot)
			if id, text := string(table.Fragment(index.Slot(slot), "id")), string(
				table.Fragment(index.Slot(slot), "text")); id != want || text != "#"+want {
				t.Fatalf("row %d has %s and %s", slot, id, text)
			}
		}
		return encoded.Load() - before
	}
	if made := read(n / 20); made != 40 {
		t.Errorf("%d fragments encoded to read two of each of 20 rows", made)
	}
	if made := read(1); made > n+n/4 {
		t.Errorf("%d fragments encoded to read those of %d rows", made, n)
	}
	if made := read(1); made != 0 {
		t.Errorf("%d fragments encoded to read all again", made)
	}
}

// TestReplacedRowsAreFreed: a request that still reads a table derives values from it after the table was replaced,
// and finds them again, but then nothing keeps the replaced rows in memory.
func TestReplacedRowsAreFreed(t *testing.T) {
	old, next := mustRaw(bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: 1}}), mustRaw(
		bson.D{{Key: "_id", Value: "b"}})
	replaced := weak.Make(&old[0])
	b := builder(t, nil)
	before := b.Load([]bson.Raw{old})
	after := b.Load([]bson.Raw{next})
	before.ReplacedBy(after)
	for range 2 {
		if got := ids(t, before, `{"n":1,"_id":{"$regex":"A","$options":"i"}}`); !slices.Equal(got, []string{"a"}) {
			t.Errorf("rows %q of the replaced table", got)
		}
	}
	if paths, _ := before.Indexes(); paths > 0 {
		t.Errorf("the budget has %d indexes of the replaced table", paths)
	}
	old, before = nil, nil
	for replaced.Value() != nil { // a goroutine that has helped may have them on its stack until it ends
		runtime.GC()
	}
	runtime.KeepAlive(b)
}

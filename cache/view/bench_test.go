package view_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sys/unix"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/cache/view/mapped"
	"vitrine/rules/filter"
)

// benchRows is the number of rows in the benchmarks.
const benchRows = 100_000

// benchStore publishes activities-like rows: few types, some years, many titles. With -short it
// publishes a tenth of them, enough to check that each benchmark runs.
func benchStore() *store {
	words := []string{"neural", "language", "model", "syntax", "corpus", "transfer", "parsing", "speech", "graph",
		"Learning"}
	rng := rand.New(rand.NewPCG(1, 2))
	s := newStore()
	rows := benchRows
	if testing.Short() {
		rows /= 10
	}
	docs := make([]bson.D, rows)
	for i := range docs {
		var authors bson.A
		for range 1 + rng.IntN(6) {
			authors = append(authors, bson.D{{Key: "last", Value: words[rng.IntN(10)]},
				{Key: "user", Value: fmt.Sprint("u", rng.IntN(300))}})
		}
		docs[i] = bson.D{
			{Key: "_id", Value: fmt.Sprintf("%06d", i)},
			{Key: "type", Value: []string{"publication", "lecture", "poster"}[min(rng.IntN(8), 2)]},
			{Key: "year", Value: int32(2000 + rng.IntN(26))},
			{Key: "title",
				Value: fmt.Sprint(words[rng.IntN(10)], " ", words[rng.IntN(10)], " ", words[rng.IntN(10)], " ", i)},
			{Key: "authors", Value: authors},
		}
	}
	s.publish(docs)
	return s
}

func benchSnapshot(b *testing.B) *index.Table {
	b.Helper()
	budget := index.NewBudget(256<<20, 0)
	builder := index.NewBuilder(index.Definition{Name: "things", Order: orderOf(b, "year", true)}, budget)
	var rows []bson.Raw
	for _, row := range benchStore().rows {
		rows = append(rows, row.Doc)
	}
	return builder.Load(rows)
}

// BenchmarkSelect evaluates filters on indexes that exist.
func BenchmarkSelect(b *testing.B) {
	snap := benchSnapshot(b)
	for _, bm := range []struct{ name, json string }{
		{"equality", `{"type":"lecture"}`},
		{"range", `{"year":{"$gte":2015,"$lt":2020}}`},
		{"in", `{"authors.user":{"$in":["u1","u2","u3"]}}`},
		{"regex anchored", `{"title":{"$regex":"^neural l"}}`},
		{"regex infix folded", `{"title":{"$regex":"lang[a-z]+ mod","$options":"i"}}`},
		{"elemMatch", `{"authors":{"$elemMatch":{"user":"u7","last":"graph"}}}`},
		{"nested or",
			`{"$or":[{"type":"poster","year":2001},{"$nor":[{"year":{"$gt":2003}},{"title":{"$regex":"syntax"}}]}]}`},
	} {
		f, err := filter.Parse([]byte(bm.json), filter.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := snap.Select(context.Background(), f); err != nil { // builds the indexes
			b.Fatal(err)
		}
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sel, err := snap.Select(context.Background(), f)
				if err != nil {
					b.Fatal(err)
				}
				for range sel.Rows(context.Background(), 0, 20) {
				}
			}
		})
	}
}

// BenchmarkIndex measures the first query on a path.
func BenchmarkIndex(b *testing.B) {
	snap := benchSnapshot(b)
	for _, path := range []string{"type", "year", "title", "authors.user"} {
		f, err := filter.Parse(fmt.Appendf(nil, `{%q: "x"}`, path), filter.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				snap.ReplacedBy(nil)
				if _, err := snap.Select(context.Background(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPage takes pages of a selection: of every row, and of rows scattered over the order.
func BenchmarkPage(b *testing.B) {
	snap := benchSnapshot(b)
	some, err := filter.Parse([]byte(`{"authors.user":{"$in":["u1","u2","u3"]}}`), filter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct {
		name   string
		filter *filter.Filter
		offset func(count int) int
	}{
		{"first of all", filter.All(), func(int) int { return 0 }},
		{"middle of all", filter.All(), func(count int) int { return count / 2 }},
		{"first of some", some, func(int) int { return 0 }},
		{"middle of some", some, func(count int) int { return count / 2 }},
	} {
		sel, err := snap.Select(context.Background(), bm.filter)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rows := 0
				for range sel.Rows(context.Background(), bm.offset(sel.Count()), 20) {
					rows++
				}
				if rows != 20 {
					b.Fatal("not a whole page")
				}
			}
		})
	}
}

func BenchmarkGroup(b *testing.B) {
	snap := benchSnapshot(b)
	sel, err := snap.Select(context.Background(), filter.All())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sel.Group(context.Background(), "authors.user", "authors"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	s := benchStore()
	def := index.Definition{Name: "things", Order: orderOf(b, "year", true)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := view.Load(context.Background(), view.Options{Store: s}, def); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDelta refreshes 100 of the rows.
func BenchmarkDelta(b *testing.B) {
	s := benchStore()
	r := run(b, s, view.Options{Poll: time.Hour})
	<-r.swaps
	version := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		version++
		var docs []bson.D
		for i := range 100 {
			docs = append(docs, thing(fmt.Sprintf("%06d", i*97), 2000+version%30, "changed"))
		}
		s.publish(docs)
		b.StartTimer()
		r.next()
	}
}

// processor returns the processor time that the process and the system on its behalf have used.
func processor() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkStart starts a set with a file of rows as long as an institute's, until it shows them. cpu-ms/op is the
// processor time until then, warm-ms/op that of what the set builds afterwards, beside requests.
func BenchmarkStart(b *testing.B) {
	long := strings.Repeat("An abstract of a few sentences. ", 100)
	s := benchStore()
	for i := range s.rows {
		s.rows[i].Doc = mustRaw(bson.D{
			{Key: "_id", Value: s.rows[i].ID}, {Key: "year", Value: s.rows[i].Doc.Lookup("year")},
			{Key: "title", Value: s.rows[i].Doc.Lookup("title")}, {Key: "record", Value: s.rows[i].Doc},
			{Key: "abstract", Value: long},
		})
	}
	dir, shown, warm := b.TempDir(), make(chan struct{}, 1), make(chan struct{}, 1)
	o := stripping(b, filepath.Join(dir, "files"), "secret")
	o.Store, o.RowFiles = s, mapped.In(dir)
	o.OnSwap, o.OnLoaded = func(*view.Snapshot) { shown <- struct{}{} }, func() { warm <- struct{}{} }
	o.Views = []index.Definition{{
		Name: "things", Order: orderOf(b, "year", true),
		Fragments: []index.Fragment{{Name: "fragment", Encode: appendTitle}},
		Warm:      []string{"fragment", "year", "record.type", "record.authors.user"}, Searched: []string{"title"},
		Words: func(row bson.Raw, add func(string, bool)) { add(row.Lookup("title").StringValue(), true) },
	}}
	start := func() (cpu, warmed time.Duration) {
		before := processor()
		set, err := view.New(o)
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- set.Run(ctx) }()
		<-shown
		b.StopTimer()
		at := processor()
		<-warm
		warmed = processor() - at
		stop()
		<-ended
		runtime.GC()
		b.StartTimer()
		return at - before, warmed
	}
	start() // writes the file
	loads, _ := s.calls()
	var cpu, warmed time.Duration
	b.ReportAllocs()
	for b.Loop() {
		c, w := start()
		cpu, warmed = cpu+c, warmed+w
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(warmed.Milliseconds())/float64(b.N), "warm-ms/op")
	if again, _ := s.calls(); again != loads {
		b.Error("the file was not used")
	}
}

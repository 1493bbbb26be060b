package bench

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// wordRows is how many activities the benchmarks of words and facets use; with -short they use a
// tenth of them.
const wordRows = 100_000

// markedActivities are variations of the institute's activities, with marks as the
// materializer writes them.
var markedActivities = sync.OnceValues(func() ([]bson.Raw, error) {
	own, err := instituteActivities()
	if err != nil {
		return nil, err
	}
	count := wordRows
	if testing.Short() {
		count /= 10
	}
	rows := make([]bson.Raw, count)
	var makers errgroup.Group
	const batch = 1000
	for from := 0; from < count; from += batch {
		makers.Go(func() error {
			for i := from; i < from+batch; i++ {
				record, err := variation(own, i)
				if err != nil {
					return err
				}
				mark, err := bson.Marshal(bson.D{{Key: mark.Field, Value: marked(record)}})
				if err != nil {
					return err
				}
				rows[i] = joined(record, mark)
			}
			return nil
		})
	}
	return rows, makers.Wait()
})

// joined appends the fields of one document to another.
func joined(a, b bson.Raw) bson.Raw {
	both := slices.Concat(a[:len(a)-1], b[4:])
	binary.LittleEndian.PutUint32(both, uint32(len(both)))
	return both
}

// instituteActivities reads the activities beside the repository.
func instituteActivities() (all []bson.Raw, err error) {
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "institute",
		"activities.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		record, err := ejson.Parse(lines.Bytes(), ejson.Options{})
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	return all, lines.Err()
}

// marked makes a mark of a record.
func marked(record bson.Raw) bson.D {
	doc := bson.D{{Key: "public", Value: true}}
	if year, ok := record.Lookup("year").AsInt64OK(); ok {
		doc = append(doc, bson.E{Key: "year", Value: int32(year)})
	}
	for _, name := range []string{"type", "subtype"} {
		if text, ok := record.Lookup(name).StringValueOK(); ok {
			doc = append(doc, bson.E{Key: name, Value: text})
		}
	}
	var persons, units, in bson.A
	seen := map[string]bool{}
	for author := range raw.Elements(record.Lookup("authors")) {
		if user, ok := raw.Field(author, []string{"user"}).StringValueOK(); ok {
			persons = append(persons, bson.D{{Key: "id", Value: user}, {Key: "name", Value: user}})
		}
		for unit := range raw.Elements(raw.Field(author, []string{"units"})) {
			if name, ok := unit.StringValueOK(); ok && !seen[name] {
				seen[name] = true
				units, in = append(units, bson.D{{Key: "id", Value: name}, {Key: "name", Value: name}}), append(in,
					name, "IN"+name[:1])
			}
		}
	}
	topics := bson.A{}
	for topic := range raw.Elements(record.Lookup("topics")) {
		topics = append(topics, bson.D{{Key: "id", Value: topic}})
	}
	return append(doc, bson.E{Key: "units", Value: units}, bson.E{Key: "in", Value: in},
		bson.E{Key: "persons", Value: persons},
		bson.E{Key: "topics", Value: topics})
}

// BenchmarkLists measures searches and facets as lists request them, on 100,000 activities, and the
// size of their indexes.
func BenchmarkLists(b *testing.B) {
	rows, err := markedActivities()
	if err != nil {
		b.Skip(err)
	}
	ctx := context.Background()
	order, err := raw.ParsePath("year")
	if err != nil {
		b.Fatal(err)
	}
	texts, err := cite.Load(configs.CiteRules())
	if err != nil {
		b.Fatal(err)
	}
	facets := []string{mark.Year, mark.Type, mark.Unit, mark.Person, mark.Topic}
	def := index.Definition{Name: "activities", Order: raw.Sort{{Path: order, Desc: true}}, Words: texts.Words,
		Warm: append(facets, mark.Public, mark.Subtype, mark.In)}
	load := func(def index.Definition) *index.Table {
		builder := index.NewBuilder(def, index.NewBudget(1<<30, 0))
		snap := builder.Load(rows)
		builder.WarmFirst(ctx, snap)
		return snap
	}
	snap := load(def)
	per := func(n int64) float64 { return float64(n) / float64(len(rows)) }
	bytesOf := func(def index.Definition) float64 {
		_, held := load(def).Indexes()
		return per(held)
	}
	only := def
	only.Warm = nil
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
		}
		_, all := snap.Indexes()
		b.ReportMetric(per(snap.RowBytes()), "B/row")
		b.ReportMetric(bytesOf(only), "words-B/row")
		b.ReportMetric(per(all), "indexes-B/row")
		b.ReportMetric(per(all)/per(snap.RowBytes()), "of-rows")
	})
	b.Run("build words", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			load(only)
		}
	})
	every, err := filter.Parse([]byte(`{"_list.public": true}`), filter.Options{})
	if err != nil {
		b.Fatal(err)
	}
	search := func(b *testing.B, q string) *index.Subset {
		all, err := snap.Select(ctx, every)
		if err != nil {
			b.Fatal(err)
		}
		found, err := all.Search(ctx, fold.Terms(q))
		if err != nil {
			b.Fatal(err)
		}
		return found
	}
	for _, q := range []string{"language models ", "neural machine transl", "of the ", "s", "a", "mull", "2021",
		"nowhere"} {
		b.Run("search "+strings.TrimSpace(q), func(b *testing.B) {
			rows := 0
			medianTime(b, func() {
				sel := search(b, q)
				for range sel.ByRelevance().Rows(ctx, 0, 20) {
				}
				rows = sel.Count()
			})
			b.ReportMetric(float64(rows), "rows")
		})
	}
	for _, q := range []string{"", "language models ", "s"} {
		sel := search(b, q)
		b.Run("facets of "+strings.TrimSpace(q), func(b *testing.B) {
			values := 0
			medianTime(b, func() {
				values = 0
				for _, path := range facets {
					found, err := sel.Facet(ctx, path)
					if err != nil {
						b.Fatal(err)
					}
					values += len(found)
				}
			})
			b.ReportMetric(float64(values), "values")
			b.ReportMetric(float64(sel.Count()), "rows")
		})
	}
}

// medianTime reports the median time of an operation besides the mean, which other processes on the
// machine disturb more.
func medianTime(b *testing.B, measured func()) {
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		measured()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}

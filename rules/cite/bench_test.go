package cite_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// BenchmarkBibTeX reads rows and writes them as BibTeX; bytes per second count the rows.
func BenchmarkBibTeX(b *testing.B) {
	for _, latex := range []bool{false, true} {
		name := "utf8"
		if latex {
			name = "latex"
		}
		b.Run(name, func(b *testing.B) {
			benchmark(b, func(dst []byte, it *cite.Item) []byte { return cite.AppendBibTeX(dst, it, latex) })
		})
	}
}

// BenchmarkRead reads rows.
func BenchmarkRead(b *testing.B) {
	benchmark(b, func(dst []byte, it *cite.Item) []byte { return append(dst, it.Key...) })
}

// BenchmarkMark makes marks with the items of records.
func BenchmarkMark(b *testing.B) {
	d, records := directory(b), benchRecords(b)
	var size, item int
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		made, _, err := d.Make(rules.ViewActivities, records[i%len(records)])
		if err != nil {
			b.Fatal(err)
		}
		size += len(made)
		item += len(mark.ItemOf(made))
	}
	b.ReportMetric(float64(size)/float64(b.N), "B-mark/op")
	b.ReportMetric(float64(item)/float64(b.N), "B-item/op")
}

func benchRecords(b *testing.B) []bson.Raw {
	records := instituteRows(b, "activities")
	if records == nil {
		records = demoRows(b, "activities")
	}
	return records
}

// directory returns the directory of marks with items, for the benchmarks' records.
func directory(b *testing.B) *mark.Directory {
	mapping := builtIn(b)
	o := mark.Options{Public: filter.All(), Cited: func(view string, record, about bson.Raw) mark.Citation {
		return mapping.Cited(record, about)
	}}
	return mark.NewDirectory(o, instituteRows(b, "persons"), instituteRows(b, "groups"), instituteRows(b, "projects"))
}

// BenchmarkWriters reads rows and writes them in the other formats.
func BenchmarkWriters(b *testing.B) {
	b.Run("ris", func(b *testing.B) { benchmark(b, cite.AppendRIS) })
	b.Run("csl", func(b *testing.B) { benchmark(b, cite.AppendCSL) })
	b.Run("coins", func(b *testing.B) { benchmark(b, cite.AppendCOinS) })
	b.Run("jsonld", func(b *testing.B) {
		const base = "https://data.institute.example"
		benchmark(b, func(dst []byte, it *cite.Item) []byte { return appendJSONLD(dst, it, base) })
	})
}

func benchmark(b *testing.B, write func(dst []byte, it *cite.Item) []byte) {
	mapping, d := builtIn(b), directory(b)
	var rows []bson.Raw
	for _, record := range benchRecords(b) {
		made, _, err := d.Make(rules.ViewActivities, record)
		if err != nil {
			b.Fatal(err)
		}
		row, err := mark.Set(record, made)
		if err != nil {
			b.Fatal(err)
		}
		rows = append(rows, row)
	}
	var bytes, written int
	for _, row := range rows {
		bytes += len(row)
	}
	var it cite.Item
	var dst []byte
	b.SetBytes(int64(bytes / len(rows)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		mapping.Read(rows[i%len(rows)], &it)
		dst = write(dst[:0], &it)
		written += len(dst)
	}
	b.ReportMetric(float64(written)/float64(b.N), "B-written/op")
}

package cite_test

import (
	"testing"

	"vitrine/rules/cite"
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
	rules := builtIn(b)
	rows := instituteRows(b, "activities")
	if rows == nil {
		rows = demoRows(b, "activities")
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
		rules.Read(rows[i%len(rows)], &it)
		dst = write(dst[:0], &it)
		written += len(dst)
	}
	b.ReportMetric(float64(written)/float64(b.N), "B-written/op")
}

package proxy_test

import (
	"fmt"
	"testing"
)

// BenchmarkRecords answers from memory what depends on who is asked for, on the
// day or on a title.
func BenchmarkRecords(b *testing.B) {
	s := open(b, department(b), departmentOptions(b))
	titles := open(b, many(b, 10_000), departmentOptions(b))
	benchmarks := []struct {
		name   string
		site   *site
		target func(i int) string
	}{
		{"user", s, func(int) string { return "/api/users/ada" }},
		{"user by _id", s, func(int) string { return "/api/users/66c000000000000000000011" }},
		{"user columns", s, func(int) string { return "/api/users/ada?columns[]=last&columns[]=units.unit" }},
		{"user-units", s, func(int) string { return "/api/user-units/ada" }},
		{"events", s, func(int) string { return "/api/events" }},
		{"spectrum", s, func(int) string { return "/portfolio/spectrum" }},
		{"title asked before", titles, func(int) string { return "/api/levenshtein?title=Activty" }},
		{"title never seen", titles, func(i int) string { return fmt.Sprintf("/api/levenshtein?title=Activty+%d", i) }},
	}
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			var ctx connection
			handler := bm.site.App().Handler()
			call(b, handler, &ctx, bm.target(-1))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.SetBytes(call(b, handler, &ctx, bm.target(i)))
			}
		})
	}
}

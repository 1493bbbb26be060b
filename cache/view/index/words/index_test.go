package words_test

import (
	"slices"
	"testing"

	"vitrine/cache/view/index/words"
)

// TestMark: a word of every row marks all rows of the segment and no others, for any number of rows
// and any position of the segment.
func TestMark(t *testing.T) {
	for n := uint32(60); n <= 200; n++ {
		x := words.Build(int(n), 1, func(_ int, add func(text string, title bool)) { add("word", true) })
		from, to := x.Find("word", false)
		if to != from+1 {
			t.Fatalf("%d words", to-from)
		}
		for _, base := range []uint32{0, 1, 63, 64, 100} {
			all, titles := make([]uint64, (base+n+63)/64), make([]uint64, (base+n+63)/64)
			x.Mark(from, base, all, titles)
			for i := range uint32(len(all)) * 64 {
				if marked, want := all[i/64]>>(i%64)&1 == 1, i >= base && i < base+n; marked != want {
					t.Fatalf("%d rows from %d on: row %d is marked: %t", n, base, i, marked)
				}
			}
			if !slices.Equal(all, titles) {
				t.Fatalf("%d rows from %d on: titles differ", n, base)
			}
		}
	}
}

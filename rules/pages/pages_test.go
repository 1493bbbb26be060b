package pages_test

import (
	"testing"

	"vitrine/rules/pages"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct{ stored, read, first, last, dashed string }{
		{"45-67", "45-67", "45", "67", "45–67"},
		{"45\u201067", "45-67", "45", "67", "45–67"}, {"45\u201167", "45-67", "45", "67", "45–67"},
		{"45\u201267", "45-67", "45", "67", "45–67"},
		{"45\u201367", "45-67", "45", "67", "45–67"}, {"45\u201467", "45-67", "45", "67", "45–67"},
		{"45\u201567", "45-67", "45", "67", "45–67"},
		{"45\u221267", "45-67", "45", "67", "45–67"}, {"45\ufe5867", "45-67", "45", "67", "45–67"},
		{"45\ufe6367", "45-67", "45", "67", "45–67"},
		{"45\uff0d67", "45-67", "45", "67", "45–67"}, {"45--67", "45-67", "45", "67", "45–67"},
		{"45---67", "45-67", "45", "67", "45–67"},
		{" 45 - 67 ", "45-67", "45", "67", "45–67"}, {"45 – 67", "45-67", "45", "67", "45–67"},
		{"45 -67", "45-67", "45", "67", "45–67"},
		{"17", "17", "17", "", "17"}, {"", "", "", "", ""}, {"e1234", "e1234", "e1234", "", "e1234"},
		{"Art. 5", "Art. 5", "Art. 5", "", "Art. 5"},
		{"Article 5-7", "Article 5-7", "Article 5-7", "", "Article 5-7"},
		{"art. no. e12", "art. no. e12", "art. no. e12", "", "art. no. e12"},
		{"S1-S9", "S1-S9", "S1", "S9", "S1–S9"}, {"S1–9", "S1-9", "S1", "9", "S1–9"},
		{"e12-e15", "e12-e15", "e12", "e15", "e12–e15"},
		{"e12-3", "e12-3", "e12", "3", "e12–3"}, {"1203-12", "1203-12", "1203", "12", "1203–12"},
		{"xi-xv", "xi-xv", "xi", "xv", "xi–xv"}, {"XI–12", "XI-12", "XI", "12", "XI–12"},
		{"12-1–12-9", "12-1–12-9", "12-1", "12-9", "12-1–12-9"},
		{"12-1-12-9", "12-1–12-9", "12-1", "12-9", "12-1–12-9"},
		{"12-1--12-9", "12-1–12-9", "12-1", "12-9", "12-1–12-9"},
		{"12-1 - 12-9", "12-1–12-9", "12-1", "12-9", "12-1–12-9"},
		{"12–1–12–9", "12–1–12–9", "12–1", "12–9", "12–1–12–9"}, {"12-1", "12-1", "12-1", "", "12-1"},
		{"12–1", "12–1", "12", "1", "12–1"},
		{"S-1-S9", "S-1-S9", "S-1-S9", "", "S-1-S9"}, {"2021-08-01", "2021-08-01", "2021-08-01", "", "2021-08-01"},
		{"1-5, 9–12", "1-5, 9-12", "1-5, 9-12", "", "1–5, 9–12"}, {"1–5;9", "1-5;9", "1-5;9", "", "1–5;9"},
		{"1,234–1,240", "1,234–1,240", "1,234–1,240", "", "1,234–1,240"},
		{"pp. 45–67", "45-67", "45", "67", "45–67"}, {"p. 45", "45", "45", "", "45"},
		{"S. 45-67", "45-67", "45", "67", "45–67"}, {"Seiten 45-67", "45-67", "45", "67", "45–67"},
		{"pages xi-xv", "xi-xv", "xi", "xv", "xi–xv"}, {"S 45", "S 45", "S 45", "", "S 45"},
		{"345 pp.", "345 pp.", "345 pp.", "", "345 pp."},
		{"Page to prove", "Page to prove", "Page to prove", "", "Page to prove"},
		{"n/a-n/a", "", "", "", ""}, {"no-no", "", "", "", ""}, {"N/A", "", "", "", ""}, {"-", "", "", "", ""},
		{"–", "", "", "", ""}, {"null", "", "", "", ""}, {"0-0", "", "", "", ""}, {"??–??", "", "", "", ""},
		{"45-", "45-", "45-", "", "45-"}, {"-67", "-67", "-67", "", "-67"}, {"45ff.", "45ff.", "45ff.", "", "45ff."},
		{"in-press", "in-press", "in-press", "", "in-press"}, {"COVID-19", "COVID-19", "COVID-19", "", "COVID-19"},
	} {
		read := pages.Read(tt.stored)
		first, last := pages.Range(read)
		got := [4]string{read, first, last, pages.Dashed(read)}
		if want := [4]string{tt.read, tt.first, tt.last, tt.dashed}; got != want {
			t.Errorf("%q is %q, want %q", tt.stored, got, want)
		}
	}
}

// FuzzRead: a range has the same ends with any dash, and parts make up the text.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"45-67", "12-1–12-9", "1-5, 9–12", "pp. xi--xv", "n/a-n/a", "1,234–1,240;",
		"p. p. 1",
		"\xff-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		read := pages.Read(stored)
		first, last := pages.Range(read)
		if again, end := pages.Range(pages.Dashed(read)); last != "" && (again != first || end != last) {
			t.Errorf("%q is from %q to %q, and with a dash from %q to %q", stored, first, last, again, end)
		}
		length := 0
		for ends, separator := range pages.Parts(read) {
			length += len(ends[0]) + len(ends[1]) + len(separator)
		}
		if length > len(read) {
			t.Errorf("%q has more than %q", stored, read)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, stored := range []string{"1045-1067", "1045–1067", "e1234"} {
		b.Run(stored, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pages.Read(stored)
			}
		})
	}
}

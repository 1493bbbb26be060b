package similar

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// matches compares two titles as a corpus does.
func matches(a, b []rune) int {
	a, b = cut(a), cut(b)
	q := newQuery(a)
	return q.newPair(len(b)).matches(q, b)
}

func TestMatches(t *testing.T) {
	tests := []struct {
		name string
		a, b string
		want int
	}{
		{"both empty", "", "", 0},
		{"one empty", "title", "", 0},
		{"equal", "title", "title", 5},
		{"nothing in common", "abc", "xyz", 0},
		{"a letter missing", "world", "word", 4},
		{"left and right of the longest", "xabcdey", "xzabcdezy", 7},
		{"crossed parts count once", "abcd", "badc", 2},
		{"first in a, then in b", "php is great", "with mysql", 3},
		{"order of arguments matters", "with mysql", "php is great", 2},
		{"characters, not bytes", "größe", "grösse", 4},
		{"other scripts", "北京大学", "北大学", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := matches([]rune(tt.a), []rune(tt.b)); got != tt.want {
				t.Errorf("matches(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
			}
		})
	}
}

// similarText is PHP's algorithm in its own scan order; all other implementations must return its
// results.
func similarText(a, b []rune) int {
	var i, j, n int
	for x := range a {
		for y := range b {
			l := 0
			for x+l < len(a) && y+l < len(b) && a[x+l] == b[y+l] {
				l++
			}
			if l > n {
				i, j, n = x, y, l
			}
		}
	}
	if n == 0 {
		return 0
	}
	return n + similarText(a[:i], b[:j]) + similarText(a[i+n:], b[j+n:])
}

func TestMatchesIsSimilarText(t *testing.T) {
	title := rapid.SliceOfN(rapid.RuneFrom([]rune("abcé ")), 0, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b := title.Draw(t, "a"), title.Draw(t, "b")
		if got, want := matches(a, b), similarText(a, b); got != want {
			t.Errorf("matches(%q, %q) = %d, want %d", string(a), string(b), got, want)
		}
	})
}

func TestMatchesCutsTitles(t *testing.T) {
	long := []rune(strings.Repeat("a", maxLength) + "b")
	if got := matches(long, long); got != maxLength {
		t.Errorf("matches of equal long titles = %d, want %d", got, maxLength)
	}
	if got := percentOf(maxLength, len(long), len(long)); got != 100 {
		t.Errorf("percentOf equal long titles = %v, want 100", got)
	}
	if got := matches(long[maxLength:], long); got != 0 {
		t.Errorf("matches beyond the cut = %d, want 0", got)
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		name    string
		percent float64
		want    float64
	}{
		{"nothing", percentOf(0, 0, 0), 0},
		{"all", percentOf(5, 5, 5), 100},
		{"half of all is kept", percentOf(5, 10, 10), 50},
		{"below half", percentOf(499, 999, 1000), 0},
		{"below half before rounding", 49.96, 0},
		{"down", 57.14, 57.1},
		{"halves go up", 62.25, 62.3},
		{"up to all", 99.96, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Report(tt.percent); got != tt.want {
				t.Errorf("Report(%v) = %v, want %v", tt.percent, got, tt.want)
			}
		})
	}
}

// For any two titles the rounded result equals the rounded exact fraction.
func TestReportIsExact(t *testing.T) {
	for both := 1; both <= 2*maxLength; both++ {
		for m := 0; 2*m <= both; m++ {
			want := 0.0
			if 4*m >= both {
				want = float64((4000*m+both)/(2*both)) / 10
			}
			if got := Report(percentOf(m, both/2, both-both/2)); math.Abs(got-want) > 1e-9 {
				t.Fatalf("Report(percentOf(%d of %d)) = %v, want %v", m, both, got, want)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	tests := []struct {
		name, title, want string
	}{
		{"empty", "", ""},
		{"lower case", "On ÄPFEL and ΣΙΓΜΑ", "on äpfel and σιγμα"},
		{"tags", "Growth of <i>E. coli</i> in H<SUB>2</SUB>O<br/>", "growth of e. coli in h2o"},
		{"attributes", `a <a href="x>y" title='>'>link</a>`, "a link"},
		{"comment", "a<!-- b -->c", "ac"},
		{"script is a tag like others", "<script>alert(1)</script>x", "alert(1)x"},
		{"tags inside raw text", "<textarea><b>x</b></textarea>", "x"},
		{"comparison signs stay", "p < 0.05 > q", "p < 0.05 > q"},
		{"references stay", "R&amp;D &lt;i&gt;", "r&amp;d &lt;i&gt;"},
		{"space stays", "  two  spaces ", "  two  spaces "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Normalize(tt.title); got != tt.want {
				t.Errorf("Normalize(%q) = %q, want %q", tt.title, got, tt.want)
			}
		})
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"<i>A</i>", "a<b", "<!--", "<![CDATA[x]]>", "<plaintext><b>", "\xff<\x00>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalize(s)
		if !strings.Contains(s, "<") && got != strings.ToLower(s) {
			t.Errorf("Normalize(%q) = %q changes a title without tags", s, got)
		}
		c := NewCorpus(slices.Values([]string{s}))
		if c.Len() != 1 {
			t.Errorf("corpus of one title has %d", c.Len())
		}
	})
}

func BenchmarkMatches(b *testing.B) {
	x := []rune("a bidirectional transformer based alignment model for unsupervised word alignment")
	y := []rune("a transformer-based alignment model for the unsupervised alignment of words")
	b.ReportAllocs()
	for b.Loop() {
		matches(x, y)
	}
}

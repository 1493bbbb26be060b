package similar

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"vitrine/rules/leaktest"
	"vitrine/rules/parallel"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// answer is a result of Closest, for comparison.
type answer struct {
	index, matches int
	percent        float64
}

func closest(t testing.TB, c *Corpus, title string) answer {
	t.Helper()
	index, matches, percent, err := c.Closest(title, inParallel)
	if err != nil {
		t.Fatalf("Closest(%q): %v", title, err)
	}
	return answer{index, matches, percent}
}

// inParallel is an Each on several goroutines.
func inParallel(n int, work func(i int) error) error {
	var next atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	parallel.Split(workers, workers, func(w, _, _ int) {
		for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
			errs[w] = work(i)
		}
	})
	return cmp.Or(errs...)
}

// plainClosest is Closest as a simple loop over all titles with the textbook algorithm.
func plainClosest(titles []string, title string) answer {
	a := []rune(NormalizeQuery(title))
	best := answer{index: -1}
	for i, stored := range titles {
		b := []rune(Normalize(stored))
		if n := similarText(cut(a), cut(b)); n > best.matches {
			best = answer{i, n, percentOf(n, len(a), len(b))}
		}
	}
	return best
}

func TestClosest(t *testing.T) {
	titles := []string{
		"",
		"Deep Learning for <i>Cats</i>",
		"deep learning for cats",
		"On the Care of Cats and Other Animals that Live in a House",
		"数据库研究",
	}
	tests := []struct {
		name, title string
		want        answer
	}{
		{"equal, the first of two", "Deep learning for cats", answer{1, 22, 100}},
		{"tags in the query count", "<b>deep</b> learning for cats", answer{1, 22, 100 * 44.0 / 51}},
		{"most characters, not most percent", "cats", answer{1, 4, percentOf(4, 4, 22)}},
		{"a long title takes more", "care cats", answer{3, 9, percentOf(9, 9, 58)}},
		{"characters of another script", "研究数据", answer{4, 2, percentOf(2, 4, 5)}},
		{"nothing in common", "ЖЖЖ", answer{-1, 0, 0}},
		{"nothing asked", "", answer{-1, 0, 0}},
		{"a query of only tags", "<i></i>", answer{3, 2, 400.0 / 65}},
	}
	c := NewCorpus(slices.Values(titles))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := closest(t, c, tt.title); got != tt.want {
				t.Errorf("Closest(%q) = %+v, want %+v", tt.title, got, tt.want)
			}
			if plain := plainClosest(titles, tt.title); plain != tt.want {
				t.Errorf("plain loop = %+v, want %+v", plain, tt.want)
			}
		})
	}
}

func TestClosestOfNoTitles(t *testing.T) {
	c := NewCorpus(slices.Values([]string(nil)))
	if got, want := closest(t, c, "any"), (answer{index: -1}); got != want {
		t.Errorf("Closest = %+v, want %+v", got, want)
	}
}

func TestClosestCutsTitles(t *testing.T) {
	long := strings.Repeat("a", maxLength)
	c := NewCorpus(slices.Values([]string{long + "b"}))
	if got, want := closest(t, c, long+"c"), (answer{0, maxLength, 100}); got != want {
		t.Errorf("Closest = %+v, want %+v", got, want)
	}
}

// TestClosestEndsWithItsCaller: Closest ends with the error of its caller, in both of its passes.
func TestClosestEndsWithItsCaller(t *testing.T) {
	gone := errors.New("gone")
	c := NewCorpus(slices.Values([]string{"a", "b"}))
	for last := range 2 {
		passes := 0
		_, _, _, err := c.Closest("a", func(n int, work func(int) error) error {
			if passes++; passes > last {
				return gone
			}
			return inParallel(n, work)
		})
		if !errors.Is(err, gone) {
			t.Errorf("after %d passes: %v, want %v", last, err, gone)
		}
	}
}

// A corpus returns the same as the simple loop, for all alphabets (also with more characters than
// symbols), lengths (masks of one, two and more words) and ties.
func TestClosestIsThePlainLoop(t *testing.T) {
	alphabets := map[string]*rapid.Generator[rune]{
		"few characters":  rapid.RuneFrom([]rune("ab ")),
		"letters":         rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyz  <>")),
		"many characters": rapid.Int32Range('一', '一'+400),
		"a long tail":     rapid.OneOf(rapid.RuneFrom([]rune("abc ")), rapid.Int32Range('一', '一'+400)),
	}
	for name, alphabet := range alphabets {
		t.Run(name, func(t *testing.T) {
			title := rapid.Custom(func(t *rapid.T) string {
				length := rapid.SampledFrom([]int{3, 20, 64, 70, 130, 200}).Draw(t, "length")
				return string(rapid.SliceOfN(alphabet, 0, length).Draw(t, "title"))
			})
			rapid.Check(t, func(t *rapid.T) {
				titles := rapid.SliceOfN(title, 0, 12).Draw(t, "titles")
				asked := title.Draw(t, "asked")
				c := NewCorpus(slices.Values(titles))
				index, matches, percent, err := c.Closest(asked, inParallel)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := (answer{index, matches, percent}), plainClosest(titles, asked); got != want {
					t.Errorf("Closest(%q) of %q = %+v, want %+v", asked, titles, got, want)
				}
			})
		})
	}
}

// Large enough for several blocks and workers, with more characters than symbols.
func TestClosestOfManyTitles(t *testing.T) {
	titles := madeUpTitles(3 * 256)
	for i := 0; i < len(titles); i += 2 {
		titles[i] += " " + string(rune('一'+i%300))
	}
	kinds := questions(titles, 2)
	kinds["rare characters"] = []string{titles[1] + " 丑 一"}
	kinds["long"] = []string{strings.Repeat(titles[2], 4), strings.Repeat("e", 200)}
	c := NewCorpus(slices.Values(titles))
	for kind, asked := range kinds {
		t.Run(kind, func(t *testing.T) {
			for _, title := range asked {
				if got, want := closest(t, c, title), plainClosest(titles, title); got != want {
					t.Errorf("Closest(%q) = %+v, want %+v", title, got, want)
				}
			}
		})
	}
}

// madeUpTitles returns the same varied titles each time, about 80 characters long, made of frequent
// and rare pseudo-words.
func madeUpTitles(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields(
		"al an ana ber ca con cor da de dis e en er fo ge gra i in ing ki la le lin lo ma me mo na ne no o or pa " +
			"pe ra re ri ro sa se si so ta te ter ti tion to tra u ver vi")
	words := make([]string, 4000)
	for i := range words {
		for range 1 + rng.IntN(4) {
			words[i] += syllables[rng.IntN(len(syllables))]
		}
	}
	zipf := rand.NewZipf(rng, 1.1, 4, uint64(len(words)-1))
	titles := make([]string, n)
	for i := range titles {
		title := make([]string, 5+rng.IntN(13))
		for k := range title {
			title[k] = words[zipf.Uint64()]
		}
		titles[i] = strings.Join(title, " ")
	}
	return titles
}

// questions returns n titles of each kind that clients search for.
func questions(titles []string, n int) map[string][]string {
	rng := rand.New(rand.NewPCG(3, 4))
	fresh := madeUpTitles(len(titles) + n)[len(titles):]
	kinds := map[string][]string{"unrelated": fresh}
	for range n {
		title := titles[rng.IntN(len(titles))]
		kinds["stored"] = append(kinds["stored"], title)
		kinds["misspelt"] = append(kinds["misspelt"], misspell(rng, title))
		words := strings.Fields(title)
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		kinds["shuffled"] = append(kinds["shuffled"], strings.Join(words, " "))
		kinds["half"] = append(kinds["half"], title[:len(title)/2])
	}
	return kinds
}

// misspell changes one character in eight.
func misspell(rng *rand.Rand, title string) string {
	b := []byte(title)
	for i := range b {
		if rng.IntN(8) == 0 {
			b[i] = byte('a' + rng.IntN(26))
		}
	}
	return string(b)
}

func BenchmarkClosest(b *testing.B) {
	titles := madeUpTitles(100_000)
	c := NewCorpus(slices.Values(titles))
	for name, asked := range questions(titles, 64) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				closest(b, c, asked[i%len(asked)])
			}
		})
	}
}

func BenchmarkNewCorpus(b *testing.B) {
	titles := madeUpTitles(100_000)
	b.ReportAllocs()
	for b.Loop() {
		NewCorpus(slices.Values(titles))
	}
}

// TestClosestTellsCharactersApart: characters whose low bytes are equal share a symbol, but do not
// match each other.
func TestClosestTellsCharactersApart(t *testing.T) {
	tests := []struct {
		name, title string
		stored      []string
		want        answer
	}{
		{"letters beyond Latin-1", "aaaa", []string{"šššš"}, answer{index: -1}},
		{"the other way round", "šššš", []string{"aaaa"}, answer{index: -1}},
		{"the first has more symbols, the second more characters", "aab", []string{"ššb", "ab"},
			answer{1, 2, percentOf(2, 3, 2)}},
		{"both in one title", "aš", []string{"ša", "aš"}, answer{1, 2, 100}},
		{"a stored title of both scripts", "abc", []string{"ab–c", "жbж"}, answer{0, 3, percentOf(3, 3, 4)}},
		{"Cyrillic", "Основы химии", []string{"Физика", "Химия: основы"}, answer{1, 6, percentOf(6, 12, 13)}},
		{"beyond the basic plane", "𝛼𝛽", []string{"αβ", "𝛽𝛼"}, answer{1, 1, 50}},
		{"invalid UTF-8 is one character", "\xff", []string{"\ufffd"}, answer{0, 1, 100}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := closest(t, NewCorpus(slices.Values(tt.stored)), tt.title); got != tt.want {
				t.Errorf("Closest(%q) = %+v, want %+v", tt.title, got, tt.want)
			}
			if plain := plainClosest(tt.stored, tt.title); plain != tt.want {
				t.Errorf("plain loop = %+v, want %+v", plain, tt.want)
			}
		})
	}
}

// TestClosestOfLongQueries: a histogram whose bins are full gives no bound, and masks of several
// words carry from one word to the next.
func TestClosestOfLongQueries(t *testing.T) {
	stored := []string{
		strings.Repeat("ab", 40), strings.Repeat("a", 300), strings.Repeat("abc ", 60), strings.Repeat("e", 127),
		strings.Repeat("e", 128),
	}
	c := NewCorpus(slices.Values(stored))
	for _, tt := range []struct{ name, title string }{
		{"one letter, as often as a bin counts", strings.Repeat("e", 127)},
		{"one letter, more often", strings.Repeat("e", 200)},
		{"63 characters", strings.Repeat("a", 63)},
		{"64 characters", strings.Repeat("a", 64)},
		{"65 characters", strings.Repeat("ab", 32) + "c"},
		{"128 characters", strings.Repeat("ab", 64)},
		{"129 characters", strings.Repeat("ab", 64) + " "},
		{"words and blanks", strings.Repeat("c ab", 70)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := closest(t, c, tt.title), plainClosest(stored, tt.title); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestSubsequenceBoundsMatches: the bounds of a title are never below its number of matches.
func TestSubsequenceBoundsMatches(t *testing.T) {
	title := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.OneOf(rapid.RuneFrom([]rune("abš ")), rapid.Rune()), 0, 150).Draw(t,
			"title"))
	})
	rapid.Check(t, func(t *rapid.T) {
		stored, asked := title.Draw(t, "stored"), title.Draw(t, "asked")
		c, q := NewCorpus(slices.Values([]string{stored})), newQuery(cut([]rune(NormalizeQuery(asked))))
		n := q.newPair(c.longest).matches(q, c.characters(0, nil))
		common := q.subsequence(c.title(0), 0, make([]uint64, q.words))
		rough := q.roughBound(len(c.title(0)), &c.grams[0])
		if n > common || common > rough {
			t.Errorf("%q and %q: %d match, %d in a common subsequence, %d by the histograms", asked, stored, n,
				common, rough)
		}
	})
}

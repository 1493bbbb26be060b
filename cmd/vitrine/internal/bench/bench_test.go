package bench

import (
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/dump"
	"vitrine/configs"
	"vitrine/rules/filter"
)

// institute is the demo institute in an embedded store.
func institute(t testing.TB) origin.Store {
	t.Helper()
	store, err := bolt.Open(t.TempDir()+"/demo.db", bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := dump.OpenFS(configs.Demo(), ".", dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := dump.Load(t.Context(), store, d, dump.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	return store
}

// dice returns random numbers that are the same in every test.
func dice() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }

func words(t testing.TB) *vocabulary {
	t.Helper()
	v, err := collect(t.Context(), institute(t), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// benchOf is a bench that draws its queries from words.
func benchOf(v *vocabulary) *bench {
	return &bench{words: v, seen: map[uint64]bool{}, dice: dice(),
		Options: Options{Progress: func(string) {}}}
}

// TestFreshQuestionsDiffer: a fresh case never sends the same query twice. The test compares
// queries as the front end does, by the meaning of the filter, not its spelling.
func TestFreshQuestionsDiffer(t *testing.T) {
	b := benchOf(words(t))
	asked := map[string]string{} // cases by the keys of their queries
	for _, c := range cases() {
		paths := b.draw(c, 3000)
		if len(paths) == 0 {
			t.Errorf("the demo has no words for %s", c.Name)
		}
		if !c.Fresh {
			continue
		}
		for _, path := range paths {
			key := keyOfPath(t, path)
			if other, ok := asked[key]; ok {
				t.Fatalf("%s: %s repeats a query of %s", c.Name, path, other)
			}
			asked[key] = c.Name
		}
	}
}

// keyOfPath returns the cache key of a path: the path with the filter in its canonical form.
func keyOfPath(t *testing.T, path string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if text := q.Get("json"); text != "" {
		f, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		q.Set("json", f.Key())
	}
	return u.Path + "?" + q.Encode()
}

// TestFiltersFindSomething: most filters select rows, as a benchmark of empty answers would
// flatter.
func TestFiltersFindSomething(t *testing.T) {
	store := institute(t)
	v, err := collect(t.Context(), store, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	var rows []bson.Raw
	for row, err := range store.Scan(t.Context(), collectionActivities) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	least := map[string]int{"filter-equality": 2, "filter-elem": 10} // out of 40; lower, as these are conjunctions
	dice := dice()
	for _, c := range cases() {
		if c.Filter == "" || !c.Fresh {
			continue
		}
		found := 0
		for range 40 {
			path, ok := v.question(c, dice)
			for !ok { // such as a range that ends before it begins
				path, ok = v.question(c, dice)
			}
			u, err := url.Parse(path)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			f, err := filter.Parse([]byte(u.Query().Get("json")), filter.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if slices.ContainsFunc(rows, func(row bson.Raw) bool { ok, _ := f.Match(row); return ok }) {
				found++
			}
		}
		want, ok := least[c.Name]
		if !ok {
			want = 25
		}
		if found < want {
			t.Errorf("%s: %d of 40 filters find something, want %d", c.Name, found, want)
		}
	}
}

func TestRunWithoutCase(t *testing.T) {
	if _, err := Run(t.Context(), Options{Cases: regexp.MustCompile("nothing")}); err == nil {
		t.Error("an expression that matches no case: no error")
	}
}

func TestGrow(t *testing.T) {
	store := institute(t)
	for _, size := range []int{1000, 1000, 1001, fillBatch + 1001} {
		if err := grow(t.Context(), store, size); err != nil {
			t.Fatal(err)
		}
		v, err := collect(t.Context(), store, 0, 5)
		if err != nil || v.rows != size {
			t.Errorf("grown to %d: %d activities, %v", size, v.rows, err)
		}
	}
}

func TestMedians(t *testing.T) {
	of := func(n int, took ...time.Duration) sample {
		s := sample{Elapsed: time.Second, Processor: time.Duration(n * 100)}
		for i := range n {
			s.Took = append(s.Took, took[i%len(took)])
		}
		return s
	}
	ours := []sample{of(100, 3), of(300, 1), of(200, 2)}
	theirs := []sample{of(200, 1), of(300, 1), of(100, 1)}
	r := resultOf(ours, theirs)
	if r.Rate != 200 || r.P50 != 2 || r.P99 != 2 {
		t.Errorf("medians: %+v", r)
	}
	if r.Processor != 100 || r.Share != 1 {
		t.Errorf("processor time: %+v", r)
	}
	if r.Ratio != 1 || r.Spread != 0.75 {
		t.Errorf("summary of the ratios 0.5, 1 and 2: %+v", r)
	}
	if r := resultOf(ours, nil); r.Ratio != 0 {
		t.Error("without a bare handler there is a ratio")
	}
}

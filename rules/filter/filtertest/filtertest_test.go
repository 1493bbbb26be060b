package filtertest_test

import (
	"bytes"
	"testing"

	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
)

// TestGenerator: every filter is valid, and filters neither always nor never match.
func TestGenerator(t *testing.T) {
	const rounds = 5000
	matched := 0
	g := filtertest.New(1)
	for range rounds {
		query, doc := g.Filter(), g.Doc()
		if err := doc.Validate(); err != nil {
			t.Fatalf("Doc: %v", err)
		}
		f, err := filter.FromBSON(query, filter.Options{})
		if err != nil {
			t.Fatalf("Filter %s: %v", query, err)
		}
		ok, err := f.Match(doc)
		if err != nil {
			t.Fatalf("Match(%s): %v", query, err)
		}
		if ok {
			matched++
		}
	}
	if matched < rounds/5 || matched > 4*rounds/5 {
		t.Errorf("%d of %d filters match, want a fair share", matched, rounds)
	}
}

func TestGeneratorIsDetermined(t *testing.T) {
	a, b, other := filtertest.New(7), filtertest.New(7), filtertest.New(8)
	same := true
	for range 50 {
		x, y := a.Doc(), b.Doc()
		if !bytes.Equal(x, y) || !bytes.Equal(a.Filter(), b.Filter()) {
			t.Fatal("one seed gives two sequences")
		}
		same = same && bytes.Equal(x, other.Doc())
	}
	if same {
		t.Error("two seeds give one sequence")
	}
}

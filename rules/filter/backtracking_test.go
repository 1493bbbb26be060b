package filter_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
)

func TestRegexTimeout(t *testing.T) {
	f, err := filter.Parse([]byte(`{"a": {"$regex": "^(a+)+(?=b)c$"}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Match(doc(t, `{"a": "`+strings.Repeat("a", 60)+`bc"}`))
	var fault *rules.Error
	if !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) || fault.Where != "a.$regex" {
		t.Fatalf("Match error = %v, want a wrong call at a.$regex", err)
	}
}

// TestBudget: all expressions on all documents share one budget, and a long match yields from time
// to time.
func TestBudget(t *testing.T) {
	const query = `{"$or": [{"a": {"$regex": "(\\w*)*\\1[~^]$"}}, {"b": {"$elemMatch": {"$not": {"$regex": "(?=x)y"}}}}, {"a": {"$in": [{"$regularExpression": {"pattern": "(?=x)x", "options": ""}}]}}]}`
	f, err := filter.Parse([]byte(query), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long, short := doc(t, `{"a": "`+strings.Repeat("a", 60)+`"}`), doc(t, `{"a": "x", "b": []}`)
	pauses := 0
	// So much that the first document has several attempts: a machine that does not run for a moment takes one of
	// them.
	bounds := pcre.NewBudget(time.Second).Pausing(func() error { pauses++; return nil })
	if ok, err := filter.Match(f.Root(), short, bounds); !ok || err != nil {
		t.Fatalf("Match = %t, %v before the budget is used up", ok, err)
	}
	for _, d := range []bson.Raw{long, short} {
		var fault *rules.Error
		if _, err := filter.Match(f.Root(), d, bounds); !errors.As(err, &fault) ||
			!errors.Is(err, rules.ErrWrongCall) || fault.Where != "$or.0.a.$regex" {
			t.Fatalf("Match error = %v, want a wrong call at $or.0.a.$regex", err)
		}
	}
	if pauses == 0 {
		t.Error("never paused")
	}
	inExpression, err := filter.Parse(
		[]byte(`{"$expr": {"$not": {"$regexMatch": {"input": "$a", "regex": "(\\w*)*\\1[~^]$"}}}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bounds = pcre.NewBudget(20 * time.Millisecond)
	for _, d := range []bson.Raw{long, short} { // the budget is used up before the second document
		if _, err := filter.Match(inExpression.Root(), d, bounds); !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("Match error = %v, want a wrong call", err)
		}
	}
	gone := errors.New("gone")
	bounds = pcre.NewBudget(time.Hour).Pausing(func() error { return gone })
	if _, err := filter.Match(f.Root(), long, bounds); !errors.Is(err, gone) {
		t.Errorf("Match error = %v, want that of the pause", err)
	}
}

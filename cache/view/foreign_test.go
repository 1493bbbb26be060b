package view_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// TestForeignFilters: a database, here a list of ids, evaluates what memory cannot; memory still
// evaluates the rest of the filter.
func TestForeignFilters(t *testing.T) {
	const text = `{"$text": {"$search": "moth"}}`
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A"), thing("b", 2022, "B"), thing("c", 2021, "C")})
	var asked []string
	known := func(_ context.Context, name string, query bson.Raw) iter.Seq2[bson.RawValue, error] {
		asked = append(asked, name+" "+query.String())
		return func(yield func(bson.RawValue, error) bool) {
			for _, id := range []string{"b", "gone", "a"} {
				if !yield(mustRaw(bson.D{{Key: "_id", Value: id}}).Lookup("_id"), nil) {
					return
				}
			}
		}
	}
	r := run(t, s, view.Options{Poll: time.Hour, Foreign: known})
	snap := <-r.swaps
	foreign, err := filter.Parse([]byte(text), filter.Options{Foreign: true})
	if err != nil {
		t.Fatal(err)
	}
	recent, err := filter.Parse([]byte(`{"year": {"$gt": 2020}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := selected(t, snap, foreign), []string{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := selected(t, snap, filter.And(foreign, recent)), []string{"b"}; !slices.Equal(got, want) {
		t.Errorf("joined with a filter: got %v, want %v", got, want)
	}
	if len(asked) != 2 || asked[0] != `things {"$text": {"$search": "moth"}}` {
		t.Errorf("queries to the database: %q", asked)
	}
}

func TestForeignFiltersWithoutADatabase(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	r := run(t, s, view.Options{Poll: time.Hour})
	foreign, err := filter.Parse([]byte(`{"place": {"$near": [1, 2]}}`), filter.Options{Foreign: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (<-r.swaps).Select(context.Background(), foreign); !errors.Is(err, filter.ErrNotInMemory) {
		t.Errorf("got %v, want ErrNotInMemory", err)
	}
}

// TestForeignFilterRefused: when the database refuses a filter, the error names the part
// of the filter that was sent there; a failure of the database itself names none.
func TestForeignFilterRefused(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2020, "A")})
	var says error
	r := run(t, s, view.Options{Poll: time.Hour,
		Foreign: func(context.Context, string, bson.Raw) iter.Seq2[bson.RawValue, error] {
			return func(yield func(bson.RawValue, error) bool) { yield(bson.RawValue{}, says) }
		}})
	snap := <-r.swaps
	foreign, err := filter.Parse([]byte(`{"$or": [{"a": 1}, {"$text": {"$search": "x"}}]}`),
		filter.Options{Foreign: true})
	if err != nil {
		t.Fatal(err)
	}
	says = fmt.Errorf("find in things: %w", rules.Wrongf("", "", "text index required"))
	_, err = snap.Select(context.Background(), foreign)
	var fault *rules.Error
	if !errors.As(err, &fault) || fault.Param != "json" || fault.Where != "$or.1.$text" ||
		!strings.Contains(fault.Reason, "text index required") {
		t.Errorf("got %v, want json: $or.1.$text: … text index required", err)
	}
	says = fmt.Errorf("find in things: %w", rules.ErrUnavailable)
	if _, err := snap.Select(context.Background(), foreign); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

package view_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// database is a store that evaluates more filters than memory does. It finds the same rows for each.
type database struct {
	*store
	finds []string
	rows  int   // how many there are
	err   error // why it refuses filters; nil if it does not
	asked []string
}

func (d *database) Count(context.Context, origin.Meta, bson.Raw) (int, error) { return d.rows, nil }

func (d *database) Select(_ context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	d.asked = append(d.asked, fmt.Sprintf("%s %d %s %v", at.View, at.Generation, q.Filter, q.Projection))
	return func(yield func(bson.Raw, error) bool) {
		for _, id := range d.finds {
			if !yield(mustRaw(bson.D{{Key: "_id", Value: id}}), d.err) || d.err != nil {
				return
			}
		}
	}
}

// inSource finds b, as a database whose source collection has an index for $text.
func inSource(context.Context, string, bson.Raw) iter.Seq2[bson.RawValue, error] {
	return func(yield func(bson.RawValue, error) bool) {
		yield(mustRaw(bson.D{{Key: "_id", Value: "b"}}).Lookup("_id"), nil)
	}
}

// open publishes three rows, of which b has a decimal, and shows them from memory.
func (d *database) open(t *testing.T, foreign view.Foreign) *view.Snapshot {
	t.Helper()
	decimal, err := bson.ParseDecimal128("2022")
	if err != nil {
		t.Fatal(err)
	}
	d.store, d.rows = newStore(), 3
	d.publish([]bson.D{
		{{Key: "_id", Value: "a"}, {Key: "year", Value: 2020}},
		{{Key: "_id", Value: "b"}, {Key: "year", Value: decimal}},
		{{Key: "_id", Value: "c"}, {Key: "year", Value: 2021}},
	})
	snap, err := view.Load(t.Context(), view.Options{Store: d, Foreign: foreign}, index.Definition{Name: "things"})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func foreignFilter(t *testing.T, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse([]byte(text), filter.Options{Foreign: true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestExpressionsReadThrough: the database finds the rows of this generation for expressions that memory does not
// evaluate, be it for an operator or for a decimal in one of the rows. It is not asked where the other conditions
// leave only rows that memory decides.
func TestExpressionsReadThrough(t *testing.T) {
	const sum = `{"$expr": {"$gt": [{"$add": ["$year", 1]}, 2021]}}`
	for text, want := range map[string]struct {
		rows  string
		asked int
	}{
		`{"$expr": {"$gt": [{"$toInt": "$year"}, 2020]}}`: {"b c", 1},
		`{"$expr": {"$gt": ["$year", 2020]}}`:             {"b c", 0},
		sum:                                               {"b c", 1},
		`{"_id": {"$ne": "b"}, "$expr": {"$gt": [{"$add": ["$year", 1]}, 2021]}}`: {"c", 0},
		`{"$nor": [` + sum + `]}`:               {"b c", 1}, // the database decides the whole filter
		`{"$expr": {"$gt": ["$$ROOT", 5]}}`:     {"a b c", 0},
		`{"$expr": {"$bsonSize": "$$ROOT"}}`:    {"b", 0}, // of a whole document, which the source collection has
		`{"$expr": {"$toBool": "$$ROOT.year"}}`: {"b c", 1},
	} {
		d := &database{finds: []string{"b", "c"}}
		snap := d.open(t, inSource)
		if got := selected(t, snap, foreignFilter(t, text)); strings.Join(got, " ") != want.rows {
			t.Errorf("%s: rows %v, want %s", text, got, want.rows)
		}
		if len(d.asked) != want.asked || want.asked > 0 && !strings.HasPrefix(d.asked[0], "things 1 {") {
			t.Errorf("%s: queries %q, want %d", text, d.asked, want.asked)
		}
	}
	d := &database{finds: []string{"b", "c"}}
	joined := filter.And(filter.OneOf("_id", "a", "b"), foreignFilter(t, sum),
		filter.Not(foreignFilter(t, `{"year": 2021}`)))
	if got := selected(t, d.open(t, inSource), joined); !slices.Equal(got, []string{"b"}) || len(d.asked) != 1 {
		t.Errorf("joined with others: %v by queries %q", got, d.asked)
	}
}

// TestExpressionsNotReadThrough: without a database the error names the operator and its place. A database's refusal
// comes with its reason; a moved view, or one that has lost rows, is no answer.
func TestExpressionsNotReadThrough(t *testing.T) {
	const decimals, unknown = `{"$expr": {"$gt": [{"$add": ["$year", 1]}, 2021]}}`,
		`{"$expr": {"$gt": [{"$toInt": "$year"}, 2020]}}`
	for name, c := range map[string]struct {
		text    string
		foreign view.Foreign
		change  func(d *database)
		want    error
		says    string
	}{
		"an operator": {unknown, nil, nil, filter.ErrNotInMemory,
			"json: $expr.$gt.0.$toInt: the expression $toInt is not"},
		"a decimal": {decimals, nil, nil, filter.ErrNotInMemory,
			"json: $expr.$gt.0.$add: $add of a decimal is not evaluated"},
		"a refusal": {unknown, inSource, func(d *database) { d.err = rules.Wrongf("", "", "no $expr here") },
			rules.ErrWrongCall,
			"json: $expr.$gt.0.$toInt: the expression $toInt is not evaluated in memory, and the database refuses " +
				"it: no $expr here"},
		"a refusal for a decimal": {decimals, inSource,
			func(d *database) { d.err = rules.Wrongf("", "", "no $expr here") },
			rules.ErrWrongCall,
			"json: $expr: an expression on one of the records is not evaluated in memory, and the database refuses " +
				"it: no $expr here"},
		"a failure": {unknown, inSource, func(d *database) { d.err = rules.ErrUnavailable }, rules.ErrUnavailable,
			""},
		"a generation that has passed": {decimals, inSource, func(d *database) { d.err = origin.ErrStale },
			origin.ErrStale, "view things has moved on from generation 1"},
		"lost rows": {unknown, inSource, func(d *database) { d.rows = 2 }, rules.ErrUnavailable,
			"the store has 2 of the 3 rows of view things"},
	} {
		d := &database{finds: []string{"b", "c"}}
		snap := d.open(t, c.foreign)
		if c.change != nil {
			c.change(d)
		}
		_, err := snap.Select(t.Context(), foreignFilter(t, c.text))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v %q", name, err, c.want, c.says)
		}
	}
	if _, err := (&database{}).open(t, inSource).Select(t.Context(), hiddenFilter(t, decimals)); !errors.Is(err,
		filter.ErrNotInMemory) {
		t.Errorf("for a caller who may not see some fields: %v", err)
	}
}

// hiddenFilter returns a filter of a caller for whom no database evaluates anything.
func hiddenFilter(t *testing.T, text string) *filter.Filter {
	t.Helper()
	f, err := filter.Parse([]byte(text), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

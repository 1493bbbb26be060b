package view_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/filter"
)

// TestConfirmedRows evaluates conditions that only the matcher can decide, on many rows, narrowed
// in different ways and across refreshes: the answer is always the matcher's.
func TestConfirmedRows(t *testing.T) {
	const rows = 5000
	doc := func(i, shift int) bson.D {
		author := func(k int) bson.D {
			return bson.D{{Key: "user", Value: fmt.Sprint("u", (i+k+shift)%7)},
				{Key: "aoi", Value: (i*k+shift)%3 == 0}}
		}
		return bson.D{
			{Key: "_id", Value: int32(i)}, {Key: "year", Value: int32(2000 + i%20)},
			{Key: "authors", Value: bson.A{author(1), author(2), author(3)}},
		}
	}
	docs := make([]bson.D, rows)
	for i := range docs {
		docs[i] = doc(i, 0)
	}
	s := newStore()
	s.publish(docs)
	r := run(t, s, view.Options{Poll: time.Hour})
	snap := <-r.swaps
	const elem = `"authors":{"$elemMatch":{"$or":[{"user":"u3","aoi":true},{"user":"u5","aoi":false}]}}`
	ask := func() {
		t.Helper()
		for _, text := range []string{
			`{"year":{"$gte":2010},` + elem + `}`, `{` + elem + `}`, `{"year":2003,` + elem + `}`, `{` + elem + `}`,
			`{"$nor":[{` + elem + `}]}`, `{"$expr":{"$gt":["$year",2011]}}`,
			`{"year":{"$lt":2015},"$expr":{"$gt":["$year",2011]}}`,
		} {
			f, err := filter.Parse([]byte(text), filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows := memory(t, snap)
			every, err := rows.Select(context.Background(), filter.All())
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for row := range every.Rows(context.Background(), 0, 0) {
				hit, err := f.Match(row.Doc())
				if err != nil {
					t.Fatal(err)
				}
				if hit {
					want++
				}
			}
			got, err := snap.Select(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got.Count() != want {
				t.Errorf("%s: %d rows, the matcher says %d", text, got.Count(), want)
			}
		}
	}
	ask()
	changed := make([]bson.D, 0, 2000)
	for i := 500; i < 500+len(docs)/25; i++ {
		changed = append(changed, doc(i, 1))
	}
	s.publish(changed, int32(3), int32(4))
	snap = r.next()
	ask()
	for i := range 2000 { // enough to fold the segments
		changed = append(changed, doc(1000+i, 2))
	}
	s.publish(changed)
	snap = r.next()
	ask()
}

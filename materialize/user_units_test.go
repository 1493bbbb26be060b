package materialize_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
	"vitrine/rules/units"
)

// member is a person with one membership in unit A.
func member(id int32, username any, end string) m {
	return m{
		{Key: "_id", Value: id}, {Key: "username", Value: username}, {Key: "last", Value: "Byron"},
		{Key: "units", Value: bson.A{m{{Key: "unit", Value: "A"}, {Key: "end", Value: end}}}},
	}
}

func TestUserUnits(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		store.replace("groups", m{{Key: "_id", Value: 1}, {Key: "id", Value: "A"}, {Key: "name", Value: "Unit A"}})
		store.replace("persons", member(1, "ada", "2024-05-01"), member(2, nil, "2030-01-01"))
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{materialize.Plain("user_units")}})
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 2, Rendered: 2, Changed: 2})
		rows := liveRows(t, store, "user_units")
		if len(rows) != 2 {
			t.Fatalf("got %d rows, want one for each person", len(rows))
		}

		zone := time.FixedZone("UTC+2", 2*60*60)
		clock := time.Date(2024, time.May, 1, 21, 59, 59, 0, time.UTC).In(zone)
		for _, past := range []string{"false", "true"} { // in the last second of the day and the first of the next
			want := `{"name":"Byron","units":[{"unit":"A","end":"2024-05-01","name":"Unit A","in_past":` + past +
				`}]}`
			for _, row := range rows {
				if name, ok := row.Lookup("username").StringValueOK(); !ok || name != "ada" {
					continue
				}
				if got := string(units.AppendData(nil, row, clock, "en")); got != want {
					t.Errorf("at %s: got %s, want %s", clock, got, want)
				}
			}
			clock = clock.Add(time.Second)
		}

		store.replace("persons", member(1, "ada", "2024-06-01"), member(2, nil, "2030-01-01"))
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 2, Rendered: 1, Changed: 1})
		store.replace("groups")
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 2, Rendered: 2, Changed: 2})
	})
}

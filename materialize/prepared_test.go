package materialize_test

import (
	"bytes"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
	"vitrine/rules/raw"
)

// fills counts by _id how often a job asked for the filled form of a record.
type fills struct {
	mu sync.Mutex
	of map[string]int
}

// fill adds a field to a record, as package render does for a database that lacks it.
func (f *fills) fill(record bson.Raw) bson.Raw {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of[record.Lookup("_id").StringValue()]++
	filled, err := raw.SetField(record, "filled", raw.NewBool(true))
	if err != nil {
		panic(err)
	}
	return filled
}

// TestRecordsArePreparedOnce: a run prepares a changed record once, for the tally of the spectrum, its mark and its
// row together, and an unchanged record not at all. A malformed record is never prepared, and its row stays.
func TestRecordsArePreparedOnce(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	set := func(texts ...string) {
		store.sources["activities"] = nil
		for _, text := range texts {
			store.sources["activities"] = append(store.sources["activities"], docOf(t, text))
		}
	}
	jobs, f := tallied(), &fills{}
	jobs[0] = materialize.Filled(jobs[0], f.fill, "")
	r := newRunner(t, materialize.Options{Store: store, Jobs: jobs})
	const topic = `"affiliated":true,"catalog":{"topics":[{"id":"T1","score":0.9}]}`
	one, two := `{"_id":"1",`+topic+`}`, `{"_id":"2",`+topic+`}`
	for _, tt := range []struct {
		name    string
		change  func()
		request materialize.Request
		want    map[string]int
	}{
		{"at first", func() { set(one, two) }, materialize.Request{}, map[string]int{"1": 1, "2": 1}},
		{"nothing", func() {}, materialize.Request{}, nil},
		{"a record", func() { set(one, `{"_id":"2","year":2020,`+topic+`}`) }, materialize.Request{},
			map[string]int{"2": 1}},
		{"a new one", func() { set(one, two, `{"_id":"3"}`) }, materialize.Request{}, map[string]int{"2": 1, "3": 1}},
		{"a full run", func() {}, materialize.Request{Full: true}, map[string]int{"1": 1, "2": 1, "3": 1}},
		{"a malformed one", func() {
			set(one, two, `{"_id":"3","flag":true}`)
			bad := store.sources["activities"][2]
			copy(bad, bytes.Replace(bad, []byte("\x08flag"), []byte("\x7eflag"), 1)) // no BSON type
		}, materialize.Request{}, nil},
	} {
		tt.change()
		f.of = map[string]int{}
		outs, err := r.RunOnce(t.Context(), tt.request, nil)
		if err != nil || len(outs) != 2 {
			t.Fatalf("%s: %d outcomes, %v", tt.name, len(outs), err)
		}
		for _, id := range []string{"1", "2", "3"} {
			if f.of[id] != tt.want[id] {
				t.Errorf("%s: record %s was prepared %d times, want %d", tt.name, id, f.of[id], tt.want[id])
			}
		}
		if rows := liveRows(t, store, "activities"); len(rows) != len(store.sources["activities"]) {
			t.Errorf("%s: %d rows", tt.name, len(rows))
		}
	}
}

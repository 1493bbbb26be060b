package materialize_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/materialize"
)

// benchStore holds 10,000 records of about 2 KB, a usual size.
func benchStore(b *testing.B) *fakeStore {
	b.Helper()
	store := newFakeStore()
	text := strings.Repeat("the text of an abstract ", 80)
	docs := make([]any, 10_000)
	for i := range docs {
		docs[i] = m{{Key: "_id", Value: int32(i)}, {Key: "title", Value: fmt.Sprint("title ", i)},
			{Key: "abstract", Value: text}}
	}
	store.replace("records", docs...)
	return store
}

func benchmarkRun(b *testing.B, q materialize.Request, rendered int) {
	store := benchStore(b)
	s := &shouting{rules: "!"}
	r := newRunner(b, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
	once(b, r, materialize.Request{})
	b.ReportAllocs()
	for b.Loop() {
		if out := once(b, r, q); out.Rendered != rendered || out.Changed != 0 {
			b.Fatalf("%+v", out.Counts)
		}
	}
}

// An incremental run that finds 10,000 records unchanged.
func BenchmarkIncrementalUnchanged(b *testing.B) {
	benchmarkRun(b, materialize.Request{}, 0)
}

// A full run that renders 10,000 records and finds the stored rows unchanged.
func BenchmarkFull(b *testing.B) {
	benchmarkRun(b, materialize.Request{Full: true}, 10_000)
}

// An incremental run that finds changes in 100 of 10,000 records.
func BenchmarkIncrementalHundredChanged(b *testing.B) {
	store := benchStore(b)
	s := &shouting{rules: "!"}
	r := newRunner(b, materialize.Options{Store: store, Jobs: []materialize.Job{s.job()}})
	once(b, r, materialize.Request{})
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range 100 {
			store.sources["records"][i*100] = doc(rec(int32(i*100), fmt.Sprint("again ", n)))
		}
		if out := once(b, r, materialize.Request{}); out.Changed != 100 {
			b.Fatalf("%+v", out.Counts)
		}
	}
}

// An incremental run that finds 10,000 activities with marks unchanged.
func BenchmarkMarkedUnchanged(b *testing.B) {
	store := newFakeStore()
	var activities, persons, groups []any
	for i := range 10_000 {
		activities = append(activities, docOf(b, fmt.Sprintf(`{"_id":"%d","type":"publication","title":"Moths","abstract":%q,"year":2021,"units":["u%d","u%d"],
			"authors":[{"last":"A"},{"last":"B","user":"p%d"},{"last":"C","user":"p%d"}],"catalog":{"topics":[{"id":"T1","name":"Moths"},{"id":"T2","name":"Lamps"}]}}`,
			i, strings.Repeat("the text of an abstract ", 60), i%40, i%30, i%300, i%200)))
	}
	for i := range 300 {
		persons = append(persons,
			docOf(b, fmt.Sprintf(`{"_id":%d,"username":"p%d","first":"P","last":"%d"}`, i, i, i)))
	}
	for i := range 40 {
		groups = append(groups,
			docOf(b, fmt.Sprintf(`{"_id":%d,"id":"u%d","name":"Unit %d","parent":"u%d"}`, i, i, i, i/3)))
	}
	store.replace("activities", activities...)
	store.replace("persons", persons...)
	store.replace("groups", groups...)
	o := &marked{public: `{"hide":{"$ne":true},"workflow.status":{"$nin":["rejected","in-review"]}}`}
	r := newRunner(b, materialize.Options{Store: store, Jobs: []materialize.Job{markedJob(o)}})
	once(b, r, materialize.Request{})
	b.ReportAllocs()
	for b.Loop() {
		if out := once(b, r, materialize.Request{}); out.Changed != 0 {
			b.Fatalf("%+v", out.Counts)
		}
	}
}

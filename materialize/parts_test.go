package materialize_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/mark"
)

// counted makes a job count calls of the functions that its Mark returns.
func counted(job materialize.Job, calls *int) materialize.Job {
	marks := job.Mark
	job.Mark = func(deps materialize.Deps) materialize.Marks {
		made := marks(deps)
		make := made.Make
		made.Make = func(record bson.Raw) (bson.Raw, mark.Lack, error) { *calls++; return make(record) }
		return made
	}
	return job
}

// markedJob is a job of activities with marks. A record with "broken" has no row.
func markedJob(o *marked) materialize.Job {
	render := func(record bson.Raw) (bson.Raw, error) {
		if _, err := record.LookupErr("broken"); err == nil {
			return nil, errors.New("broken")
		}
		return doc(m{}), nil
	}
	return materialize.Marked(materialize.Activities(render, "rules/1"), o.options)
}

// TestPartsOfUnchangedRecords: a run computes anew the parts of a row that come from related
// collections where these may have changed, and only there.
func TestPartsOfUnchangedRecords(t *testing.T) {
	store := newFakeStore()
	o := &marked{public: `{"hide":{"$ne":true}}`, now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
	calls := 0
	job := counted(markedJob(o), &calls)
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}})
	other := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}, Holder: "other"})
	set := func(collection string, docs ...string) {
		var all []any
		for _, d := range docs {
			all = append(all, docOf(t, d))
		}
		store.replace(collection, all...)
	}
	const one, two, three = `{"_id":"1","authors":[{"user":"ann"}],"units":["LAB"]}`, `{"_id":"2"}`, `{"_id":"3"}`
	set("activities", one, two, three)
	set("persons", `{"_id":1,"username":"ann","last":"Ada"}`)
	set("groups", `{"_id":1,"id":"LAB","name":"Lab"}`)
	full := materialize.Request{Full: true}
	tests := []struct {
		name           string
		change         func()
		request        materialize.Request
		calls, changed int
		result         materialize.Result
	}{
		{name: "at first", calls: 3, changed: 3},
		{name: "nothing"},
		{name: "a record", change: func() { set("activities", one, two, `{"_id":"3","year":2021}`) }, calls: 1,
			changed: 1},
		{name: "nothing after a record"},
		{name: "a field that no mark has",
			change: func() { set("persons", `{"_id":1,"username":"ann","last":"Ada","mail":"x"}`) }},
		{name: "a unit", change: func() { set("groups", `{"_id":1,"id":"LAB","name":"Labor"}`) }, calls: 3,
			changed: 1},
		{name: "nothing after a unit"},
		{name: "a hidden person", change: func() { set("persons", `{"_id":1,"username":"ann","hide":true}`) },
			calls: 3, changed: 1},
		{name: "an hour", change: func() { o.now = o.now.Add(time.Hour - 1) }},
		{name: "midnight", change: func() { o.now = o.now.Add(1) }, calls: 3},
		{name: "nothing after midnight"},
		{name: "the rule", change: func() { o.public = `{"year":{"$exists":false}}` }, calls: 3, changed: 1},
		{name: "the same rule, written differently",
			change: func() { o.public = `{"year": {"$not": {"$exists": true}}}` }},
		{name: "a full run", request: full, calls: 3},
		{name: "nothing after a full run"},
		{name: "a record is gone", change: func() { set("activities", one, three) }, calls: 1, changed: 1},
		{name: "and is back", change: func() { set("activities", one, two, three) }, calls: 1, changed: 1},
		{name: "and stays"},
		{name: "a record that cannot be rendered",
			change: func() { set("activities", one, two, `{"_id":"3","broken":1}`) }, calls: 1},
		{name: "is tried again", calls: 1},
		{name: "twice in one run", change: func() { set("activities", one, two, `{"_id":"3","n":1}`, `{"_id":"3"}`) },
			calls: 1, changed: 1},
		{name: "twice again"},
		{name: "the other of both", change: func() { set("activities", one, two, three) }, calls: 1, changed: 1},
		{name: "a run that fails", change: func() {
			set("activities", one, two, `{"_id":"3","n":2}`)
			store.onCommit = func() error { return errors.New("no room") }
		}, calls: 1, result: materialize.Failed},
		{name: "the run after it", change: func() { store.onCommit = nil }, calls: 3, changed: 1},
		{name: "another instance publishes", change: func() {
			set("activities", one, `{"_id":"2","n":2}`, three)
			once(t, other, materialize.Request{})
			calls = 0
		}, calls: 3},
		{name: "nothing after it"},
		{name: "the lease is lost", change: func() {
			set("groups", `{"_id":1,"id":"LAB","name":"Lost"}`)
			store.onCommit = func() error { store.steal(time.Nanosecond); return nil }
		}, calls: 3, result: materialize.Stopped},
		{name: "the lease is back", change: func() { store.onCommit = nil }, calls: 3, changed: 1},
		{name: "nothing at last"},
	}
	for _, tt := range tests {
		calls = 0
		if tt.change != nil {
			tt.change()
		}
		outs, _ := r.RunOnce(t.Context(), tt.request, nil)
		if len(outs) != 1 {
			t.Fatalf("%s: no outcome", tt.name)
		}
		want := tt.result
		if want == "" {
			want = materialize.Unchanged
			if tt.changed > 0 {
				want = materialize.Published
			}
		}
		if out := outs[0]; out.Result != want || out.Changed != tt.changed || calls != tt.calls {
			t.Errorf("%s: %s (%v), %d rows changed, %d parts; want %s, %d, %d", tt.name, out.Result, out.Err,
				out.Changed, calls, want, tt.changed, tt.calls)
		}
	}
}

// TestMarksAreThoseOfAFirstRun: after any changes, the rows equal those of an instance that has no
// memory of earlier runs.
func TestMarksAreThoseOfAFirstRun(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 2026))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	lists := map[string]func(id int) string{
		"activities": func(id int) string {
			return fmt.Sprintf(
				`{"_id":"%d","n":%d,"hide":%s,"authors":[{"user":"p%d"}],"units":["u%d"],"projects":["q%d"]%s}`,
				id, random.IntN(2), pick("true", "false", "1"), random.IntN(4), random.IntN(4), random.IntN(4),
				pick("", "", `,"broken":1`))
		},
		"persons": func(id int) string {
			return fmt.Sprintf(`{"_id":%d,"username":"p%d","last":"%s","hide":%s}`, id, id, pick("A", "B"),
				pick("true", "false"))
		},
		"groups": func(id int) string {
			return fmt.Sprintf(`{"_id":%d,"id":"u%d","name":"%s","parent":"u%d","hide":%s}`, id, id, pick("A", "B"),
				random.IntN(4), pick("true", "false"))
		},
		"projects": func(id int) string {
			return fmt.Sprintf(`{"_id":%d,"name":"q%d","title":"%s","public":%s}`, id, id, pick("A", "B"),
				pick("true", "false"))
		},
	}
	for range 20 {
		o := &marked{now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
		store, docs := newFakeStore(), map[string]map[int]string{"activities": {}, "persons": {}, "groups": {},
			"projects": {}}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{markedJob(o)},
			Materialize: configs.Materialize{MaxShrink: 1}})
		for range 30 {
			o.public = pick(`{}`, `{"hide":{"$ne":true}}`, `{"n":1}`)
			for range random.IntN(4) {
				name, id := pick("activities", "activities", "persons", "groups", "projects"), random.IntN(4)
				docs[name][id] = lists[name](id)
				if random.IntN(6) == 0 {
					delete(docs[name], id)
				}
			}
			fresh := newFakeStore()
			for name, all := range docs {
				var list []any
				for _, text := range all {
					list = append(list, docOf(t, text))
				}
				store.replace(name, list...)
				fresh.replace(name, list...)
			}
			store.onCommit = nil
			if random.IntN(5) == 0 {
				store.onCommit = func() error { return errors.New("no room") }
			}
			out := once(t, r, materialize.Request{Full: random.IntN(8) == 0, Force: true})
			if out.Result == materialize.Failed {
				continue
			}
			once(t, newRunner(t, materialize.Options{Store: fresh, Jobs: []materialize.Job{markedJob(o)}}),
				materialize.Request{})
			got, want := marksOf(t, store, "activities"), marksOf(t, fresh, "activities")
			for id := range got {
				if _, ok := want[id]; !ok {
					delete(got, id) // a record that cannot be rendered now keeps its row
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("rows have the marks %v, want %v", got, want)
			}
		}
	}
}

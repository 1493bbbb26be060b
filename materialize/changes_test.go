package materialize_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/raw"
)

// datedStore is a store whose versions are those of MongoDB: the count, the greatest _id and the
// greatest value of a field.
type datedStore struct {
	*fakeStore
	runner  *materialize.Runner
	noCount bool // counting all fails
	records int  // activities that were read
	ids     int  // ids of activities that were read alone
}

func (s *datedStore) Version(_ context.Context, collection, field string) (v origin.Version, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	greatest := func(field string) (value bson.RawValue) {
		order := raw.SortField{Path: raw.PathOf(field), Desc: true}
		for _, d := range s.sources[collection] {
			if key := order.Key(d); value.IsZero() || raw.Compare(value, key) < 0 {
				value = key
			}
		}
		return value
	}
	v.ID, v.Field = greatest("_id"), greatest(field)
	v.Text = fmt.Sprint(len(s.sources[collection]), v.ID, v.Field)
	v.Count = func(ctx context.Context, filter bson.Raw) (n int, err error) {
		if s.noCount && filter == nil {
			return 0, errSilent
		}
		for _, err := range s.fakeStore.Find(ctx, collection, origin.Query{Filter: filter}) {
			if err != nil {
				return 0, err
			}
			n++
		}
		return n, nil
	}
	return v, nil
}

func (s *datedStore) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return s.count(collection, s.fakeStore.Scan(ctx, collection))
}

func (s *datedStore) Sift(ctx context.Context, collection string,
	want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return s.fakeStore.Sift(ctx, collection, func(d bson.Raw) bool {
		if collection == "activities" {
			s.records++
		}
		return want(d)
	})
}

func (s *datedStore) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	if q.Projection == nil {
		return s.count(collection, s.fakeStore.Find(ctx, collection, q))
	}
	return func(yield func(bson.Raw, error) bool) {
		for d, err := range s.fakeStore.Find(ctx, collection, q) {
			s.ids++
			if !yield(doc(m{{Key: "_id", Value: d.Lookup("_id")}}), err) {
				return
			}
		}
	}
}

func (s *datedStore) count(collection string, docs iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for d, err := range docs {
			if collection == "activities" {
				s.records++
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// set stores an activity, in place of one with its _id.
func (s *datedStore) set(d bson.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sources["activities"]
	if i := slices.IndexFunc(all,
		func(e bson.Raw) bool { return key(e.Lookup("_id")) == key(d.Lookup("_id")) }); i >= 0 {
		all[i] = d
	} else {
		s.sources["activities"] = append(all, d)
	}
}

// remove deletes an activity.
func (s *datedStore) remove(id any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources["activities"] = slices.DeleteFunc(s.sources["activities"], func(d bson.Raw) bool {
		return key(d.Lookup("_id")) == key(doc(m{{Key: "_id", Value: id}}).Lookup("_id"))
	})
}

// polled sets a store's runner, which runs jobs each minute, and returns the outcomes of its runs.
func polled(t testing.TB, s *datedStore, jobs ...materialize.Job) *diary {
	d, schedule := newDiary(), map[string]string{}
	for _, job := range jobs {
		schedule[job.View] = "@every 1m"
	}
	s.runner = newRunner(t, materialize.Options{
		Store: s, Jobs: jobs, Materialize: configs.Materialize{Schedule: schedule, ChangedField: "changed.at",
			ReadAllEvery: time.Hour}, Observer: d.observer(),
		Versioner: s,
	})
	return d
}

// dated is an activity with the time of its last change, or without.
func dated(id any, year int32, at any, topics ...string) bson.Raw {
	d := paper(0, year, topics...)
	d[0].Value = id
	if at != nil {
		d = append(d, bson.E{Key: "changed", Value: m{{Key: "at", Value: at}}})
	}
	return doc(d)
}

// TestRunsReadChangesOnly: a scheduled run reads the records whose field or _id is not below the last
// greatest one. It finds out by their number whether others have come or gone, and reads all if it
// cannot rely on that.
func TestRunsReadChangesOnly(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 11, 28, 12, minutes, 0, 0, time.UTC) }
	type store = *datedStore
	ada := m{{Key: "_id", Value: 1}, {Key: "username", Value: "ada"}, {Key: "displayname", Value: "Ada"}}
	edit := func(s store) { s.set(dated(int32(5), 1999, at(9))) }
	for name, tt := range map[string]struct {
		bare          bool // no record has the field at first
		change        func(s store)
		records, ids  int // read
		changed, rows int
	}{
		"nothing": {false, func(store) {}, 0, 0, 0, 40},
		"an edit": {false, edit, 2, 0, 1, 40},
		"an edit stored late": {false, func(s store) {
			edit(s)
			s.set(dated(int32(6), 1999, at(7)))
		}, 3, 0, 2, 40},
		"two edits in turn": {false, func(s store) {
			edit(s)
			time.Sleep(time.Minute)
			s.set(dated(int32(6), 1999, at(20)))
		}, 2 + 3, 0, 2, 40},
		"a new record without the field": {false, func(s store) { s.set(dated(int32(100), 1999, nil)) }, 2, 0, 1, 41},
		"a record imported as it was": {false, func(s store) { s.set(dated(int32(-1), 1999, at(1))) }, 2, 41, 1,
			41},
		"an _id of another type": {false, func(s store) { s.set(dated("x", 1999, nil)) }, 41, 0, 1, 41},
		"a deletion":             {false, func(s store) { s.remove(int32(3)) }, 1, 39, 0, 39},
		"a deletion and a new record": {false, func(s store) {
			s.remove(int32(3))
			s.set(dated(int32(100), 1999, nil))
		}, 2, 40, 1, 40},
		"the latest is gone": {false, func(s store) { s.remove(int32(0)) }, 39, 0, 0, 39},
		"a value of another type": {
			false, func(s store) { s.set(dated(int32(5), 1999, bson.Timestamp{T: 1})) }, 40, 0, 1, 40},
		"a person whom rows show": {false, func(s store) { s.replace("persons") }, 40, 0, 0, 40},
		"what rows do not show": {false, func(s store) {
			s.replace("persons", append(ada, bson.E{Key: "mail", Value: "x"}))
			edit(s)
		}, 2, 0, 1, 40},
		"an edit and a request": {false, func(s store) {
			edit(s)
			_ = s.runner.Trigger(materialize.Request{})
		}, 40, 0, 1, 40},
		"an edit that cannot be seen": {
			false, func(s store) { s.set(dated(int32(5), 1999, nil)) }, 0, 0, 0, 40},
		"the first edit with the field": {true, edit, 1, 0, 1, 40},
		"a new record where none has the field": {
			true, func(s store) { s.set(dated(int32(100), 1999, nil)) }, 41, 0, 1, 41},
		"an hour later": {false, func(s store) {
			s.set(dated(int32(5), 1999, nil))
			time.Sleep(time.Hour)
		}, 40, 0, 1, 40},
		"a store that does not count": {false, func(s store) {
			s.noCount = true
			s.remove(int32(3))
			edit(s)
		}, 2 + 39, 0, 1, 39},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &datedStore{fakeStore: newFakeStore()}
				fillHouse(s)
				for id := range 40 {
					s.set(dated(int32(id), 2024, at(8-id*8)))
					if tt.bare {
						s.set(dated(int32(id), 2024, nil))
					}
				}
				d := polled(t, s, markedJob(&marked{public: `{}`}))
				stop := started(t, s.runner)
				time.Sleep(90 * time.Second)
				synctest.Wait()
				d.mu.Lock()
				first := d.outcomes[0]
				s.records, s.ids, d.outcomes = 0, 0, nil
				d.mu.Unlock()
				tt.change(s)
				time.Sleep(time.Minute)
				stop()
				changed, rows := 0, len(liveRows(t, s, "activities"))
				for _, out := range d.outcomes {
					changed += out.Changed
					if all := len(s.sources["activities"]); out.Scanned != all &&
						out.Result == materialize.Published {
						t.Errorf("scanned %d records of %d", out.Scanned, all)
					}
				}
				if s.records != tt.records || s.ids != tt.ids || changed != tt.changed || rows != tt.rows {
					t.Errorf("read %d records and %d ids, changed %d of %d rows, want %+v", s.records, s.ids, changed,
						rows, tt)
				}
				last := d.outcomes[len(d.outcomes)-1]
				if all := tt.records >= 39; all == last.Read.Equal(first.Read) || last.Read.IsZero() {
					t.Errorf("the last run that read all: %s, the first: %s", last.Read, first.Read)
				}
			})
		})
	}
}

// TestManyRecordsDatedAlike: if many records have the last greatest value, or an _id of the same time, a run does not
// read them again.
func TestManyRecordsDatedAlike(t *testing.T) {
	for name, record := range map[string]func(n, at int) bson.Raw{
		"the field": func(n, at int) bson.Raw { return dated(int32(n), 2024, max(at, 0)) },
		"the _id":   func(n, at int) bson.Raw { return dated(bson.ObjectID{0x6a, 11: byte(n)}, 2024, at) },
	} {
		for records, again := range map[int]bool{maxReread: true, maxReread + 2: false} {
			t.Run(fmt.Sprint(name, records), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &datedStore{fakeStore: newFakeStore()}
					for n := range records {
						s.set(record(n, -n))
					}
					d := polled(t, s, markedJob(&marked{public: `{}`}))
					stop := started(t, s.runner)
					time.Sleep(90 * time.Second)
					synctest.Wait()
					s.records = 0
					s.set(record(7, 1))
					time.Sleep(time.Minute)
					stop()
					if out := d.outcomes[len(d.outcomes)-1]; out.Changed != 1 || again && s.records != records ||
						!again && s.records > 2 {
						t.Errorf("read %d records, %+v", s.records, out.Counts)
					}
				})
			})
		}
	}
}

// maxReread is the most records from before the last greatest value that a run reads again.
const maxReread = 200

// TestChangesGiveTheViewsOfAll edits, inserts and deletes random activities, and changes what their rows are
// made from. After runs that read only changes, a full run finds nothing to change.
func TestChangesGiveTheViewsOfAll(t *testing.T) {
	synctest.Test(t, func(outer *testing.T) {
		inBubble := struct{ testing.TB }{outer} // where rapid must not ask for the deadline
		rapid.Check(inBubble, func(t *rapid.T) { changeAtRandom(outer, t) })
	})
}

func changeAtRandom(outer *testing.T, t *rapid.T) {
	s := &datedStore{fakeStore: newFakeStore()}
	fillHouse(s)
	clock := int64(0)
	id := func() any {
		n := rapid.IntRange(0, 40).Draw(t, "id")
		return []any{int32(n), fmt.Sprint(n), bson.ObjectID{byte(n)}, m{{Key: "n", Value: n}}}[n%4]
	}
	write := func(at any) {
		topics := rapid.SliceOfN(rapid.SampledFrom([]string{"T1", "T2", "T3"}), 0, 3).Draw(t, "topics")
		s.set(dated(id(), rapid.Int32Range(2020, 2025).Draw(t, "year"), at, topics...))
	}
	s.set(dated(bson.Timestamp{}, 2025, nil))
	for range rapid.IntRange(0, 30).Draw(t, "at first") {
		write(rapid.SampledFrom([]any{clock, clock - 1, float64(clock) - 0.5, nil}).Draw(t, "at"))
	}
	o := &marked{public: `{}`}
	jobs := tallied()
	jobs[0] = markedJob(o)
	d := polled(outer, s, jobs...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.runner.Run(ctx) }()
	for round := range rapid.IntRange(1, 6).Draw(t, "rounds") {
		time.Sleep(time.Minute)
		synctest.Wait()
		clock += rapid.Int64Range(0, 1).Draw(t, "passed")
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			write(clock)
		}
		for range rapid.IntRange(0, 3).Draw(t, "deletions") {
			s.remove(id())
		}
		switch rapid.IntRange(0, 9).Draw(t, "else") {
		case 0:
			name := bson.E{Key: "displayname", Value: fmt.Sprint(round)}
			s.replace("persons", m{{Key: "_id", Value: 100 + round}, {Key: "username", Value: "ada"}, name})
		case 1:
			about := bson.E{Key: "description", Value: fmt.Sprint(round)}
			s.replace("catalog_topics", m{{Key: "_id", Value: 100 + round}, {Key: "id", Value: "T2"}, about})
		case 2:
			o.public = fmt.Sprintf(`{"year":{"$ne":%d}}`, 2020+round)
		}
		// A record without the field, and with an _id like no other, shows that there was a change.
		s.set(dated(bson.Timestamp{T: uint32(round + 1)}, 2025, nil, "T1"))
	}
	time.Sleep(2 * time.Minute)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	scheduled := len(d.outcomes)
	for _, out := range d.outcomes {
		if out.Err != nil || out.Skipped > 0 {
			t.Fatalf("%+v", out)
		}
	}
	outs, err := s.runner.RunOnce(context.Background(), materialize.Request{Full: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range outs {
		if out.Result != materialize.Unchanged || out.Drifted || out.Scanned != len(s.sources["activities"]) {
			t.Fatalf("a full run after %d runs: %+v", scheduled, out)
		}
	}
}

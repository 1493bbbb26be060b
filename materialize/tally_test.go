package materialize_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/cache/origin"
	"vitrine/materialize"
	"vitrine/rules/spectrum"
)

// tallied are the jobs of activities and of their spectrum.
func tallied() []materialize.Job {
	o := &marked{public: `{}`}
	return []materialize.Job{markedJob(o),
		materialize.Spectrum(materialize.SpectrumOptions{Options: spectrum.Options{Render: byAda}})}
}

// runBoth runs both jobs once and returns the outcome of the spectrum.
func runBoth(t testing.TB, r *materialize.Runner, q materialize.Request) materialize.Outcome {
	t.Helper()
	outs, err := r.RunOnce(t.Context(), q, nil)
	if err != nil || len(outs) != 2 {
		t.Fatalf("RunOnce: %d outcomes, error %v", len(outs), err)
	}
	return outs[1]
}

// hostileActivity draws an activity in which values have wrong types.
func hostileActivity(t *rapid.T, id int) bson.Raw {
	pick := func(label string, values ...any) any { return rapid.SampledFrom(values).Draw(t, label) }
	topics := bson.A{}
	for range rapid.IntRange(0, 4).Draw(t, "topics") {
		topics = append(topics, pick("assignment", m{
			{Key: "id", Value: pick("topic", "T1", "T1", "T2", "T3", "", int32(1), nil)},
			{Key: "name", Value: pick("name", "one", "two", int32(3))},
			{Key: "score", Value: pick("score", 0.9, 0.8, 0.79, "0.9", int64(1), nil)},
		}, m{}, "T1", nil))
	}
	record := m{
		{Key: "_id", Value: int32(id)},
		{Key: "affiliated", Value: pick("affiliated", true, true, true, "yes", int32(1))},
		{Key: "year",
			Value: pick("year", int32(2020), int32(2021), int64(2022), 2023.0, "2023", bson.A{int32(2024)}, nil)},
		{Key: "units", Value: pick("units", bson.A{"A"}, bson.A{"A", "A", "B"}, "A", nil)},
		{Key: "catalog",
			Value: pick("catalog", m{{Key: "topics", Value: topics}}, m{{Key: "topics", Value: topics}}, m{}, "x")},
		{Key: "rendered", Value: pick("rendered",
			m{{Key: "users", Value: bson.A{"ada", "ada", "bob"}}, {Key: "web", Value: "w"}}, m{}, nil)},
	}
	if rapid.IntRange(0, 9).Draw(t, "not a row") == 0 {
		record = append(record, bson.E{Key: "broken", Value: true})
	}
	return doc(record)
}

// TestChangedActivitiesGiveTheSpectrumOfAll inserts, updates and deletes random activities. After each run the rows
// are those of a first run on an empty store, byte for byte, and a run reads all activities once, for their own rows.
func TestChangedActivitiesGiveTheSpectrumOfAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		store := newFakeStore()
		fillHouse(store)
		r := newRunner(t, materialize.Options{Store: store, Jobs: tallied()})
		activities := map[int]bson.Raw{}
		for run := range rapid.IntRange(2, 6).Draw(rt, "runs") {
			for _, id := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 30).Draw(rt, "changed") {
				if activities[id] = hostileActivity(rt, id); rapid.IntRange(0, 3).Draw(rt, "deleted") == 0 {
					delete(activities, id)
				}
			}
			store.sources["activities"] = slices.Collect(maps.Values(activities))
			want := 1
			q := materialize.Request{Full: rapid.IntRange(0, 5).Draw(rt, "full") == 0}
			if run == 0 || q.Full {
				want = 2
			}
			if rapid.IntRange(0, 9).Draw(rt, "a person") == 0 {
				store.replace("persons",
					m{{Key: "_id", Value: 1},
						{Key: "username", Value: rapid.SampledFrom([]string{"ada", "bob"}).Draw(rt, "username")},
						{Key: "last", Value: fmt.Sprint(run)}})
				want = 2
			}
			before := store.scanned["activities"]
			if out := runBoth(t, r, q); out.Err != nil || out.Drifted || out.Scanned != len(activities) ||
				out.Skipped != 0 {
				rt.Fatalf("%+v", out)
			}
			if got := store.scanned["activities"] - before; got != want {
				rt.Fatalf("run %d read all activities %d times, want %d", run, got, want)
			}
			fresh := newFakeStore()
			fresh.sources = store.sources
			runBoth(t, newRunner(t, materialize.Options{Store: fresh, Jobs: tallied()}), materialize.Request{})
			got, whole := liveRows(t, store, "spectrum"), liveRows(t, fresh, "spectrum")
			if !maps.EqualFunc(got, whole, func(a, b bson.Raw) bool { return string(a) == string(b) }) {
				rt.Fatalf("run %d: got %v, want %v", run, got, whole)
			}
		}
	})
}

// TestSpectrumReadsAllAgain: a run reads all activities if it cannot know what has changed since the last one.
func TestSpectrumReadsAllAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		between func(t *testing.T, store *fakeStore, r *materialize.Runner) *materialize.Runner
		scans   int // of activities, by both jobs
	}{
		"a change": {nil, 1},
		"a deletion": {func(_ *testing.T, store *fakeStore, r *materialize.Runner) *materialize.Runner {
			store.sources["activities"] = store.sources["activities"][:12]
			return r
		}, 1},
		"another process": {func(t *testing.T, store *fakeStore, _ *materialize.Runner) *materialize.Runner {
			return newRunner(t, materialize.Options{Store: store, Jobs: tallied()})
		}, 2},
		"another process in between": {func(t *testing.T, store *fakeStore,
			r *materialize.Runner) *materialize.Runner {
			other := slices.Clone(store.sources["activities"])
			store.sources["activities"] = append(store.sources["activities"], doc(paper(99, 2025, "T1")))
			runBoth(t, newRunner(t, materialize.Options{Store: store, Jobs: tallied()}), materialize.Request{})
			store.sources["activities"] = other
			return r
		}, 2},
		"a failed run of activities": {func(t *testing.T, store *fakeStore,
			r *materialize.Runner) *materialize.Runner {
			store.onCommit = func() error { return errSilent }
			store.sources["activities"][3] = doc(paper(4, 2026, "T2"))
			_, _ = r.RunOnce(t.Context(), materialize.Request{Views: []string{"activities"}}, nil)
			store.onCommit = nil
			return r
		}, 2},
		"a damaged activity": {func(_ *testing.T, store *fakeStore, r *materialize.Runner) *materialize.Runner {
			n := 0
			store.onScan = func(_ context.Context, collection string) error {
				if n++; collection != "activities" || n%15 != 0 {
					return nil
				}
				return &origin.DamagedError{Collection: collection,
					ID: bson.RawValue{Type: bson.TypeInt32, Value: []byte{15, 0, 0, 0}}}
			}
			return r
		}, 2},
		"an activity that cannot be read": {
			func(t *testing.T, store *fakeStore, r *materialize.Runner) *materialize.Runner {
				store.sources["activities"] = append(store.sources["activities"],
					bson.Raw("\x0e\x00\x00\x00\x10_id\x00\x63\x00\x00\x00\x7f"))
				return r
			}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			store := newFakeStore()
			fillHouse(store)
			var all []any
			for n := range int32(15) {
				all = append(all, paper(n+1, 2010+n, "T1"))
			}
			store.replace("activities", all...)
			r := newRunner(t, materialize.Options{Store: store, Jobs: tallied()})
			runBoth(t, r, materialize.Request{})
			if tt.between != nil {
				r = tt.between(t, store, r)
			}
			store.sources["activities"][2] = doc(paper(3, 2024, "T2"))
			before := store.scanned["activities"]
			runBoth(t, r, materialize.Request{})
			if got := store.scanned["activities"] - before; got != tt.scans {
				t.Errorf("%d scans, want %d", got, tt.scans)
			}
		})
	}
}

// TestFullRunFindsADrift: a full run reports and mends rows that are not those of a whole reading.
func TestFullRunFindsADrift(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	store.replace("activities", paper(1, 2024, "T1"), paper(2, 2024, "T2"))
	rendered := "<b>paper</b>"
	jobs := tallied()
	jobs[1] = materialize.Spectrum(
		materialize.SpectrumOptions{Options: spectrum.Options{Render: func(bson.Raw) (bson.Raw, error) {
			return doc(m{{Key: "web", Value: rendered}}), nil
		}}}) // its fingerprint does not tell that it changes
	r := newRunner(t, materialize.Options{Store: store, Jobs: jobs})
	runBoth(t, r, materialize.Request{})
	store.replace("activities", paper(1, 2024, "T1"), paper(2, 2025, "T2"), paper(3, 2025, "T2"))
	if out := runBoth(t, r, materialize.Request{Full: true}); out.Drifted || out.Skipped > 0 || out.Changed != 2 {
		t.Errorf("before: %+v", out)
	}
	rendered = "<i>paper</i>"
	if out := runBoth(t, r, materialize.Request{Full: true}); !out.Drifted || out.Result != materialize.Published ||
		out.Changed != 2 || out.Skipped != 1 {
		t.Errorf("a drift: %+v", out)
	}
	if meta, err := store.Meta(t.Context(), "spectrum"); err != nil || len(meta.Health.Skips) != 1 {
		t.Errorf("health %+v, %v", meta.Health, err)
	}
	before := store.scanned["activities"]
	for _, full := range []bool{false, true} {
		if out := runBoth(t, r, materialize.Request{Full: full}); out.Drifted || out.Skipped != 0 {
			t.Errorf("after: %+v", out)
		}
	}
	if got := store.scanned["activities"] - before; got != 4 {
		t.Errorf("%d scans after a drift, want 4", got)
	}
}

// TestSpectrumFollowsActivities: when the job of activities has found changes, that of the spectrum runs, even if
// nothing else requests it.
func TestSpectrumFollowsActivities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		fillHouse(store)
		store.replace("activities", paper(1, 2024, "T1"))
		r := newRunner(t, materialize.Options{Store: store, Jobs: tallied()})
		stop := started(t, r)
		time.Sleep(time.Minute)
		store.replace("activities", paper(1, 2024, "T1"), paper(2, 2024, "T1"))
		if _, err := r.Refresh(t.Context(), materialize.Request{Views: []string{"activities"}}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		stop()
		if _, topics := spectrumIn(t, store, time.Now()); topics["T1"].Count != 2 ||
			store.scanned["activities"] != 3 {
			t.Errorf("%+v after %d scans", topics, store.scanned["activities"])
		}
	})
}

// TestSpectrumOfARowThatCameBack: an activity that could not become a row for a while is again what it was.
func TestSpectrumOfARowThatCameBack(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	r := newRunner(t, materialize.Options{Store: store, Jobs: tallied()})
	for _, topics := range [][]string{{"T1"}, {"T2", "broken"}, {"T1"}} {
		record := paper(1, 2024, topics[0])
		if len(topics) > 1 {
			record = append(record, bson.E{Key: topics[1], Value: true})
		}
		store.replace("activities", record)
		runBoth(t, r, materialize.Request{})
		if _, rows := spectrumIn(t, store, time.Now()); len(rows) != 1 || rows[topics[0]].Count != 1 {
			t.Errorf("rows %v, want one of %s", rows, topics[0])
		}
	}
	if got := store.scanned["activities"]; got != 4 {
		t.Errorf("%d scans, want 4", got)
	}
}

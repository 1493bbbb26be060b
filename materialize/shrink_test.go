package materialize_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// records returns n records with ids from 0 on.
func records(n int32) []any {
	docs := []any{}
	for i := range n {
		docs = append(docs, append(rec(i, "x"), m{{Key: "mark", Value: ""}}...))
	}
	return docs
}

// wantHeld fails the test unless a run was held for a reason with the given words.
func wantHeld(t *testing.T, out materialize.Outcome, words string) {
	t.Helper()
	if h := out.Meta.Health; out.Result != materialize.Held || h.Status != origin.HealthHeld ||
		!strings.Contains(h.Error, words) {
		t.Fatalf("%s, health %s %q; want it held: %s", out.Result, h.Status, h.Error, words)
	}
}

// A run is held if a source collection shrinks too much, even if the rows stay.
func TestShrinkingDependencyIsHeld(t *testing.T) {
	for _, of := range []string{"marks", "records"} {
		t.Run(of, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, store house) {
				s := &shouting{rules: "!", deps: []string{"marks"}}
				job := s.job()
				if of == "records" { // a summary keeps its rows even if records go
					job.Rows, job.Summarize = nil, lengths
				}
				r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job},
					Materialize: configs.Materialize{MaxShrink: 0.2}})
				store.replace("marks", records(10)...)
				store.replace("records", records(10)...)
				once(t, r, materialize.Request{})
				store.replace(of, records(8)...)
				if out := once(t, r, materialize.Request{}); out.Result == materialize.Held {
					t.Fatalf("a permitted run: %v", out.Err)
				}
				before := loud(t, store)
				for range 2 { // a second try is held, too
					store.replace(of, records(1)...)
					wantHeld(t, once(t, r, materialize.Request{}),
						"collection "+of+" has 1 records and had 10 within the last day")
				}
				wantLoud(t, store, before)
				if out := once(t, r, materialize.Request{Force: true}); out.Result != materialize.Published {
					t.Fatalf("forced: %s, %v", out.Result, out.Err)
				}
				if out := once(t, r, materialize.Request{}); out.Result != materialize.Unchanged {
					t.Errorf("after a forced run: %s, %v", out.Result, out.Err)
				}
			})
		})
	}
}

// TestSettingsMayShrink: a collection of settings may lose any of its documents but the last, in every job that reads
// it, though only one declares it.
func TestSettingsMayShrink(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		loud := &shouting{rules: "!", deps: []string{"marks"}}
		other, quietly := loud.job(), loud.job()
		other.View, other.Settings = "other", []string{"marks"}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{quietly, other},
			Materialize: configs.Materialize{MaxShrink: 0.2}})
		run := func(settings int32, q materialize.Request) []materialize.Outcome {
			t.Helper()
			store.replace("marks", records(settings)...)
			outs, err := r.RunOnce(t.Context(), q, nil)
			if err != nil || len(outs) != 2 {
				t.Fatalf("RunOnce: %d outcomes, %v", len(outs), err)
			}
			return outs
		}
		store.replace("records", records(10)...)
		run(6, materialize.Request{})
		for _, settings := range []int32{4, 1} {
			for _, out := range run(settings, materialize.Request{}) {
				if out.Result == materialize.Held {
					t.Errorf("%d settings: view %s: %v", settings, out.View, out.Err)
				}
			}
		}
		for _, out := range run(0, materialize.Request{}) {
			wantHeld(t, out, "collection marks has 0 records and had 6 within the last day")
		}
		for _, out := range run(0, materialize.Request{Force: true}) {
			if out.Result == materialize.Held {
				t.Errorf("forced: view %s: %v", out.View, out.Err)
			}
		}
	})
}

// Many small steps within a day count like a large one. A run that was held, or failed, does not
// change the count that later ones are compared with; a day later, or by force, the view may shrink
// further.
func TestSlowErosionIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		job := idle("a")
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job},
			Materialize: configs.Materialize{MaxShrink: 0.2}})
		run := func(n int32) materialize.Outcome {
			store.replace("a", records(n)...)
			return once(t, r, materialize.Request{})
		}
		for n := int32(1000); n >= 800; n -= 50 {
			if out := run(n); out.Result != materialize.Published {
				t.Fatalf("%d: %s, %v", n, out.Result, out.Err)
			}
			time.Sleep(time.Hour)
		}
		wantHeld(t, run(790), "would leave 790 of the 1000 rows of the last day")
		store.onScan = func(context.Context, string) error { return errors.New("connection refused") }
		run(790)
		store.onScan = nil
		wantHeld(t, run(790), "790 of the 1000 rows")
		time.Sleep(22 * time.Hour)
		if out := run(790); out.Result != materialize.Published {
			t.Fatalf("a day later: %s, %v", out.Result, out.Err)
		}
		time.Sleep(30 * 24 * time.Hour)
		wantHeld(t, run(600), "would remove 190 of 790 rows")
		if out, err := r.RunOnce(t.Context(), materialize.Request{Force: true}, nil); err != nil ||
			out[0].Result != materialize.Published {
			t.Fatalf("forced: %v, %v", out, err)
		}
		if out := run(500); out.Result != materialize.Published {
			t.Errorf("after a forced run: %s, %v", out.Result, out.Err)
		}
		if meta, _ := store.Meta(t.Context(), "a"); len(meta.Health.Counts) != 2 ||
			len(meta.Health.Counts[0].Peaks) > 3 {
			t.Errorf("counts: %+v", meta.Health.Counts)
		}
	})
}

func TestShrinkingCatalogueFileIsHeld(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	topics := []bson.Raw{doc(m{{Key: "id", Value: "T1"}}), doc(m{{Key: "id", Value: "T2"}})}
	job := materialize.Spectrum(materialize.SpectrumOptions{Catalogue: func(context.Context) ([]bson.Raw, error) {
		return topics, nil
	}})
	r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job},
		Materialize: configs.Materialize{MaxShrink: 0.2}})
	once(t, r, materialize.Request{})
	topics = topics[:1]
	wantHeld(t, once(t, r, materialize.Request{}), "collection catalog.file has 1 records and had 2")
}

package materialize_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
)

// sifting counts how often a collection is read whole.
type sifting struct {
	boltHouse
	times int
}

func (s *sifting) Sift(ctx context.Context, collection string, want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	s.times++
	return s.boltHouse.Sift(ctx, collection, want)
}

// TestRunsReadOnlyChanges: with the embedded store a run reads only changed records, and makes the same view as one that
// reads all. It reads all after a run that skipped a record, and if a dependency has changed.
func TestRunsReadOnlyChanges(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 1))
	store := &sifting{boltHouse: openBolt(t)}
	r := newRunner(t, materialize.Options{Store: store, Versioner: store, Jobs: []materialize.Job{(&shouting{rules: "!", deps: []string{"marks"}}).job()}})
	source := map[int32]string{}
	mark, sound := "", false // the last run knew its inputs, and skipped nothing
	for step := range 300 {
		id, text := dice.Int32N(40), fmt.Sprint("text ", step)
		whole := !sound
		switch dice.IntN(12) {
		case 0:
			delete(source, id)
			if _, err := store.Retain(t.Context(), "records", func(v bson.RawValue) bool { return v.Int32() != id }); err != nil {
				t.Fatal(err)
			}
			continue // a run may follow several changes
		case 1:
			mark, whole = text, true
			store.replace("marks", m{{Key: "_id", Value: 1}, {Key: "mark", Value: mark}})
		case 2:
			text = "hidden"
			fallthrough
		case 3:
			if text != "hidden" && dice.IntN(3) == 0 {
				text = "refused"
			}
			fallthrough
		default:
			source[id] = text
			if _, err := store.Upsert(t.Context(), "records", []bson.Raw{doc(rec(id, text))}); err != nil {
				t.Fatal(err)
			}
		}
		want, refused, before := map[int32]string{}, 0, loud(t, store)
		for id, text := range source {
			switch text {
			case "hidden":
			case "refused":
				if refused++; before[id] != "" {
					want[id] = before[id]
				}
			default:
				want[id] = text + "!" + mark
			}
		}
		store.times = 0
		out := once(t, r, materialize.Request{})
		wantLoud(t, store, want)
		if out.Scanned != len(source) || out.Skipped != refused || (store.times > 0) != whole {
			t.Fatalf("step %d: %d of %d records scanned, %d of %d skipped, read whole %d times, want %t", step, out.Scanned, len(source), out.Skipped, refused, store.times, whole)
		}
		sound = refused == 0 && len(source) > 0
		if refused > 0 && dice.IntN(2) == 0 { // repair it
			for id, text := range source {
				if text == "refused" {
					source[id] = "repaired"
					if _, err := store.Upsert(t.Context(), "records", []bson.Raw{doc(rec(id, "repaired"))}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

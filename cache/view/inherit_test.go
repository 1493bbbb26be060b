package view_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/filter"
)

// TestFoldsInheritWhatIsInUse: a snapshot of folded segments, and one after a few changed rows, has
// the indexes that queries had built before it is shown. The set gives up building them after a time, which does not
// pass on the clock of the test.
func TestFoldsInheritWhatIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		publish := func(n, year int) {
			var docs []bson.D
			for i := range n {
				docs = append(docs, thing(fmt.Sprintf("id%04d", i), year, fmt.Sprint("Title ", i)))
			}
			s.publish(docs)
		}
		publish(3000, 2000)
		r := run(t, s, view.Options{Poll: time.Hour})
		ask := func(snap *view.Snapshot, year int) {
			t.Helper()
			ids(t, snap, fmt.Sprintf(`{"year": %d}`, year))
			ids(t, snap, `{"title": {"$regex": "e 1", "$options": "i"}}`)
			ids(t, snap, `{"title": {"$regex": "e 1"}}`)
			ids(t, snap, `{"author.name": null}`)
			every, err := snap.Select(context.Background(), filter.All())
			if err != nil {
				t.Fatal(err)
			}
			if groups, err := every.Group(context.Background(), "year", ""); err != nil || len(groups) == 0 {
				t.Fatalf("groups %v, error %v", groups, err)
			}
		}
		ask(<-r.swaps, 2000)
		used := r.Status()[0].IndexPaths // three indexes, two joined texts, a column
		if used != 6 {
			t.Fatalf("%d paths are indexed, want 6", used)
		}
		for i, step := range []struct{ rows, segments int }{{10, 2}, {10, 3}, {2500, 1}, {3000, 1}} {
			publish(step.rows, 2001+i)
			snap := r.next()
			st := r.Status()[0]
			if st.Segments != step.segments || st.IndexPaths != used*step.segments {
				t.Errorf("%d rows changed: %d paths in %d segments before any query, want %d in %d",
					step.rows, st.IndexPaths, st.Segments, used*step.segments, step.segments)
			}
			ask(snap, 2001+i)
			if after := r.Status()[0].IndexPaths; after != st.IndexPaths {
				t.Errorf("%d rows changed: queries built %d more", step.rows, after-st.IndexPaths)
			}
		}
	})
}

// TestHeirsAreTheLastUsed: if the budget cannot hold everything in use twice, the new snapshot
// inherits the most recently used parts and stays within the budget.
func TestHeirsAreTheLastUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const paths, limit = 8, 128 << 10
		s := newStore()
		publish := func(salt int) {
			var docs []bson.D
			for i := range 2000 {
				d := bson.D{{Key: "_id", Value: fmt.Sprintf("%04d", i)}}
				for f := range paths {
					d = append(d, bson.E{Key: fmt.Sprint("f", f), Value: int32((i*(f+1) + salt) % 7)})
				}
				docs = append(docs, d)
			}
			s.publish(docs)
		}
		publish(0)
		r := run(t, s, view.Options{Poll: time.Hour, IndexBudget: limit})
		snap := <-r.swaps
		for f := range paths {
			ids(t, snap, fmt.Sprintf(`{"f%d": 3}`, f))
		}
		before := r.Status()[0]
		publish(1) // replaces every row: the set folds the segments
		snap = r.next()
		after := r.Status()[0]
		if after.IndexPaths == 0 || after.IndexPaths > before.IndexPaths || after.IndexBytes > limit {
			t.Errorf("%d paths of %d bytes were in use, the snapshot inherited %d of %d; limit %d",
				before.IndexPaths, before.IndexBytes, after.IndexPaths, after.IndexBytes, limit)
		}
		for f := paths - after.IndexPaths; f < paths; f++ {
			ids(t, snap, fmt.Sprintf(`{"f%d": 3}`, f))
		}
		if got := r.Status()[0].IndexPaths; got != after.IndexPaths {
			t.Errorf("%d paths after queries on the last %d: the snapshot inherited others", got, after.IndexPaths)
		}
	})
}

// TestSearchedPathsAreReady: the first snapshot, once it is warm, and all later ones have the index and the texts of
// a searched path.
func TestSearchedPathsAreReady(t *testing.T) {
	s := newStore()
	s.publish([]bson.D{thing("a", 2000, "Ärger"), thing("b", 2000, "Bär")})
	warm := make(chan struct{})
	r := run(t, s, view.Options{
		Poll: time.Hour, Views: []index.Definition{{Name: "things", Searched: []string{"title"}}},
		OnLoaded: func() { close(warm) },
	})
	snap := <-r.swaps
	<-warm
	for segments := 1; segments <= 2; segments++ {
		ready := r.Status()[0].IndexPaths
		if ready != 2*segments {
			t.Errorf("%d indexed paths in %d segments before any query, want two each", ready, segments)
		}
		if got := ids(t, snap, `{"title": {"$regex": "BÄR", "$options": "i"}}`); len(got) != 1 {
			t.Errorf("found %v", got)
		}
		if got := r.Status()[0].IndexPaths; got != ready {
			t.Errorf("%d paths are indexed after a search, %d before", got, ready)
		}
		if segments == 1 {
			s.publish([]bson.D{thing("c", 2001, "C")})
			snap = r.next()
		}
	}
}

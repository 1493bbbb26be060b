package bench

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/report"
)

func count(t *testing.T, store origin.Source, collection string) (n int) {
	t.Helper()
	for _, err := range store.Scan(t.Context(), collection) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestBatches(t *testing.T) {
	store, failed := institute(t), errors.New("full")
	want := count(t, store, collectionActivities)
	for _, size := range []int{1, 7, want, want + 1} {
		got, largest := 0, 0
		err := Batches(store.Scan(t.Context(), collectionActivities), size, func(docs []bson.Raw) error {
			got, largest = got+len(docs), max(largest, len(docs))
			return nil
		})
		if err != nil || got != want || largest > size {
			t.Errorf("batches of %d: %d documents of %d, %d at once, %v", size, got, want, largest, err)
		}
		err = Batches(store.Scan(t.Context(), collectionActivities), size, func([]bson.Raw) error { return failed })
		if !errors.Is(err, failed) {
			t.Errorf("batches of %d: %v, want %v", size, err, failed)
		}
	}
	broken := func(yield func(bson.Raw, error) bool) { yield(nil, failed) }
	if err := Batches(broken, 7, func([]bson.Raw) error { return nil }); !errors.Is(err, failed) {
		t.Errorf("documents that cannot be read: %v", err)
	}
}

func TestMemoryOfARun(t *testing.T) {
	b := &bench{}
	b.Cases = []string{"list"}
	if err := b.memory(false); err != nil || b.run.Memory != (report.Memory{}) {
		t.Errorf("memory was measured, though it is not chosen: %v", err)
	}
}

func TestFile(t *testing.T) {
	for size, want := range map[int]string{0: "dir/bench.db", 7519: "dir/bench-7519.db"} {
		b := &bench{size: size}
		b.Dir = "dir"
		if got := b.file(); got != want {
			t.Errorf("size %d: %s, want %s", size, got, want)
		}
	}
}

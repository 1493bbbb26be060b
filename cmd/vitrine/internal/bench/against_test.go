package bench

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/report"
)

// TestAskOther asks another store of the same records.
func TestAskOther(t *testing.T) {
	other := institute(t)
	b := benchOf(words(t))
	b.Cases, b.Against = []string{"users", "events", "funding", "filter-range"}, "mongodb://other"
	b.Program.Open = func(context.Context, string) (origin.Store, error) { return open{other}, nil }
	if err := b.askOther(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.asked["events"] != nil {
		t.Errorf("a case without a query was asked: %+v", b.asked["events"])
	}
	for _, name := range []string{"users", "users-id", "funding", "filter-range"} {
		if got := b.asked[name]; got == nil || got.P50 <= 0 || got.Error != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// open is a store that the test closes.
type open struct{ origin.Store }

func (open) Close() error { return nil }

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

func TestAskOtherRefuses(t *testing.T) {
	gone := errors.New("gone")
	for against, want := range map[string]error{"": nil, "mongodb://other": gone} {
		b := benchOf(few())
		b.Against = against
		b.Program.Open = func(context.Context, string) (origin.Store, error) { return nil, gone }
		if err := b.askOther(t.Context()); !errors.Is(err, want) {
			t.Errorf("against %q: %v, want %v", against, err, want)
		}
	}
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

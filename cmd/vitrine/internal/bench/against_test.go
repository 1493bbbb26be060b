package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/report"
)

// mongo is an embedded store that pretends to be a MongoDB-compatible server.
type mongo struct {
	origin.Store
	indexes []string
	refuses string // an index that it refuses
}

func (m *mongo) Insert(ctx context.Context, collection string, docs []bson.Raw) error {
	_, err := m.Upsert(ctx, collection, docs)
	return err
}

func (m *mongo) EnsureIndex(_ context.Context, collection string, keys bson.D) error {
	if keys[0].Key == m.refuses {
		return errors.New("too many indexes")
	}
	m.indexes = append(m.indexes, collection+"."+keys[0].Key)
	return nil
}

func (m *mongo) Close() error { return nil } // the test closes it

// TestAskOther copies an institute to another server and asks both: what the records of
// an earlier copy were does not matter.
func TestAskOther(t *testing.T) {
	store := institute(t)
	other := &mongo{Store: institute(t), refuses: "start_date"}
	old, err := bson.Marshal(bson.D{{Key: "_id", Value: "from an earlier copy"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Insert(t.Context(), copied+collectionPersons, []bson.Raw{old}); err != nil {
		t.Fatal(err)
	}
	v, err := collect(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(v)
	b.Cases, b.Against = []string{"users", "events", "funding"}, "mongodb://other"
	b.Program.Open = func(context.Context, string) (origin.Store, error) { return other, nil }
	if err := b.askOther(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{collectionActivities, collectionPersons, collectionProjects} {
		if got, want := count(t, other, copied+name), count(t, store, name); got != want {
			t.Errorf("the copy of %s has %d documents, want %d", name, got, want)
		}
	}
	if len(other.indexes) != len(indexes)-1 || !slices.Contains(other.indexes, copied+"persons.username") {
		t.Errorf("indexes %v", other.indexes)
	}
	if !slices.ContainsFunc(b.run.Notes, func(note string) bool { return strings.Contains(note, "no index on start_date: too many") }) {
		t.Errorf("notes %q", b.run.Notes)
	}
	if b.asked["events"] != nil {
		t.Errorf("a collection that was not copied was asked: %+v", b.asked["events"])
	}
	for _, name := range []string{"users", "users-id", "funding"} {
		if got := b.asked[name]; got == nil || got.P50 <= 0 || got.Error != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

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
	tests := []struct {
		name    string
		against string
		open    error
		want    string // in the error; "": none
	}{
		{"no other server", "", gone, ""},
		{"a server that does not answer", "mongodb://other", gone, "gone"},
		{"an embedded store", "bolt://other", nil, "is no MongoDB-compatible server"},
	}
	for _, tt := range tests {
		b := benchOf(few())
		b.Against = tt.against
		b.Program.Open = func(context.Context, string) (origin.Store, error) { return institute(t), tt.open }
		err := b.askOther(t.Context(), nil)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
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

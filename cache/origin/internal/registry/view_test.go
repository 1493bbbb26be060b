package registry

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// TestStored: a meta that was made storable comes back from BSON unchanged.
func TestStored(t *testing.T) {
	at := storedTime(time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.FixedZone("", 3600)))
	meta := origin.Meta{
		View: "persons", Epoch: "e", Generation: 7, Rows: 3, Rules: "r", Published: at, Pruned: 2, Checked: at,
		Health: storable(origin.Health{
			Status: origin.HealthHeld, Error: "not \xff text", Started: at, Took: 1500 * time.Microsecond,
			Scanned: 4, Changed: 3, Removed: 2, Skipped: 1, Skips: []origin.Skip{{ID: "x", Reason: "has \xff in it"}},
			Counts: []origin.Count{{Records: 2, Peaks: []origin.Peak{{Hour: at, Records: 3}}},
				{Collection: "some.records"}},
		}),
	}
	if h := meta.Health; h.Error != "not ? text" || h.Skips[0].Reason != "has ? in it" {
		t.Errorf("text is not storable: %+v", h)
	}
	doc, err := bson.Marshal(meta)
	if err != nil {
		t.Fatal(err)
	}
	var got origin.Meta
	if err := bson.Unmarshal(doc, &got); err != nil || !reflect.DeepEqual(got, meta) {
		t.Errorf("stored and read: %+v, %v; want %+v", got, err, meta)
	}
	for _, field := range []string{"_id", "epoch", "gen", "rows", "rules", "published", "pruned", "checked",
		"health"} {
		if _, err := bson.Raw(doc).LookupErr(field); err != nil {
			t.Errorf("the stored meta lacks %s, which earlier versions have", field)
		}
	}
}

// TestStorableLeavesItsArgument: Storable does not change the caller's list.
func TestStorableLeavesItsArgument(t *testing.T) {
	h := origin.Health{Skips: make([]origin.Skip, origin.MaxSkips+5)}
	for i := range h.Skips {
		h.Skips[i].Reason = strings.Repeat("x", 1000)
	}
	if got := storable(h); len(got.Skips) != origin.MaxSkips || len(got.Skips[0].Reason) != origin.MaxSkipText {
		t.Errorf("%d skips of %d bytes", len(got.Skips), len(got.Skips[0].Reason))
	}
	if len(h.Skips) != origin.MaxSkips+5 || len(h.Skips[0].Reason) != 1000 {
		t.Error("the argument was changed")
	}
}

func TestNext(t *testing.T) {
	last := time.Date(2024, 2, 29, 12, 0, 0, 700_000_000, time.UTC)
	second := last.Truncate(time.Second).Add(time.Second)
	for _, c := range []struct {
		name      string
		now, want time.Time
	}{
		{"much later", last.Add(time.Hour), last.Add(time.Hour)},
		{"in the same second", last.Add(100 * time.Millisecond), second},
		{"by a clock that is behind", last.Add(-time.Hour), second},
		{"in the next second", last.Add(time.Second), last.Add(time.Second)},
		{"finer than a store's times", last.Add(time.Hour + time.Microsecond), last.Add(time.Hour)},
	} {
		if got := nextTime(last, c.now); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

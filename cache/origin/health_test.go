package origin_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/cache/origin"
)

var healthTests = map[string]func(*testing.T, harness){
	"the outcome of a run is recorded":       testHealth,
	"the list of skipped records is bounded": testSkips,
	"every view has its own meta":            testMetas,
}

func testHealth(t *testing.T, h harness) {
	c := newClock()
	s := h.open(t, c.settings())
	l := acquire(t, s, "a")
	failed := origin.Health{Status: origin.HealthError, Error: "no such thing", Started: c.at,
		Took: 1500 * time.Microsecond}
	ok(t, s.SetHealth(t.Context(), view, l, failed))
	if got := must(s.Meta(t.Context(), view))(t); !reflect.DeepEqual(got.Health, failed) || got.Generation != 0 ||
		!got.Checked.IsZero() {
		t.Errorf("meta after a failed first run = %+v", got)
	}
	published := publish(t, s, l, 1, row(t, 1, 1))
	if published.Generation != 1 || !reflect.DeepEqual(published.Health, failed) {
		t.Errorf("meta after a publication = %+v, want generation 1 and the same health", published)
	}
	c.advance(time.Minute)
	well := origin.Health{Status: origin.HealthOK, Started: c.at, Took: time.Second, Scanned: 4, Changed: 3,
		Removed: 2, Skipped: 1,
		Skips: []origin.Skip{{ID: "x", Reason: "cannot be read"}},
		Counts: []origin.Count{{Records: 2, Peaks: []origin.Peak{{Hour: c.at, Records: 3}}},
			{Collection: "some.records"}}}
	ok(t, s.SetHealth(t.Context(), view, l, well))
	want := published
	want.Health, want.Checked = well, c.at
	if got := must(s.Meta(t.Context(), view))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("meta = %+v, want %+v", got, want)
	}
	c.advance(time.Minute)
	well.Forced = true
	ok(t, s.SetHealth(t.Context(), view, l, well))
	want.Checked, want.Forced, c.at = c.at, c.at, c.at.Add(time.Minute)
	held := origin.Health{Status: origin.HealthHeld, Error: "would shrink", Started: c.at}
	ok(t, s.SetHealth(t.Context(), view, l, held))
	want.Health = held
	if got := must(s.Meta(t.Context(), view))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("meta = %+v, want %+v", got, want)
	}
}

// testSkips checks the bounds on what a meta records: however many faults a job finds in records,
// the meta stays small and can be stored.
func testSkips(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	health := origin.Health{Status: origin.HealthOK, Error: "not \xff text", Skipped: 1 << 20}
	for i := range 3 * origin.MaxSkips {
		health.Skips = append(health.Skips,
			origin.Skip{ID: name(i) + strings.Repeat("ü", 1<<10),
				Reason: "has \xff\x00 in " + strings.Repeat("x", 1<<20)})
	}
	ok(t, s.SetHealth(t.Context(), view, l, health))
	got := must(s.Meta(t.Context(), view))(t).Health
	if got.Skipped != health.Skipped || len(got.Skips) != origin.MaxSkips || got.Error != "not ? text" {
		t.Fatalf("health = %d skipped, %d listed, error %q", got.Skipped, len(got.Skips), got.Error)
	}
	for i, skip := range got.Skips {
		if len(skip.ID) > origin.MaxSkipText || len(skip.Reason) > origin.MaxSkipText ||
			!strings.HasPrefix(skip.ID, name(i)+"ü") || !strings.HasPrefix(skip.Reason, "has ?\x00 in x") {
			t.Errorf("skip %d = %q", i, skip)
		}
	}
}

func testMetas(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	epochs := map[string]bool{}
	for _, name := range []string{"spectrum", "activities", "persons"} {
		p := must(s.Begin(t.Context(), name, l))(t)
		ok(t, p.Put(t.Context(), []origin.Row{row(t, name, 1)}))
		epochs[must(p.Commit(t.Context(), 1, ""))(t).Epoch] = true
	}
	names := []string{}
	for _, m := range must(s.Metas(t.Context()))(t) {
		names = append(names, fmt.Sprint(m.View, m.Generation))
	}
	same(t, "Metas", names, []string{"activities1", "persons1", "spectrum1"})
	if len(epochs) != 3 {
		t.Errorf("%d epochs of three views, want 3", len(epochs))
	}
}

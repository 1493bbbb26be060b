package materialize_test

import (
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/materialize"
)

func TestStatus(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store := newFakeStore()
	store.views["b"] = &fakeView{meta: origin.Meta{
		View: "b", Generation: 7, Rows: 3, Rules: "r", Published: now.Add(-time.Hour), Checked: now.Add(-time.Minute),
		Health: origin.Health{Status: "held", Error: "would remove 3 of 3 rows"},
	}}
	store.views["a"] = &fakeView{meta: origin.Meta{View: "a", Checked: now.Add(time.Minute)}} // a clock ahead of ours
	got, err := materialize.Status(t.Context(), store, now)
	if err != nil {
		t.Fatal(err)
	}
	want := []materialize.ViewStatus{
		{Meta: store.views["a"].meta},
		{Meta: store.views["b"].meta, Age: time.Hour, Unchecked: time.Minute},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

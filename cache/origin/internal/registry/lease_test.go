package registry

import (
	"errors"
	"testing"
	"time"

	"vitrine/cache/origin"
)

// TestEarlierVersions: an instance of an earlier version writes no revision and no term. Each
// of its renewals changes the end alone, and that is enough to keep its lease.
func TestEarlierVersions(t *testing.T) {
	var gone time.Duration
	w := NewLeases(nil, time.Now, func() time.Duration { return gone })
	d := Lease{Lease: origin.Lease{Name: "materialize", Holder: "old", Token: 7, Expires: time.Unix(0, 0)}}
	for range 5 {
		for range 3 {
			if err := w.free(d, "new", 30*time.Second); !errors.Is(err, origin.ErrLeaseHeld) {
				t.Fatalf("a renewed lease: %v", err)
			}
			gone += 9 * time.Second
		}
		d.Expires = d.Expires.Add(10 * time.Second)
	}
	if err := w.free(d, "new", 30*time.Second); !errors.Is(err, origin.ErrLeaseHeld) {
		t.Errorf("the last renewal: %v", err)
	}
	gone += 30 * time.Second
	if err := w.free(d, "new", 30*time.Second); err != nil {
		t.Errorf("no renewal for a whole term: %v", err)
	}
	if next := d.take("new", time.Unix(0, 0), time.Minute); next.Token != 8 || next.Term != time.Minute {
		t.Errorf("taken over: %+v", next)
	}
}

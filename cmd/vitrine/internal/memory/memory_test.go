package memory

import "testing"

func TestPercentOf(t *testing.T) {
	const gib = 1 << 30
	for _, tt := range []struct {
		percent int
		held    uint64
		want    int
	}{
		{50, 0, 50}, {50, 1 * gib, 50}, {50, 4 * gib, 50}, {50, 8 * gib, 25}, {400, 1 * gib, 200}, {50, 1 << 50, 1}, {10, 8 * gib, 10},
	} {
		if got := percentOf(tt.percent, tt.held); got != tt.want {
			t.Errorf("%d%% of %d bytes: %d%%, want %d%%", tt.percent, tt.held, got, tt.want)
		}
	}
}

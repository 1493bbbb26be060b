package purge_test

import (
	"strings"
	"testing"

	"vitrine/proxy/purge"
)

// TestLongTags: an id of any length has a tag of its own that fits the headers of all targets.
func TestLongTags(t *testing.T) {
	long := strings.Repeat("ü ", 5000)
	one, other := purge.Tag("unit", long+"1"), purge.Tag("unit", long+"2")
	if len(one) > 400 || len(purge.Tag("unit", long[:120])) > 400 || one == other ||
		one != purge.Tag("unit", long+"1") || !strings.HasPrefix(one, "unit-") {
		t.Errorf("%d bytes: %.300s and %.300s", len(one), one, other)
	}
}

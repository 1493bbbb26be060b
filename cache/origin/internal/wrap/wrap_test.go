package wrap_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"vitrine/cache/origin/internal/wrap"
)

func TestError(t *testing.T) {
	inner := errors.New("connection refused")
	read := func(fault error) (err error) {
		defer wrap.Error(&err, "meta of view %s since %d", "persons", 7)
		return fault
	}
	if err := read(nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
	err := read(inner)
	if want := "meta of view persons since 7: connection refused"; err == nil || err.Error() != want ||
		!errors.Is(err, inner) {
		t.Errorf("error = %v, want %q around the cause", err, want)
	}
}

func TestEach(t *testing.T) {
	inner := errors.New("connection refused")
	items := func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, inner) && yield(2, nil) }
	var got []string
	for item, err := range wrap.Each(items, "scan %s", "persons") {
		got = append(got, fmt.Sprint(item, " ", err))
		if item == 0 && !errors.Is(err, inner) {
			t.Errorf("error = %v", err)
		}
	}
	if want := []string{"1 <nil>", "0 scan persons: connection refused", "2 <nil>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for range wrap.Each(items, "scan") {
		break // the loop must not ask items for more
	}
}

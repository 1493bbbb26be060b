package wrap_test

import (
	"errors"
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
	if want := "meta of view persons since 7: connection refused"; err == nil || err.Error() != want || !errors.Is(err, inner) {
		t.Errorf("error = %v, want %q around the cause", err, want)
	}
}

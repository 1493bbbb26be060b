package flight_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vitrine/rules/flight"
)

// TestCallerLeaves: when the caller that started a run leaves, the run goes on for the others.
func TestCallerLeaves(t *testing.T) {
	var group flight.Group[string]
	began, end := make(chan bool), make(chan bool)
	work := func() (string, error) {
		close(began)
		<-end
		return "value", nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	first := make(chan error)
	go func() {
		_, err := group.Do(ctx, "key", work)
		first <- err
	}()
	<-began
	gone := errors.New("gone")
	cancel(gone)
	if err := <-first; !errors.Is(err, gone) {
		t.Errorf("the first caller: %v, want %v", err, gone)
	}
	go close(end)
	value, err := group.Do(t.Context(), "key", func() (string, error) { return "value", nil })
	if value != "value" || err != nil {
		t.Errorf("the second caller: %q, %v", value, err)
	}
}

func TestPanic(t *testing.T) {
	var group flight.Group[int]
	value, err := group.Do(t.Context(), "key", func() (int, error) { panic("oops") })
	if value != 0 || err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("%d, %v, want an error that names the panic", value, err)
	}
}

package citation

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"vitrine/rules/backoff"
)

// slow responds when a test releases it, or never if its client has hung up.
type slow struct {
	began chan struct{} // receives a value for each request
	let   chan struct{}
	page  http.HandlerFunc
}

func newSlow(t *testing.T) *slow {
	return &slow{began: make(chan struct{}, 100), let: make(chan struct{}), page: page(testPage(t, "profile.html"))}
}

func (s *slow) answer(w http.ResponseWriter, r *http.Request) {
	s.began <- struct{}{}
	select {
	case <-s.let:
		s.page(w, r)
	case <-r.Context().Done():
	}
}

func TestOneFlightForAQuestion(t *testing.T) {
	s := newSlow(t)
	index := newIndex(t, s.answer)
	client, _ := newTestClient(t, index, Options{})
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if profile, err := client.Profile(t.Context(), user); err != nil ||
				len(read(t, profile).Publications) != 3 {
				t.Errorf("Profile: %s, %v", profile.Text, err)
			}
		})
	}
	<-s.began
	close(s.let)
	callers.Wait()
	if got := len(index.asked()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

// A caller that hangs up does not cancel the query that it started.
func TestCallerHangsUp(t *testing.T) {
	s := newSlow(t)
	index := newIndex(t, s.answer)
	client, _ := newTestClient(t, index, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := client.Profile(ctx, user)
		gone <- err
	}()
	<-s.began
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that hung up: %v, want %v", err, context.Canceled)
	}
	close(s.let)
	if _, err := client.Profile(t.Context(), user); err != nil {
		t.Errorf("the next caller: %v", err)
	}
	if got := len(index.asked()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestTimeout(t *testing.T) {
	s := newSlow(t)
	index := newIndex(t, s.answer)
	client, _ := newTestClient(t, index, Options{Timeout: 50 * time.Millisecond})
	if _, err := client.Profile(t.Context(), user); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Profile: %v, want %v", err, ErrUnavailable)
	}
}

// TestCloseEndsPauses: a query that waits for its turn does not delay Close.
func TestCloseEndsPauses(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client := New(Options{Origin: index.url, Lifetime: time.Hour, MinInterval: time.Hour, Timeout: 3 * time.Hour})
	if _, err := client.Profile(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	waits := make(chan bool)
	client.sleep = func(ctx context.Context, d time.Duration) error {
		close(waits)
		return backoff.Sleep(ctx, d)
	}
	done := make(chan error)
	go func() {
		_, err := client.Document(t.Context(), user, "d")
		done <- err
	}()
	<-waits
	client.Close()
	if err := <-done; !errors.Is(err, ErrUnavailable) {
		t.Errorf("the waiting query: %v, want %v", err, ErrUnavailable)
	}
	if got := len(index.asked()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	if _, err := client.Profile(t.Context(), user); err != nil {
		t.Errorf("a kept answer after Close: %v", err)
	}
}

func TestCloseEndsRequests(t *testing.T) {
	s := newSlow(t)
	index := newIndex(t, s.answer)
	client, _ := newTestClient(t, index, Options{})
	done := make(chan error)
	go func() {
		_, err := client.Profile(t.Context(), user)
		done <- err
	}()
	<-s.began
	client.Close()
	if err := <-done; !errors.Is(err, ErrUnavailable) {
		t.Errorf("the request under way: %v, want %v", err, ErrUnavailable)
	}
	if _, err := client.Profile(t.Context(), "other"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a later call: %v, want %v", err, ErrUnavailable)
	}
}

package main

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// TestKilledServer kills the program again and again, while it loads the demo,
// materializes and serves: the store stays whole, and in the end the same is
// served as by a program that was never disturbed.
func TestKilledServer(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	undisturbed := startServer(t, t.TempDir(), "--demo").ready()
	_, want := undisturbed.get("/api/all-activities")
	undisturbed.kill()

	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 5))
	for range rounds {
		s := startServer(t, dir, "--demo", "--store", "bolt://v.db")
		<-time.After(time.Duration(rng.IntN(150)) * time.Millisecond) // anywhere in its start
		s.kill()
	}
	s := startServer(t, dir, "--demo", "--store", "bolt://v.db").ready()
	status, got := s.get("/api/all-activities")
	if status != http.StatusOK || got != want {
		t.Errorf("after %d kills: status %d, %d bytes; undisturbed %d bytes", rounds, status, len(got), len(want))
	}
}

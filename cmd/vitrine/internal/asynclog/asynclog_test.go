package asynclog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/cmd/vitrine/internal/asynclog"
)

// gate is an output that blocks until a test opens it.
type gate struct {
	open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

// TestBlockedOutput: while the output blocks, the log drops, counts and reports lines beyond the
// limit, and cuts no line.
func TestBlockedOutput(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	reported := 0
	w := asynclog.New(g, func(lines int) error {
		reported += lines
		_, err := io.WriteString(g, "dropped\n")
		return err
	})
	line := strings.Repeat("x", 99) + "\n"
	const lines = 40_000
	for range lines {
		if n, err := io.WriteString(w, line); n != len(line) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	dropped := int(w.Dropped())
	close(g.open)
	w.Close(t.Context())
	text := g.String()
	if written := strings.Count(text, line); written+dropped != lines || dropped == 0 {
		t.Errorf("%d lines written and %d dropped of %d", written, dropped, lines)
	}
	if reported != dropped || strings.Count(text, "\n") != strings.Count(text, line)+
		strings.Count(text, "dropped\n") {
		t.Errorf("%d lines dropped, %d reported", dropped, reported)
	}
	if _, err := io.WriteString(w, line); err != nil || int(w.Dropped()) != dropped+1 {
		t.Errorf("after Close: %v, %v dropped", err, w.Dropped())
	}
}

// TestCloseGivesUp: Close returns even if the output blocks for ever.
func TestCloseGivesUp(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	defer close(g.open)
	w := asynclog.New(g, nil)
	_, _ = io.WriteString(w, "line\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Close(ctx)
}

// TestOrder: lines of several goroutines come out whole, and those of one goroutine in their order.
func TestOrder(t *testing.T) {
	var out bytes.Buffer
	w := asynclog.New(&out, nil)
	const writers, lines = 8, 200
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for line := range lines {
				fmt.Fprintf(w, "%d %d %s\n", writer, line, strings.Repeat("x", 50))
			}
		})
	}
	all.Wait()
	w.Close(t.Context())
	next := [writers]int{}
	for line := range strings.Lines(out.String()) {
		var writer, n int
		if _, err := fmt.Sscanf(line, "%d %d "+strings.Repeat("x", 50)+"\n", &writer, &n); err != nil ||
			n != next[writer] {
			t.Fatalf("%q: %v, want line %d", line, err, next[writer])
		}
		next[writer]++
	}
	if w.Dropped() != 0 || slices.Min(next[:]) != lines {
		t.Errorf("%v dropped, written %v", w.Dropped(), next)
	}
}

// broken is an output that fails.
type broken struct{ pieces []int }

func (b *broken) Write(p []byte) (int, error) {
	b.pieces = append(b.pieces, len(p))
	return 0, io.ErrClosedPipe
}

// TestFailedWrites: lines that cannot be written count as dropped. Each write is small enough for a
// pipe to take it whole, or a single longer line.
func TestFailedWrites(t *testing.T) {
	b := &broken{}
	w := asynclog.New(b, nil)
	long := strings.Repeat("y", 5000) + "\n"
	_, _ = io.WriteString(w, strings.Repeat(strings.Repeat("x", 999)+"\n", 10)+long+"end without a line break")
	w.Close(t.Context())
	if got := w.Dropped(); got != 11 {
		t.Errorf("%v lines dropped, want 11", got)
	}
	if want := []int{4000, 4000, 2000, 5001, 24}; !slices.Equal(b.pieces, want) {
		t.Errorf("pieces of %v bytes, want %v", b.pieces, want)
	}
}

// TestUnblock: Unblock reopens only the process's own standard error.
func TestUnblock(t *testing.T) {
	var out bytes.Buffer
	if got := asynclog.Unblock(&out); got != io.Writer(&out) {
		t.Errorf("a buffer became %T", got)
	}
	r, file, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), file.Close() }()
	if got := asynclog.Unblock(file); got != io.Writer(file) {
		t.Errorf("another pipe became %v", got)
	}
}

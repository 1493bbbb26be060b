package asynclog_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/internal/asynclog"
)

// gate is an output that blocks until it is opened.
type gate struct {
	open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

// TestBlockedOutput checks that lines beyond the limit are dropped, counted and reported
// while the output blocks, and that no line is cut.
func TestBlockedOutput(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	w := asynclog.New(g)
	reported := 0
	w.ReportBy(func(lines int) error {
		reported += lines
		_, err := io.WriteString(w.Output(), "dropped\n")
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
	if reported != dropped || strings.Count(text, "\n") != strings.Count(text, line)+strings.Count(text, "dropped\n") {
		t.Errorf("%d lines dropped, %d reported", dropped, reported)
	}
	if _, err := io.WriteString(w, line); err != nil || int(w.Dropped()) != dropped+1 {
		t.Errorf("after Close: %v, %v dropped", err, w.Dropped())
	}
}

// TestCloseGivesUp checks that an output that blocks for ever does not block Close.
func TestCloseGivesUp(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	defer close(g.open)
	w := asynclog.New(g)
	_, _ = io.WriteString(w, "line\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Close(ctx)
}

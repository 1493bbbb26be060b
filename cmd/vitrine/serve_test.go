package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"vitrine/configs"
)

// stuck never ends by itself.
func stuck(end <-chan struct{}) { <-end }

// TestEndAnyway: the log names a goroutine that does not end, and the process ends without waiting
// for it.
func TestEndAnyway(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	defer close(end)
	go stuck(end)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	ctx, cancel := context.WithCancel(t.Context())
	times, exit := configs.Shutdown{Grace: time.Millisecond}, make(chan int)
	inTime := enforceShutdown(ctx, times, log, func(int) { t.Error("exit called though every goroutine ended in time") })
	inTime()
	enforceShutdown(ctx, times, log, func(code int) { exit <- code })
	cancel()
	if code := <-exit; code != 0 || !strings.Contains(out.String(), ".stuck(") {
		t.Errorf("exit code %d, logged %.1000s", code, out.String())
	}
}

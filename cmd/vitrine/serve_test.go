package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/metrics"
)

// stuck never ends by itself. It closes begun when it is there: a goroutine that has not run yet has no name.
func stuck(begun chan<- struct{}, end <-chan struct{}) {
	close(begun)
	<-end
}

// TestEndAnyway: the log names a goroutine that does not end, and the process ends without waiting
// for it. The log has room for some stacks, so that no other test may run meanwhile.
func TestEndAnyway(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	go stuck(begun, end)
	<-begun
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	ctx, cancel := context.WithCancel(t.Context())
	times, exit := configs.Shutdown{Grace: time.Millisecond}, make(chan int)
	inTime := enforceShutdown(ctx, times, log,
		func(int) { t.Error("exit called though every goroutine ended in time") })
	inTime()
	enforceShutdown(ctx, times, log, func(code int) { exit <- code })
	cancel()
	if code := <-exit; code != 0 || !strings.Contains(out.String(), ".stuck(") {
		t.Errorf("exit code %d, logged %.1000s", code, out.String())
	}
}

// TestSettled: the start is over when the job of each view has run, however often that of one view has.
func TestSettled(t *testing.T) {
	t.Parallel()
	r, settled := runProgram(t), 0
	p := &program{views: r.program.views, runner: r.program.runner, metrics: metrics.New(),
		onSettled: func() { settled++ }}
	finished := p.observer().Finished
	views := p.views.Status()
	for range 2 * len(views) {
		finished(materialize.Outcome{View: views[0].View})
	}
	for _, st := range views[1:] {
		if settled > 0 {
			t.Fatalf("settled before the job of %s has run", st.View)
		}
		finished(materialize.Outcome{View: st.View})
	}
	if settled != 1 {
		t.Errorf("settled %d times", settled)
	}
}

package main

import (
	"context"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"time"

	"vitrine/configs"
)

// minClosing is the least time for closing clients and stores; the machine may be busy
// with other work.
const minClosing = 2 * time.Second

// enforceShutdown ends the process if it still runs some time after ctx has ended:
// shutdown.delay, shutdown.grace, and a fifth of that, at least minClosing, for closing
// clients and stores. It logs the goroutines that are still busy. The stores survive this
// as they survive a crash. The caller calls the returned function when everything has ended
// in time.
func enforceShutdown(ctx context.Context, times configs.Shutdown, log *slog.Logger, exit func(code int)) (ended func()) {
	if times.Grace <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		after := times.Delay + times.Grace + max(times.Grace/5, minClosing)
		select {
		case <-done:
		case <-time.After(after):
			log.Error("still busy, ended all the same", "after", after, "goroutines", busy())
			exit(0)
		}
	})
	return func() { stop(); close(done) }
}

// busy lists the goroutines that keep the process from ending: for each goroutine in code
// of this program its state and its innermost function there.
func busy() []string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var all []string
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		head, calls, _ := strings.Cut(stack, "\n")
		if call := ownCall.FindString(calls); call != "" && !strings.Contains(call, "busy(") && len(all) < 32 {
			all = append(all, head+" "+call)
		}
	}
	return all
}

// ownCall matches the innermost call in code of this program.
var ownCall = regexp.MustCompile(`(?m)^(vitrine/|main\.).*`)

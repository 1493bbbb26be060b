package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
)

const (
	maxWaiting = 1 << 20         // bytes of output that wait to be written
	flushTime  = 2 * time.Second // for what waits when the program ends
	atomicPipe = 4096            // bytes that a pipe takes whole, beside other processes' (PIPE_BUF)
)

// detachLog makes a command's standard error asynchronous, and keeps SIGPIPE from
// ending the program: a log that is not read must not stop it.
func detachLog(cmd *cobra.Command) *asyncWriter {
	signal.Ignore(syscall.SIGPIPE)
	w := newAsyncWriter(unblockCrash(cmd.ErrOrStderr()))
	cmd.SetErr(w)
	return w
}

// flush waits until the asynchronous ones among outputs are written, or for flushTime.
func flush(outputs ...io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for _, w := range outputs {
		if a, ok := w.(*asyncWriter); ok {
			a.close(ctx)
		}
	}
}

// newLogger makes the log of a command, on its standard error, which reports the lines
// that it had to drop.
func newLogger(cmd *cobra.Command, cfg configs.Log) *slog.Logger {
	out := cmd.ErrOrStderr()
	if a, ok := out.(*asyncWriter); ok {
		a.reportBy(func(lines int) error {
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped", 0)
			r.Add("lines", lines)
			return newHandler(a.to, cfg).Handle(context.Background(), r)
		})
	}
	return slog.New(newHandler(out, cfg))
}

func newHandler(w io.Writer, cfg configs.Log) slog.Handler {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		level = slog.LevelInfo // unreachable: configs checks the level
	}
	o := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		o.ReplaceAttr = inSeconds
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// inSeconds gives durations a unit where they are read by programs: took=1.5s of the
// text form is "took_seconds":1.5.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}

// asyncWriter hands lines to a goroutine that writes them. Lines for which there is no
// room, or that cannot be written, are dropped and counted. It is safe for concurrent use.
type asyncWriter struct {
	to   io.Writer
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards what follows
	wake    sync.Cond  // there is something to write, or the end
	waiting []byte     // whole lines
	closed  bool
	dropped int // lines, since the start
	told    int // of them, reported
	report  func(lines int) error
}

// newAsyncWriter starts the goroutine; close ends it.
func newAsyncWriter(to io.Writer) *asyncWriter {
	w := &asyncWriter{to: to, done: make(chan struct{}), report: func(int) error { return nil }}
	w.wake.L = &w.mu
	go w.run()
	return w
}

// Write never blocks and never fails.
func (w *asyncWriter) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.waiting)+len(lines) > maxWaiting {
		w.dropped += lineCount(lines)
		return len(lines), nil
	}
	w.waiting = append(w.waiting, lines...)
	w.wake.Signal()
	return len(lines), nil
}

// reportBy sets what writes a report, after the last line before those that were dropped.
func (w *asyncWriter) reportBy(report func(lines int) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.report = report
}

// droppedLines counts since the start.
func (w *asyncWriter) droppedLines() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return float64(w.dropped)
}

// close ends the writer when everything is written, and waits for that until ctx ends.
// A goroutine that the system still blocks then ends with the process.
func (w *asyncWriter) close(ctx context.Context) {
	w.mu.Lock()
	w.closed = true
	w.wake.Signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

func (w *asyncWriter) run() {
	defer close(w.done)
	var lines []byte
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.waiting) == 0 && !w.closed {
			w.wake.Wait()
		}
		if len(w.waiting) == 0 {
			return
		}
		lines, w.waiting = w.waiting, lines[:0]
		untold, report := w.dropped-w.told, w.report
		w.mu.Unlock()
		failed := writeLines(w.to, lines)
		if failed > 0 || untold > 0 && report(untold) != nil {
			untold = 0
		}
		w.mu.Lock()
		w.dropped, w.told = w.dropped+failed, w.told+untold
	}
}

// writeLines writes lines in pieces that stay whole beside those of other processes, and
// returns how many failed.
func writeLines(to io.Writer, lines []byte) (failed int) {
	for len(lines) > 0 {
		end := bytes.LastIndexByte(lines[:min(len(lines), atomicPipe)], '\n') + 1
		if end == 0 {
			end = bytes.IndexByte(lines, '\n') + 1
		}
		if end == 0 {
			end = len(lines)
		}
		if _, err := to.Write(lines[:end]); err != nil {
			failed += lineCount(lines[:end])
		}
		lines = lines[end:]
	}
	return failed
}

func lineCount(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

// Package asynclog writes a program's output without ever waiting for its reader, because a log that is not read must
// not stop the program.
//
//	Write ─▶ waiting lines (bounded, else dropped and counted) ─▶ one goroutine ─▶ the output
package asynclog

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"sync"
	"time"
)

const (
	maxWaiting = 1 << 20 // bytes of output that wait to be written
	atomicPipe = 4096    // bytes that a pipe writes as a whole even if other processes write to it (PIPE_BUF)

	// pause is how long the goroutine collects lines after it has written some, because waking it for each line costs
	// more than to format the line.
	pause = 5 * time.Millisecond
)

// Writer passes lines to a goroutine that writes them. It drops and counts lines for which there is no room, or
// which cannot be written. It is safe for concurrent use. The zero value does not work: use New.
type Writer struct {
	to     io.Writer
	report func(lines int) error // if nil, dropped lines are only counted
	done   chan struct{}         // closed when the goroutine has ended

	mu       sync.Mutex // guards the following fields
	wake     sync.Cond  // signals that lines wait, or that Close was called
	closed   bool
	waiting  []byte // whole lines
	dropped  int    // lines dropped since the start
	reported int    // dropped lines that were reported
}

// New starts the goroutine; Close ends it. The goroutine calls report, which writes to the same output how many lines
// were dropped, in the place of those lines. If report is nil, dropped lines are only counted.
func New(to io.Writer, report func(lines int) error) *Writer {
	w := &Writer{to: to, report: report, done: make(chan struct{})}
	w.wake.L = &w.mu
	go w.run()
	return w
}

// Write never blocks and never fails.
func (w *Writer) Write(lines []byte) (int, error) {
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

// Dropped returns the number of lines dropped since the start.
func (w *Writer) Dropped() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return float64(w.dropped)
}

// Close ends the writer when everything is written, and waits for that until ctx ends. A goroutine that the system
// still blocks then ends with the process.
func (w *Writer) Close(ctx context.Context) {
	w.mu.Lock()
	w.closed = true
	w.wake.Signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

// run writes what waits, in turns of one buffer each: writers fill one while the other is written, so no lock is
// held during a write. It ends when Close was called and nothing waits.
func (w *Writer) run() {
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
		unreported := w.dropped - w.reported
		w.mu.Unlock()
		failed := writeLines(w.to, lines)
		if failed > 0 || w.report == nil || unreported > 0 && w.report(unreported) != nil {
			unreported = 0
		}
		time.Sleep(pause)
		w.mu.Lock()
		w.dropped, w.reported = w.dropped+failed, w.reported+unreported
	}
}

// writeLines writes lines in pieces that do not mix with those of other processes, and returns how many lines failed.
func writeLines(to io.Writer, lines []byte) (failed int) {
	for len(lines) > 0 {
		end := cmp.Or(bytes.LastIndexByte(lines[:min(len(lines), atomicPipe)], '\n')+1,
			bytes.IndexByte(lines, '\n')+1, len(lines))
		if _, err := to.Write(lines[:end]); err != nil {
			failed += lineCount(lines[:end])
		}
		lines = lines[end:]
	}
	return failed
}

func lineCount(b []byte) int { return bytes.Count(b, []byte{'\n'}) }

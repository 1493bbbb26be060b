// Package logging makes the program's log by its settings, and outputs that never wait for a reader.
package logging

import (
	"context"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/asynclog"
	"vitrine/configs"
)

// flushTime bounds how long the end of the program waits for log lines to be written.
const flushTime = 2 * time.Second

// Detach makes a command's standard error asynchronous and ignores SIGPIPE, so that the program continues when no
// process reads its log. It returns the log, which reports dropped lines, and its writer.
//
// The output is replaced in the command as well, so that errors that cobra or run print afterwards stay in the
// order of the log lines. The handler that reports dropped lines writes to the output itself: its line must not
// wait in the queue that has no room.
func Detach(cmd *cobra.Command, cfg configs.Log) (*slog.Logger, *asynclog.Writer) {
	signal.Ignore(syscall.SIGPIPE)
	out := asynclog.Unblock(cmd.ErrOrStderr())
	direct := NewHandler(out, cfg)
	w := asynclog.New(out, func(lines int) error {
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped", 0)
		r.Add("lines", lines)
		return direct.Handle(context.Background(), r)
	})
	cmd.SetErr(w)
	return slog.New(NewHandler(w, cfg)), w
}

// Flush waits until the asynchronous outputs are written, at most for flushTime. A log that no process reads would
// block for ever, and lines that are lost at the end are better than a process that does not end.
func Flush(outputs ...io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	for _, w := range outputs {
		if a, ok := w.(*asynclog.Writer); ok {
			a.Close(ctx)
		}
	}
}

// NewHandler returns the handler of the log by its settings: JSON, or lines of key=value pairs.
func NewHandler(w io.Writer, cfg configs.Log) slog.Handler {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Level)) // configs has checked the level
	if cfg.Format == "json" {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: inSeconds})
	}
	return textLog{slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}), w}
}

// textLog is a log in the text form. The server writes the lines of requests itself (proxy.Options.Logger). It
// finds the writer by an assertion of its type, so this type embeds both.
type textLog struct {
	slog.Handler
	io.Writer // safe for concurrent use
}

// inSeconds gives durations in JSON a unit: took=1.5s in the text form becomes "took_seconds":1.5. The handler
// would write a bare number of nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
	}
	return a
}

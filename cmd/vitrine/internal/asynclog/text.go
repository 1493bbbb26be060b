package asynclog

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// textHandler writes the lines of a slog.TextHandler without options but the level. It writes records of whole numbers,
// durations and texts of plain ASCII characters itself, in half of the time, and leaves others to the TextHandler.
type textHandler struct {
	slog.Handler
	to io.Writer
}

// NewTextHandler returns a handler that writes the same lines as a slog.TextHandler. Its output must be safe for
// concurrent use.
func NewTextHandler(to io.Writer, level slog.Leveler) slog.Handler {
	return textHandler{slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}), to}
}

// buffers is a pool of buffers for lines.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Handle implements slog.Handler.
func (h textHandler) Handle(ctx context.Context, r slog.Record) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	line := appendTime(append((*buffer)[:0], "time="...), r.Time)
	line = append(append(line, " level="...), r.Level.String()...)
	line, simple := appendText(append(line, " msg="...), r.Message)
	r.Attrs(func(a slog.Attr) bool {
		var plain bool
		line, plain = appendText(append(line, ' '), a.Key)
		simple = simple && plain
		switch line = append(line, '='); a.Value.Kind() {
		case slog.KindString:
			line, plain = appendText(line, a.Value.String())
		case slog.KindInt64:
			line = strconv.AppendInt(line, a.Value.Int64(), 10)
		case slog.KindDuration:
			line = append(line, a.Value.Duration().String()...)
		default:
			plain = false
		}
		simple = simple && plain
		return simple
	})
	*buffer = line
	if !simple || r.Time.IsZero() {
		return h.Handler.Handle(ctx, r)
	}
	_, err := h.to.Write(append(line, '\n'))
	return err
}

// appendTime appends a time with milliseconds.
func appendTime(dst []byte, t time.Time) []byte {
	const millis = len("2006-01-02T15:04:05.000")
	n := len(dst) + millis
	// The layout RFC3339Nano is fast, but leaves out zeros at the end: the fourth digit is there to keep them.
	dst = t.Truncate(time.Millisecond).Add(time.Millisecond/10).AppendFormat(dst, time.RFC3339Nano)
	return append(dst[:n], dst[n+1:]...)
}

// appendText appends a text, in quotes if it needs them. It reports whether the text has no characters that need an
// escape, or could.
func appendText(dst []byte, text string) (line []byte, plain bool) {
	quote := text == ""
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			return dst, false
		}
		quote = quote || c == ' ' || c == '='
	}
	if quote {
		return append(append(append(dst, '"'), text...), '"'), true
	}
	return append(dst, text...), true
}

package asynclog

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// textHandler writes the lines of a slog.TextHandler without options but the level. It writes records whose values are
// texts, whole numbers and durations itself, in half of the time, and leaves others to the TextHandler.
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
	line := append((*buffer)[:0], "time="...)
	line = appendTime(line, r.Time)
	line = append(append(line, " level="...), r.Level.String()...)
	line = appendText(append(line, " msg="...), r.Message)
	simple := !r.Time.IsZero()
	r.Attrs(func(a slog.Attr) bool {
		line = append(appendText(append(line, ' '), a.Key), '=')
		switch a.Value.Kind() {
		case slog.KindString:
			line = appendText(line, a.Value.String())
		case slog.KindInt64:
			line = strconv.AppendInt(line, a.Value.Int64(), 10)
		case slog.KindDuration:
			line = append(line, a.Value.Duration().String()...)
		default:
			simple = false
		}
		return simple
	})
	*buffer = line
	if !simple {
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

// appendText appends a text, in quotes if it is empty or could be misread.
func appendText(dst []byte, text string) []byte {
	quoted := text == ""
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' || c == '=':
			quoted = true
		case c < ' ' || c == '"' || c == '\\' || c > '~':
			if strings.ContainsFunc(text, misread) {
				return strconv.AppendQuote(dst, text)
			}
			return append(dst, text...)
		}
	}
	if !quoted {
		return append(dst, text...)
	}
	return append(append(append(dst, '"'), text...), '"')
}

// misread reports whether a character stands only within quotes.
func misread(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == '"' || r == '='
	}
	return r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r)
}

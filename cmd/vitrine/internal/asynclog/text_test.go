package asynclog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

	"vitrine/cmd/vitrine/internal/asynclog"
)

// FuzzText compares lines with those of a slog.TextHandler.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"", "plain", "two words", "a=b", `"quoted"`, `back\slash`, `back\slash and space`, "line\nbreak", "tab\t", "\x00", "\x7f", "\x7f ", "äöü", "ä ö",
		"\u00a0", "\u200b", "\ufffd", "\xff", "日本", "…", "/api/activities?limit=20&json=%7B%7D",
	} {
		f.Add(text, text, int64(20), int64(1234567))
		f.Add("msg", text, int64(math.MinInt64), int64(-1))
	}
	f.Fuzz(func(t *testing.T, message, text string, number, at int64) {
		var got, want bytes.Buffer
		ours := asynclog.NewTextHandler(&got, slog.LevelInfo)
		theirs := slog.Handler(slog.NewTextHandler(&want, &slog.HandlerOptions{Level: slog.LevelInfo}))
		record := func(level slog.Level, when time.Time, attrs ...slog.Attr) {
			r := slog.NewRecord(when, level, message, 0)
			r.AddAttrs(attrs...)
			for _, h := range []slog.Handler{ours, theirs} {
				if err := h.Handle(context.Background(), r); err != nil {
					t.Fatal(err)
				}
			}
		}
		when := time.Unix(at%1e11, number)
		record(slog.LevelInfo, when, slog.String("text", text), slog.Int64("number", number), slog.Duration("took", time.Duration(number)))
		record(slog.LevelWarn+1, when.UTC(), slog.String(text, text), slog.String("", text), slog.Attr{})
		record(slog.LevelError, time.Time{}, slog.String("text", text))
		record(slog.LevelInfo, when, slog.Any("error", errors.New(text)), slog.String("text", text))
		record(slog.LevelInfo, when, slog.Group(text, slog.String("text", text)), slog.Time("at", when), slog.Bool("yes", true))
		view := []slog.Attr{slog.String("view", text)}
		ours, theirs = ours.WithAttrs(view), theirs.WithAttrs(view)
		record(slog.LevelInfo, when, slog.String("text", text))
		if got.String() != want.String() {
			t.Errorf("lines\n%swant\n%s", &got, &want)
		}
		if ours.Enabled(t.Context(), slog.LevelDebug) || !ours.Enabled(t.Context(), slog.LevelInfo) {
			t.Error("another level")
		}
	})
}

// BenchmarkText writes the line of a request.
func BenchmarkText(b *testing.B) {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
	r.AddAttrs(slog.String("id", "8123456789abcdef"), slog.String("method", "GET"), slog.String("url", "/api/activities?limit=20"),
		slog.Int("status", 200), slog.Int("bytes", 13524), slog.Duration("took", 123456), slog.String("peer", "127.0.0.1"))
	for name, h := range map[string]slog.Handler{"ours": asynclog.NewTextHandler(discard{}, slog.LevelInfo), "slog": slog.NewTextHandler(discard{}, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := h.Handle(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

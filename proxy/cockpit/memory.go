package cockpit

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Runs remembers the runs of jobs in the last day, summed up by quarters of an hour. The zero value has none. It
// is safe for concurrent use. A day has 96 quarters, so that the memory for a view is bounded, however often its
// job runs.
type Runs struct {
	mu    sync.Mutex
	views map[string][]Slot // oldest first
}

// Slot sums up the runs of a view's job that ended in a quarter of an hour.
type Slot struct {
	At      int64   `json:"at"` // when it begins, in Unix seconds
	Runs    int     `json:"runs"`
	Worst   string  `json:"worst"` // outcome
	Changed int     `json:"changed"`
	Seconds float64 `json:"seconds"` // of all runs together
}

const (
	slotTime = 15 * time.Minute
	day      = 24 * time.Hour
)

// outcomes are the outcomes of runs, the worst last.
var outcomes = []string{"unchanged", "published", "missed", "stopped", "held", "error"}

// Record adds a run that ends now.
func (r *Runs) Record(view, outcome string, took time.Duration, changed int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.views == nil {
		r.views = map[string][]Slot{}
	}
	all, at := recent(r.views[view], now), now.Truncate(slotTime).Unix()
	if len(all) == 0 || all[len(all)-1].At < at {
		all = append(all, Slot{At: at})
	}
	last := &all[len(all)-1]
	last.Runs++
	last.Changed += changed
	last.Seconds += took.Seconds()
	if slices.Index(outcomes, outcome) >= slices.Index(outcomes, last.Worst) {
		last.Worst = outcome
	}
	r.views[view] = all
}

// recent returns the slots of the last day. It may change all.
func recent(all []Slot, now time.Time) []Slot {
	return slices.DeleteFunc(all, func(s Slot) bool { return s.At < now.Add(-day).Unix() })
}

// lastDay returns a copy.
func (r *Runs) lastDay(now time.Time) map[string][]Slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.views)
	for view := range all {
		all[view] = recent(slices.Clone(all[view]), now)
	}
	return all
}

// mostLines and mostText bound the journal, whose whole content is in every event.
const (
	mostLines = 50
	mostText  = 1000 // bytes of a value
)

// Journal remembers the last warnings and errors of the log. The zero value has none. It is safe for concurrent use.
type Journal struct {
	mu   sync.Mutex
	last []json.RawMessage // newest last
}

// Tee returns a handler that writes to h, and to the journal. It accepts whole lines if h does.
func (j *Journal) Tee(h slog.Handler) slog.Handler {
	both := slog.NewMultiHandler(h,
		slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: asText}))
	if w, ok := h.(io.Writer); ok {
		return struct {
			slog.Handler
			io.Writer
		}{both, w}
	}
	return both
}

// asText returns an attribute with its value as a short text.
func asText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		return a
	}
	text := a.Value.String()
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return slog.String(a.Key, text)
}

// Write implements io.Writer for Tee: line is one JSON object. slog calls Write once for each record, and reuses
// the memory of line.
func (j *Journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.last = append(j.last, bytes.Clone(line)); len(j.last) > mostLines {
		j.last = j.last[1:]
	}
	return len(line), nil
}

// lines returns a copy; nil for a nil journal.
func (j *Journal) lines() []json.RawMessage {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.last)
}

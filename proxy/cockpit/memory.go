package cockpit

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// Failures remembers how many requests failed in each minute of the last hour, so that the page also shows failures
// from before it was opened. The zero value has none. It is safe for concurrent use.
type Failures struct {
	mu      sync.Mutex
	minutes []Minute // oldest first
}

// Minute is a minute in which requests failed.
type Minute struct {
	At    int64 `json:"at"` // when it begins, in Unix seconds
	Count int   `json:"count"`
}

// Record adds a request that fails now.
func (f *Failures) Record(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, at := lastHour(f.minutes, now), now.Truncate(time.Minute).Unix()
	if len(all) == 0 || all[len(all)-1].At < at {
		all = append(all, Minute{At: at})
	}
	all[len(all)-1].Count++
	f.minutes = all
}

// lastHour returns the minutes of the last hour. It may change all.
func lastHour(all []Minute, now time.Time) []Minute {
	return slices.DeleteFunc(all, func(m Minute) bool { return m.At < now.Add(-time.Hour).Unix() })
}

// byMinute returns a copy; nil for nil.
func (f *Failures) byMinute(now time.Time) []Minute {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return lastHour(slices.Clone(f.minutes), now)
}

// These bound the journal, whose whole content is in every event.
const (
	mostEntries = 50
	mostLines   = 5    // of an entry
	mostText    = 1000 // bytes of a value
	mostNames   = 20   // values of an attribute that lines of an entry name
	mostName    = 100  // bytes of such a value
)

// naming are the attributes that say what a line is about.
var naming = []string{"view", "path", "key", "rule", "target", "collection", "setting", "field"}

// Journal remembers the last warnings and errors of the log. Lines that differ only in what they are about, or in
// words with a digit or a slash, such as times, paths and addresses, are one entry: otherwise one cause that repeats,
// or that all views have, would crowd out all others. The zero value has none. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	entries []entry // the one with the newest line is the last
	made    int     // entries so far
}

// entry has lines that repeat each other.
type entry struct {
	kind  string
	ID    int               `json:"id"` // the same in all events, unlike the place
	Count int               `json:"count"`
	First int64             `json:"first"` // when the first line was written, in Unix milliseconds
	Last  int64             `json:"last"`  // when the last line was written, too
	Lines []json.RawMessage `json:"lines"` // the last ones, newest last
	Names []names           `json:"names"` // what all lines are about
}

// names has the different values of a naming attribute, in the order in which they came.
type names struct {
	Attribute string   `json:"attribute"`
	Values    []string `json:"values"`
	More      bool     `json:"more"` // there are more than mostNames
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
	return slog.String(a.Key, cut(a.Value.String(), mostText))
}

// cut returns a text with at most so many bytes.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Write implements io.Writer for Tee: line is one JSON object. slog calls Write once for each record, and reuses
// the memory of line.
func (j *Journal) Write(line []byte) (int, error) {
	var attributes map[string]any
	if err := json.Unmarshal(line, &attributes); err != nil {
		return 0, err
	}
	now, kind := time.Now().UnixMilli(), kindOf(attributes)
	j.mu.Lock()
	defer j.mu.Unlock()
	e := entry{kind: kind, ID: j.made, First: now}
	if i := slices.IndexFunc(j.entries, func(e entry) bool { return e.kind == kind }); i >= 0 {
		e = j.entries[i]
		j.entries = slices.Delete(j.entries, i, i+1)
	} else if j.made++; len(j.entries) == mostEntries {
		j.entries = slices.Delete(j.entries, 0, 1)
	}
	e.Count++
	e.Last = now
	// A new slice, because events may still have the old one.
	e.Lines = append(slices.Clone(e.Lines[max(len(e.Lines)-mostLines+1, 0):]), bytes.Clone(line))
	e.Names = withNames(e.Names, attributes)
	j.entries = append(j.entries, e)
	return len(line), nil
}

// kindOf returns what lines that repeat each other have in common. An error may name what the line is about, too.
func kindOf(attributes map[string]any) string {
	about := map[string]bool{}
	for _, name := range naming {
		if value, ok := attributes[name].(string); ok {
			about[value] = true
		}
	}
	var kind strings.Builder
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		kind.WriteString(name)
		kind.WriteByte('\n')
		if slices.Contains(naming, name) {
			continue
		}
		for word := range strings.FieldsFuncSeq(fmt.Sprint(attributes[name]), betweenWords) {
			if !strings.ContainsAny(word, "0123456789/") && !about[strings.Trim(word, "'().,:;")] {
				kind.WriteString(word)
				kind.WriteByte(' ')
			}
		}
	}
	return kind.String()
}

func betweenWords(r rune) bool { return r == ' ' || r == '"' }

// withNames returns what an entry's lines are about after another one. It leaves all as it is, because events may
// still have it.
func withNames(all []names, attributes map[string]any) []names {
	for _, name := range naming {
		value, ok := attributes[name].(string)
		if !ok {
			continue
		}
		value = cut(value, mostName)
		i := slices.IndexFunc(all, func(n names) bool { return n.Attribute == name })
		if i < 0 {
			all = append(slices.Clip(all), names{Attribute: name, Values: []string{value}})
			continue
		}
		switch n := all[i]; {
		case n.More || slices.Contains(n.Values, value):
			continue
		case len(n.Values) == mostNames:
			n.More, all = true, slices.Clone(all)
			all[i] = n
		default:
			n.Values, all = append(slices.Clip(n.Values), value), slices.Clone(all)
			all[i] = n
		}
	}
	return all
}

// all returns a copy; nil for a nil journal.
func (j *Journal) all() []entry {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

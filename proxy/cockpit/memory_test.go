package cockpit_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/proxy/cockpit"
)

// event is an event of a stream.
type event struct {
	Runs     map[string][]cockpit.Slot
	Failures []cockpit.Minute
	Log      []struct {
		Count       int
		First, Last int64
		Lines       []map[string]string
		Names       []struct {
			Attribute string
			Values    []string
			More      bool
		}
	}
}

// eventAt returns the first event of a new cockpit with some options, at a time.
func eventAt(t *testing.T, o cockpit.Options, now time.Time) (e event) {
	t.Helper()
	o.Metrics, o.Now = prometheus.NewRegistry(), func() time.Time { return now }
	o.State = func(context.Context) any { return nil }
	if o.Runs == nil {
		o.Runs = &cockpit.Runs{}
	}
	c := cockpit.New(o)
	stream, err := c.Stream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	defer c.Close()
	for r := bufio.NewReader(stream); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			if err := json.Unmarshal([]byte("{"+data), &e); err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
}

// TestStateTakesLong: while one stream waits for the state, others begin and end, and Close does not wait for it.
func TestStateTakesLong(t *testing.T) {
	asked := make(chan bool, 1)
	c := cockpit.New(cockpit.Options{
		Metrics: prometheus.NewRegistry(), Runs: &cockpit.Runs{},
		State: func(ctx context.Context) any {
			select {
			case asked <- true:
			default: // a stream whose event is due when the cockpit closes may ask once more
			}
			<-ctx.Done()
			return nil
		},
	})
	var streams [2]io.ReadCloser
	texts := make(chan string, len(streams))
	for i := range streams {
		var err error
		if streams[i], err = c.Stream(); err != nil {
			t.Fatal(err)
		}
		go func() {
			text, _ := io.ReadAll(streams[i])
			texts <- string(text)
		}()
		if i == 0 {
			<-asked
		}
	}
	another, err := c.Stream()
	if err != nil {
		t.Fatal(err)
	}
	another.Close()
	c.Close()
	for range streams {
		if text := <-texts; !strings.HasSuffix(text, "event: end\ndata:\n\n") {
			t.Errorf("a stream ends with %q", text)
		}
	}
}

// TestRuns: the runs of a quarter of an hour are one slot with the worst outcome; a slot is forgotten after a day.
func TestRuns(t *testing.T) {
	runs, at := &cockpit.Runs{}, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for minute, outcome := range []string{"unchanged", "error", "published"} {
		runs.Record("activities", outcome, time.Second, 2, at.Add(time.Duration(minute)*time.Minute))
	}
	runs.Record("activities", "published", time.Second, 1, at.Add(time.Hour))
	first := cockpit.Slot{At: at.Unix(), Runs: 3, Worst: "error", Changed: 6, Seconds: 3}
	then := cockpit.Slot{At: at.Add(time.Hour).Unix(), Runs: 1, Worst: "published", Changed: 1, Seconds: 1}
	for later, want := range map[time.Duration][]cockpit.Slot{time.Hour: {first, then},
		24*time.Hour + time.Minute: {then}, 26 * time.Hour: {}} {
		got := eventAt(t, cockpit.Options{Runs: runs}, at.Add(later)).Runs["activities"]
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %v: %v, want %v", later, got, want)
		}
	}
	for i := range 400 {
		runs.Record("activities", "unchanged", 0, 0, at.Add(time.Duration(i)*slot))
	}
	if got := eventAt(t, cockpit.Options{Runs: runs}, at.Add(400*slot)).Runs["activities"]; len(got) > 97 {
		t.Errorf("%d slots", len(got))
	}
}

const slot = 15 * time.Minute

// TestFailures: failures are counted by minute, and forgotten after an hour.
func TestFailures(t *testing.T) {
	failures, at := &cockpit.Failures{}, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, second := range []time.Duration{0, 1, 59, 60, 1800} {
		failures.Record(at.Add(second * time.Second))
	}
	first := cockpit.Minute{At: at.Unix(), Count: 3}
	then := cockpit.Minute{At: at.Unix() + 60, Count: 1}
	last := cockpit.Minute{At: at.Unix() + 1800, Count: 1}
	for later, want := range map[time.Duration][]cockpit.Minute{30 * time.Minute: {first, then, last},
		time.Hour + time.Second: {then, last}, 2 * time.Hour: {}} {
		got := eventAt(t, cockpit.Options{Failures: failures}, at.Add(later)).Failures
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %v: %v, want %v", later, got, want)
		}
	}
	for i := range 200 {
		failures.Record(at.Add(time.Duration(i) * time.Minute))
	}
	if got := eventAt(t, cockpit.Options{Failures: failures}, at.Add(200*time.Minute)).Failures; len(got) > 61 {
		t.Errorf("%d minutes", len(got))
	}
}

// loggers returns a log with a journal, and what it writes besides.
func loggers(journal *cockpit.Journal) (*slog.Logger, *bytes.Buffer) {
	var out bytes.Buffer
	return slog.New(journal.Tee(slog.NewTextHandler(&out, nil))), &out
}

// TestJournal: the journal has warnings and errors alone, and cuts long values. The log is as without it.
func TestJournal(t *testing.T) {
	journal := &cockpit.Journal{}
	var out bytes.Buffer
	plain := slog.NewTextHandler(&out, nil)
	if _, lines := journal.Tee(plain).(io.Writer); lines {
		t.Error("the handler takes lines, though the log does not")
	}
	handler := journal.Tee(struct {
		slog.Handler
		io.Writer
	}{plain, &out})
	if _, lines := handler.(io.Writer); !lines {
		t.Error("the handler takes no lines")
	}
	log := slog.New(handler)
	log.Info("quiet")
	log.Warn("warned", "number", 11, "took", time.Second)
	log.Error("failed", "error", errors.New(strings.Repeat("x", 5000)))
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("the log has %d lines", n)
	}
	got := eventAt(t, cockpit.Options{Journal: journal}, time.Now()).Log
	if len(got) != 2 {
		t.Fatalf("%d entries", len(got))
	}
	if first := got[0].Lines[0]; first["number"] != "11" || first["level"] != "WARN" || first["took"] != "1s" ||
		first["time"] == "" {
		t.Errorf("first: %v", first)
	}
	if last := got[1].Lines[0]; last["msg"] != "failed" || last["level"] != "ERROR" || len(last["error"]) > 1010 {
		t.Errorf("last: %v", last)
	}
}

// TestJournalFolds: lines that repeat each other are one entry with their number, the times of the first and the
// last of them, and the last lines. What differs in words is another entry. A cause that repeats removes no other.
func TestJournalFolds(t *testing.T) {
	journal := &cockpit.Journal{}
	log, out := loggers(journal)
	log.Warn("view held", "view", "projects")
	refused := errors.New("dial tcp 127.0.0.1:1: connect: connection refused")
	for i := range 1000 {
		log.Error("request failed", "id", fmt.Sprintf("%016x", i), "path", fmt.Sprint("/portal/unit/", i),
			"status", 502, "took", time.Duration(i)*time.Millisecond, "error", refused)
	}
	log.Warn("view held", "view", "activities")
	log.Warn("request failed", "id", "0", "path", "/", "status", 502, "took", 0, "error", refused)
	log.Error("request failed", "id", "0", "path", "/", "status", 502, "took", 0, "error", errors.New("timeout"))
	log.Error("request failed", "id", "1", "path", "/last", "status", 502, "took", time.Second, "error", refused)
	if n := strings.Count(out.String(), "\n"); n != 1005 {
		t.Errorf("the log has %d lines", n)
	}
	var got []string
	all := eventAt(t, cockpit.Options{Journal: journal}, time.Now()).Log
	for _, e := range all {
		line := e.Lines[len(e.Lines)-1]
		got = append(got, fmt.Sprint(e.Count, " ", line["level"], " ", line["msg"], line["view"], len(e.Lines)))
		if e.First == 0 || e.Last < e.First {
			t.Errorf("first %d, last %d", e.First, e.Last)
		}
	}
	want := []string{"2 WARN view heldactivities2", "1 WARN request failed1", "1 ERROR request failed1",
		"1001 ERROR request failed5"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("entries: %q, want %q", got, want)
	}
	if lines := all[len(all)-1].Lines; lines[4]["path"] != "/last" || lines[0]["path"] != "/portal/unit/996" {
		t.Errorf("lines: %v", lines)
	}
	for _, n := range all[len(all)-1].Names {
		if len(n.Values) != 20 || !n.More {
			t.Errorf("%s: %q, more: %t", n.Attribute, n.Values, n.More)
		}
	}
	for i := range 60 {
		log.Warn("another " + strings.Repeat("x", i))
	}
	if got := eventAt(t, cockpit.Options{Journal: journal}, time.Now()).Log; len(got) != 50 {
		t.Errorf("%d entries", len(got))
	}
}

// TestJournalFoldsByWhatFails: one cause that all views have is one entry with the names of the views, even where the
// error names the view. Another cause is another entry.
func TestJournalFoldsByWhatFails(t *testing.T) {
	journal := &cockpit.Journal{}
	log, _ := loggers(journal)
	views := []string{"activities", "persons", "projects"}
	for _, name := range append(views, "persons") {
		log.Warn("view not refreshed", "view", name,
			"error", fmt.Errorf(`view %s: dial tcp 127.0.0.1:%d: refused (%[1]s, "%[1]s")`, name, len(name)))
	}
	log.Warn("view not refreshed", "view", "events", "error", errors.New("view events: timeout"))
	log.Warn("view not refreshed", "error", errors.New("view events: timeout"))
	log.Warn("setting ignored", "view", strings.Repeat("ü", 90))
	var got []string
	for _, e := range eventAt(t, cockpit.Options{Journal: journal}, time.Now()).Log {
		got = append(got, fmt.Sprint(e.Count, len(e.Lines), e.Names))
	}
	want := []string{"4 4 [{view [activities persons projects] false}]", "1 1 [{view [events] false}]", "1 1 []",
		"1 1 [{view [" + strings.Repeat("ü", 50) + "…] false}]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("entries: %q, want %q", got, want)
	}
}

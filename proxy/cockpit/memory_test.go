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
	Runs map[string][]cockpit.Slot
	Log  []map[string]string
}

// eventAt returns the first event of a new cockpit, at a time.
func eventAt(t *testing.T, runs *cockpit.Runs, journal *cockpit.Journal, now time.Time) (e event) {
	t.Helper()
	c := cockpit.New(cockpit.Options{
		Metrics: prometheus.NewRegistry(), Runs: runs, Journal: journal, Now: func() time.Time { return now },
		State: func(context.Context) any { return nil },
	})
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
		if got := eventAt(t, runs, nil, at.Add(later)).Runs["activities"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %v: %v, want %v", later, got, want)
		}
	}
	for i := range 400 {
		runs.Record("activities", "unchanged", 0, 0, at.Add(time.Duration(i)*slot))
	}
	if got := eventAt(t, runs, nil, at.Add(400*slot)).Runs["activities"]; len(got) > 97 {
		t.Errorf("%d slots", len(got))
	}
}

const slot = 15 * time.Minute

// TestJournal: the journal has warnings and errors alone, the last 50, and cuts long values. The log is as without
// it.
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
	for i := range 60 {
		log.Warn("warned", "number", i, "took", time.Second)
	}
	log.Error("failed", "error", errors.New(strings.Repeat("x", 5000)))
	if n := strings.Count(out.String(), "\n"); n != 62 {
		t.Errorf("the log has %d lines", n)
	}
	got := eventAt(t, &cockpit.Runs{}, journal, time.Now()).Log
	if len(got) != 50 {
		t.Fatalf("%d lines", len(got))
	}
	if first := got[0]; first["number"] != "11" || first["level"] != "WARN" || first["took"] != "1s" ||
		first["time"] == "" {
		t.Errorf("first: %v", first)
	}
	if last := got[49]; last["msg"] != "failed" || last["level"] != "ERROR" || len(last["error"]) > 1010 {
		t.Errorf("last: %v", last)
	}
}

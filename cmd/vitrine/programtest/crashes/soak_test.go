package crashes

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// soakEnv sets how long the soak takes; without it, some seconds.
const soakEnv = "VITRINE_TEST_SOAK"

// soakInstitute is large enough for its full list to be streamed.
var soakInstitute = stamped{activities: 300, live: true}

// TestSoak shows a front end's life in short: its sources change every few seconds and jobs refresh
// it all the time, while clients of all sorts send requests. No answer may be wrong, and no
// resource may grow.
func TestSoak(t *testing.T) {
	t.Parallel()
	length, every := 4*time.Second, 400*time.Millisecond
	if text := os.Getenv(soakEnv); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", soakEnv, err)
		}
		every = 3 * time.Second
	} else if testing.Short() {
		length = time.Second
	}
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.RunEnv, "soak") // the program with a writer beside it
	s := &programtest.Server{T: t, Cmd: programtest.Command(dir, dir)}
	pipe, err := s.Cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	rounds := json.NewEncoder(pipe)
	done, written := io.Pipe()
	s.Cmd.Stdout = written
	last := 1
	go func() { _ = rounds.Encode(soakInstitute.change(last)) }() // the process reads this after its start
	s.Start().Ready()

	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	traffic := newTraffic(t, s, soakInstitute)
	finished := traffic.start(ctx, 4)
	var usage []sample
	answers := bufio.NewScanner(done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil && !t.Failed() {
		select {
		case <-ctx.Done():
		case <-tick.C:
			last++
			if err := rounds.Encode(soakInstitute.change(last)); err != nil {
				t.Fatal(err)
			}
			if answers.Scan(); answers.Text() != "<nil>" {
				t.Errorf("writing round %d: %q", last, answers.Text())
			}
			usage = append(usage, usageOf(s))
		}
	}
	finished()
	traffic.report(last, length)
	steady(t, usage, length >= 5*time.Minute)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// sample is a process's use of resources at a moment.
type sample struct{ goroutines, descriptors, resident, heap float64 }

// usageOf reads the process's metrics, and the number of its descriptors from the system.
func usageOf(s *programtest.Server) sample {
	s.T.Helper()
	_, text := programtest.Fetch(s.T, http.MethodGet, s.Admin+"/metrics")
	metric := func(name string) float64 {
		found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(text)
		if found == nil {
			s.T.Fatalf("no metric %s", name)
		}
		value, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			s.T.Fatal(err)
		}
		return value
	}
	return sample{metric("go_goroutines"), metric("process_open_fds"), metric("process_resident_memory_bytes"),
		metric("go_memstats_heap_inuse_bytes")}
}

// steady compares the second quarter of samples with the last one. It compares memory only in a
// long run: a short one ends before caches are full.
func steady(t *testing.T, usage []sample, long bool) {
	t.Helper()
	if len(usage) < 4 {
		return // too few samples
	}
	for _, m := range []struct {
		name  string
		of    func(sample) float64
		slack float64
		held  bool
	}{
		{"goroutines", func(s sample) float64 { return s.goroutines }, 20, true},
		{"descriptors", func(s sample) float64 { return s.descriptors }, 20, true},
		{"resident bytes", func(s sample) float64 { return s.resident }, 32 << 20, long},
		{"heap bytes", func(s sample) float64 { return s.heap }, 32 << 20, long},
	} {
		var quarters [4]float64
		for i := range quarters {
			quarters[i] = median(usage[len(usage)*i/4:len(usage)*(i+1)/4], m.of)
		}
		t.Logf("%s by quarter: %.0f", m.name, quarters)
		before, after := quarters[1], quarters[3]
		if m.held && after > before*1.2+m.slack {
			t.Errorf("%s grow: %.0f, then %.0f", m.name, before, after)
		}
	}
}

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Package usage reads what a process has used: processor time, memory, and the garbage
// collector's pauses. A process reads its own and sends it to the measuring process.
package usage

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used since it began.
type Usage struct {
	CPU    time.Duration // on all processors, of the program and of the system for it
	Cycles uint64        // of the garbage collector
	Pauses Histogram     // of the program by the collector, in seconds
	GC     time.Duration // processor time of the collector, as the runtime estimates it
	Memory Memory
}

// Memory is in bytes. Figures of the operating system are 0 where it has none.
type Memory struct {
	Anonymous int64 `json:"anonymous"` // resident: heap, stacks and the like
	Resident  int64 `json:"resident"`  // the file pages of an embedded store included
	Peak      int64 `json:"peak"`      // the most that was ever resident
	Heap      int64 `json:"heap"`      // live objects and those not swept yet
}

// Histogram counts values by ranges: Counts[i] are from Buckets[i] to Buckets[i+1].
type Histogram struct {
	Counts  []uint64
	Buckets []float64
}

// Names of the runtime's figures.
const (
	metricPauses = "/sched/pauses/total/gc:seconds"
	metricCycles = "/gc/cycles/total:gc-cycles"
	metricGC     = "/cpu/classes/gc/total:cpu-seconds"
	metricHeap   = "/memory/classes/heap/objects:bytes"
)

// Read returns what this process has used so far.
func Read() Usage {
	samples := []metrics.Sample{{Name: metricPauses}, {Name: metricCycles}, {Name: metricGC}, {Name: metricHeap}}
	metrics.Read(samples)
	u := Usage{CPU: processorTime()}
	for _, s := range samples {
		switch s.Value.Kind() {
		case metrics.KindFloat64Histogram:
			h := s.Value.Float64Histogram()
			u.Pauses = Histogram{Counts: h.Counts, Buckets: h.Buckets}
		case metrics.KindFloat64:
			u.GC = time.Duration(s.Value.Float64() * float64(time.Second))
		case metrics.KindUint64:
			if s.Name == metricCycles {
				u.Cycles = s.Value.Uint64()
			} else {
				u.Memory.Heap = int64(s.Value.Uint64())
			}
		}
	}
	u.Memory.read(os.Getpid())
	return u
}

// read asks Linux about a process; elsewhere nothing is known.
func (m *Memory) read(pid int) {
	if runtime.GOOS != "linux" {
		return
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return
	}
	fields := map[string]*int64{"RssAnon": &m.Anonymous, "VmRSS": &m.Resident, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if into := fields[name]; into != nil {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			*into = kilobytes << 10
		}
	}
}

// Since returns what was used after an earlier reading. Memory is as it is now.
func (u Usage) Since(before Usage) Usage {
	u.CPU -= before.CPU
	u.GC -= before.GC
	u.Cycles -= before.Cycles
	u.Pauses = u.Pauses.minus(before.Pauses)
	return u
}

package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"

	"vitrine/configs"
)

// tuneMemory tells the garbage collector what memory there is. Go's own variables,
// where they are set, have the last word.
func tuneMemory(cfg configs.Memory) {
	if cfg.Garbage > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(cfg.Garbage)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := int64(cfg.Limit)
	if limit == 0 {
		// A tenth is left for what is not the collector's: stacks of C, page tables, sockets.
		limit = containerLimit() / 10 * 9
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// mostGarbage is what may gather between two runs of the collector, however much is
// held: with much, runs are rare, and a share of it would be more than they are worth.
const mostGarbage = 2 << 30

// collector keeps the collector's percentage below what comes to mostGarbage.
type collector struct {
	percent int // memory.garbage; 0 or less leaves everything as it is
	mu      sync.Mutex
	set     int // what is set now; 0: percent
}

// newCollector is for what tuneMemory told the collector.
func newCollector(cfg configs.Memory) *collector {
	if os.Getenv("GOGC") != "" {
		return &collector{}
	}
	return &collector{percent: cfg.Garbage}
}

// adjust takes into account what is held now.
func (c *collector) adjust() {
	if c.percent <= 0 {
		return
	}
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(held)
	c.mu.Lock()
	defer c.mu.Unlock()
	if percent := percentOf(c.percent, held[0].Value.Uint64()); percent != c.set {
		debug.SetGCPercent(percent)
		c.set = percent
	}
}

// percentOf is a percentage of the bytes held, lowered to what comes to mostGarbage.
func percentOf(percent int, held uint64) int {
	return int(min(uint64(percent), max(1, mostGarbage*100/max(held, 1))))
}

// inFlight is memory.in_flight, and never more than an eighth of the memory there is: as
// much as the collector was told, or the machine's.
func inFlight(configured int64) int64 {
	there := debug.SetMemoryLimit(-1) // tells, and sets nothing
	if there == math.MaxInt64 {
		text, _ := os.ReadFile("/proc/meminfo") // where there is none, the configured figure counts
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(text), "MemTotal: %d kB", &kilobytes); n == 1 {
			there = kilobytes << 10
		}
	}
	return min(configured, there/8)
}

// containerLimit is what the container may use of memory, as it sees it itself; 0 if
// there is no limit, or no container.
func containerLimit() int64 {
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The older of the two says "no limit" by a number that no machine has.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < 1<<60 {
			return limit
		}
	}
	return 0
}

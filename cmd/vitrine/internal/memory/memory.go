// Package memory adjusts Go's garbage collector to the memory that there is.
package memory

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
)

// Tune sets the collector's percentage, unless it is 0, and its limit in bytes; a limit of
// 0 is that of the container. Go's own variables, where they are set, come first.
func Tune(percent int, limit int64) {
	if percent > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit == 0 {
		// A tenth is left for memory that the collector does not see: stacks of C, page tables, sockets.
		limit = containerLimit() / 10 * 9
	}
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// mostGarbage bounds the garbage between two runs of the collector, however much memory
// is live: with much of it runs are rare, and a share would be more than they cost.
const mostGarbage = 2 << 30

// Collector lowers the collector's percentage where it would exceed mostGarbage. It is
// safe for concurrent use.
type Collector struct {
	percent int // 0 or less: Adjust does nothing
	mu      sync.Mutex
	set     int // the current percentage; 0: percent
}

// NewCollector returns a collector for a percentage given to Tune.
func NewCollector(percent int) *Collector {
	if os.Getenv("GOGC") != "" {
		return &Collector{}
	}
	return &Collector{percent: percent}
}

// Adjust sets the percentage for the memory that is live now.
func (c *Collector) Adjust() {
	if c.percent <= 0 {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	c.mu.Lock()
	defer c.mu.Unlock()
	if percent := percentOf(c.percent, live[0].Value.Uint64()); percent != c.set {
		debug.SetGCPercent(percent)
		c.set = percent
	}
}

// percentOf is a percentage of the live bytes, lowered to mostGarbage.
func percentOf(percent int, live uint64) int {
	return int(min(uint64(percent), max(1, mostGarbage*100/max(live, 1))))
}

// AtMostEighth returns a number of bytes, lowered to an eighth of the memory limit or, if
// there is none, of the machine's memory.
func AtMostEighth(bytes int64) int64 {
	total := debug.SetMemoryLimit(-1) // reads the limit
	if total == math.MaxInt64 {
		text, _ := os.ReadFile("/proc/meminfo") // without it bytes stays as it is
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(text), "MemTotal: %d kB", &kilobytes); n == 1 {
			total = kilobytes << 10
		}
	}
	return min(bytes, total/8)
}

// containerLimit is the memory limit of the container; 0 if there is none.
func containerLimit() int64 {
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The older of the two writes "no limit" as a number that no machine has.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < 1<<60 {
			return limit
		}
	}
	return 0
}

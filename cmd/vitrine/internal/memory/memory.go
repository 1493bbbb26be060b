// Package memory adjusts Go's garbage collector to the memory that there is.
package memory

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/pbnjay/memory"
)

// Tune sets the collector's percentage, unless it is 0, and its limit in bytes; a limit of
// 0 is that of the container or service. Go's own variables, where they are set, come first.
func Tune(percent int, limit int64) {
	if percent > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if contained, err := memlimit.FromCgroup(); limit == 0 && err == nil {
		// A tenth is left for memory that the collector does not see: stacks of C, page tables, sockets.
		limit = int64(min(contained, math.MaxInt64) / 10 * 9)
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
		total = int64(memory.TotalMemory())
	}
	if total == 0 { // it is not known here
		return bytes
	}
	return min(bytes, total/8)
}

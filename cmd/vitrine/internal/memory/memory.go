// Package memory sets what the process may use of the memory that it has: the pace of Go's collector, and the share
// of bounded parts.
package memory

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"vitrine/cache/view/mapped"
)

// The growth of the process's own memory, in percent, after which Go's collector runs. A start leaves much garbage,
// and little of its memory is needed later.
//
// 100 is Go's own default. A smaller figure costs processor time and saves memory: while views are loaded, the peak
// is what a container must have room for, and no request waits.
const StartGrowth, ServingGrowth = 35, 100

// Limit makes Go's collector keep to nine tenths of the memory limit of the container or service, if there is
// one. GOMEMLIMIT takes precedence if it is set. The tenth that is left is for what Go's limit does not count.
func Limit() {
	_, _ = memlimit.Set() // fails if there is no limit
	Pace(StartGrowth)
}

// Pace makes Go's collector run when memory has grown by some percent. GOGC takes precedence if it is set.
func Pace(growth int) {
	if os.Getenv("GOGC") == "" {
		mapped.Pace(growth)
	}
}

// Share returns an eighth of the memory in bytes: of the process's limit or of the machine. If it is unknown,
// 128 MiB. The bytes of answers in flight and those of indexes are bounded by it, so that neither has to be
// configured.
func Share() int64 {
	limit := uint64(debug.SetMemoryLimit(-1)) // reads the limit without changing it
	if limit == math.MaxInt64 {
		limit, _ = memlimit.FromSystem()
	}
	if limit == 0 { // unknown on this system
		return 128 << 20
	}
	return int64(limit / 8)
}

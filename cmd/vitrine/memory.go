package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// limitMemory makes Go's collector keep to nine tenths of the memory limit of the container or service, if there is
// one, and run when memory has grown by half. GOMEMLIMIT and GOGC take precedence if they are set.
func limitMemory() {
	_, _ = memlimit.Set() // fails if there is no limit
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// memoryShare returns an eighth of the memory in bytes: of the process's limit or of the machine. If it is unknown, 128 MiB.
func memoryShare() int64 {
	limit := uint64(debug.SetMemoryLimit(-1)) // reads the limit without changing it
	if limit == math.MaxInt64 {
		limit, _ = memlimit.FromSystem()
	}
	if limit == 0 { // unknown on this system
		return 128 << 20
	}
	return int64(limit / 8)
}

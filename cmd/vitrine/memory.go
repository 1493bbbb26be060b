package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// limitMemory makes Go's collector keep to nine tenths of the memory of the container or
// service, if that is limited, and run when memory has grown by half. GOMEMLIMIT and GOGC
// come first where they are set.
func limitMemory() {
	_, _ = memlimit.Set() // fails where no limit is known
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// inFlight returns how many bytes answers may take while they are made or sent: 128 MiB, and an
// eighth of the memory at most.
func inFlight() int64 {
	limit := uint64(debug.SetMemoryLimit(-1)) // reads the limit
	if limit == math.MaxInt64 {
		limit, _ = memlimit.FromSystem()
	}
	if limit == 0 { // unknown on this system
		return 128 << 20
	}
	return int64(min(128<<20, limit/8))
}

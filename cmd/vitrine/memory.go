package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

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

package process

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"vitrine/cmd/vitrine/internal/bench/report"
)

// memoryOf asks Linux for a process's memory; elsewhere it returns zeros.
func memoryOf(pid int) (m report.Held) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m
	}
	fields := map[string]*int64{"RssAnon": &m.Anonymous, "VmRSS": &m.Resident, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if into := fields[name]; into != nil {
			if _, err := fmt.Sscanf(value, "%d kB", into); err == nil {
				*into <<= 10
			}
		}
	}
	return m
}

// watchEvery is the interval between two readings of a process.
const watchEvery = 20 * time.Millisecond

// Watch follows the memory of a process until end is called, which returns the most
// anonymous memory it has seen, in bytes. The system itself remembers only the most that
// was resident. end may be called again.
func Watch(pid int) (end func() int64) {
	stop, most := make(chan None), make(chan int64)
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		seen := memoryOf(pid).Anonymous
		for {
			select {
			case <-stop:
				most <- max(seen, memoryOf(pid).Anonymous)
				return
			case <-tick.C:
				seen = max(seen, memoryOf(pid).Anonymous)
			}
		}
	}()
	return sync.OnceValue(func() int64 {
		close(stop)
		return <-most
	})
}

package process

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"time"

	"vitrine/cmd/vitrine/internal/bench/report"
)

// Usage is what a process has used since it began.
type Usage struct {
	CPU    time.Duration   // on all processors, of the program and of the system for it
	GC     time.Duration   // processor time of the garbage collector, as the runtime estimates it
	Cycles int64           // of the garbage collector
	Pauses []time.Duration // of the last 256 cycles, the latest first
	Memory report.Held
}

// endpoint has the methods that both services offer.
type endpoint struct{ addr string }

// Address replies HOST:PORT.
func (e endpoint) Address(_ None, reply *string) error {
	*reply = e.addr
	return nil
}

// Usage replies what the process has used. If collect is true, it frees garbage first and
// returns it to the system, so that Memory is what the process needs.
func (endpoint) Usage(collect bool, reply *Usage) error {
	if collect {
		debug.FreeOSMemory()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	*reply = Usage{
		CPU: processorTime(), GC: time.Duration(samples[0].Value.Float64() * float64(time.Second)),
		Cycles: gc.NumGC, Pauses: gc.Pause, Memory: memoryOf(os.Getpid()),
	}
	reply.Memory.Heap = int64(samples[1].Value.Uint64())
	return nil
}

// memoryOf asks Linux for a process's memory without its heap; elsewhere it returns zeros.
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

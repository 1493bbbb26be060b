package mapped

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

var (
	total   atomic.Int64 // bytes that are mapped
	percent atomic.Int64 // of Pace
)

// Pace makes the collector run when the process's own memory has grown by some percent. The collector counts mapped
// files as heap, so after each collection Pace computes anew which percentage of both that is.
func Pace(growth int) {
	if percent.Swap(int64(growth)) == 0 {
		afterCollections(pace)
	}
	pace()
}

// pacing guards the collector's percentage.
var pacing sync.Mutex

func pace() {
	pacing.Lock()
	defer pacing.Unlock()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	all := max(int64(live[0].Value.Uint64()), 1)
	own := max(all-total.Load(), all/32) // files may have been mapped since the collection
	debug.SetGCPercent(int(max(percent.Load()*own/all, 1)))
}

// afterCollections calls a function after each collection from now on.
func afterCollections(call func()) {
	runtime.SetFinalizer(new([2]*byte), func(*[2]*byte) { // not a tiny object, which may never be freed
		call()
		afterCollections(call)
	})
}

package fair

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Work in the background must not delay requests. runtime.Gosched is not enough when all processors are in use: the
// system lets a thread that never sleeps finish its time slice, and Go then looks for new requests only every ten
// milliseconds. So such work sleeps after every stretch.
const (
	stretch = 2 * time.Millisecond
	nap     = 100 * time.Microsecond // the system's timers may extend it to a millisecond
)

// Spare is how many processors such work may use: all but one, if there are several.
func Spare() int { return max(runtime.GOMAXPROCS(0)-1, 1) }

// Rest returns a function that work without a turn calls every millisecond. It sleeps if no goroutine has slept in it
// for a while.
func Rest() func() {
	began := time.Now()
	var last atomic.Int64 // when a goroutine last slept, after began
	return func() {
		now, before := int64(time.Since(began)), last.Load()
		if now-before >= int64(stretch) && last.CompareAndSwap(before, now) {
			time.Sleep(nap)
			last.Store(int64(time.Since(began)))
		}
	}
}

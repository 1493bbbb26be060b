package usage

import (
	"sync"
	"time"
)

// watchEvery is the interval between two readings of a process.
const watchEvery = 20 * time.Millisecond

// Watch follows a process's memory: the system remembers the most that was resident,
// but not how much of that was the process's own.
type Watch struct {
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
	most int64
}

// NewWatch follows a process until End is called.
func NewWatch(pid int) *Watch {
	w := &Watch{stop: make(chan struct{})}
	w.done.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			var m Memory
			m.read(pid)
			w.most = max(w.most, m.Anonymous)
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
		}
	})
	return w
}

// End returns the most anonymous memory that the process was seen with. It may be
// called again.
func (w *Watch) End() int64 {
	w.once.Do(func() { close(w.stop) })
	w.done.Wait()
	return w.most
}

// Package parallel runs parts of one task on several goroutines. A panic in one of them
// continues in the goroutine that waits for them, where the task's own recover sees it.
// Otherwise it would end the process.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Group is a sync.WaitGroup whose Wait repeats panics. The zero Group is ready for use.
type Group struct {
	wg       sync.WaitGroup
	panicked atomic.Pointer[string]
}

// Go calls part in a new goroutine.
func (g *Group) Go(part func()) {
	g.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				text := fmt.Sprintf("%v\n%s", r, debug.Stack())
				g.panicked.CompareAndSwap(nil, &text)
			}
		}()
		part()
	})
}

// Wait waits for all parts. If one has panicked, Wait panics with the first panic's value
// and stack as text.
func (g *Group) Wait() {
	g.wg.Wait()
	if text := g.panicked.Load(); text != nil {
		panic(*text)
	}
}

// Split divides [0, n) into a stretch for each of some workers, and runs work for all of
// them on goroutines of their own, or for a single one on the caller's. It waits for them.
func Split(n, workers int, work func(worker, from, to int)) {
	if workers <= 1 {
		work(0, 0, n)
		return
	}
	var g Group
	for w := range workers {
		g.Go(func() { work(w, n*w/workers, n*(w+1)/workers) })
	}
	g.Wait()
}
